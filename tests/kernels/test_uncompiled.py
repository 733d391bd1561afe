"""The same source, uncompiled: what a debugger or a coverage tool sees gives the same results."""

import json
import os
import runpy
import sys
from pathlib import Path

import numpy as np
import processes
import pytest

SCRIPT = Path(__file__).with_name("uncompiled.py")


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="unsigned indices turn into floats there")
def test_uncompiled_kernels_give_the_same_results():
    compiled = runpy.run_path(str(SCRIPT))["results"]()
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = processes.run([sys.executable, "-W", "error", SCRIPT], env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    uncompiled = json.loads(done.stdout)
    assert uncompiled.keys() == compiled.keys()
    for name, values in compiled.items():
        np.testing.assert_allclose(uncompiled[name], values, rtol=0, atol=1e-9, err_msg=name)
