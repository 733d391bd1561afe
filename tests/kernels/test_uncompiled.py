"""The same source, uncompiled: what a debugger or a coverage tool sees gives the same results."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

SCRIPT = Path(__file__).with_name("uncompiled.py")


def results(disable_jit):
    """Return what the script prints in a process of its own, warnings being errors."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": disable_jit}
    command = [sys.executable, "-W", "error", SCRIPT]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_uncompiled_kernels_give_the_same_results():
    compiled, uncompiled = results("0"), results("1")
    assert uncompiled.keys() == compiled.keys()
    for name, values in compiled.items():
        np.testing.assert_allclose(uncompiled[name], values, rtol=0, atol=1e-9, err_msg=name)
