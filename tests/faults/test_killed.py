"""Processes that are killed lose what they did since the last save, and nothing else."""

import json
import os
import sys
from pathlib import Path

import processes
import pytest
from fault_rows import row

SCRIPT = Path(__file__).with_name("killed.py")
KILLS_OF_EACH = 5


@row("kill-train", "kill-fit", "kill-search")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked there")
def test_kill_9():
    """Fifty kills of real processes; all cases in one, since importing takes longer than dying."""
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # a fork takes no threads along
    done = processes.run([sys.executable, SCRIPT, KILLS_OF_EACH], timeout=300, env=alone)
    assert done.returncode == 0, done.stderr[-3000:]
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert sum(report["kills"] for report in found) == 50
    assert sum(report["went on"] for report in found) >= 5  # of those that had something to go on from
    for report in found:
        assert report["worst"] <= 1.01e-5, report  # all are within the gap that was asked for
