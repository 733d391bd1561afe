"""Memory and threads over many fits. ``benchmarks/resident_memory.py`` is the same with thousands."""

import sys
from pathlib import Path

import processes
import pytest
from fault_rows import row

SCRIPT = Path(__file__).with_name("small_fits.py")


@row("process-memory")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="resident memory is read from /proc")
def test_resident_memory_stays():
    for _ in range(2):  # if a kernel had to be compiled after the warm-up, the second process finds it on disk
        done = processes.run([sys.executable, SCRIPT, "300", "210"], timeout=300)
        assert done.returncode == 0, done.stderr[-2000:]
        before, after, threads = map(int, done.stdout.split())
        assert threads <= 2
        if after < 1.02 * before:
            return
    pytest.fail(f"resident memory has grown from {before} to {after} bytes")
