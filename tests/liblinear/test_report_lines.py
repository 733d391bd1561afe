"""The lines that LIBLINEAR prints about each problem, against LIBLINEAR itself."""

import re

import numpy as np
import pytest
from svmlight_files import CLASSIFIERS, REGRESSIONS, liblinear, make_rows

from hingeline.io.models.solver_types import SOLVER_TYPES
from hingeline.liblinear.fit import fit
from hingeline.liblinear.report_lines import report_lines
from hingeline.liblinear.settings import Settings

NEWTON = {0, 2, 11}  # LIBLINEAR prints its steps
CASES = [*((number, "many") for number in CLASSIFIERS), *((number, "targets") for number in REGRESSIONS), (21, "signs")]


@pytest.mark.parametrize(("number", "kind"), CASES)
def test_the_same_lines_as_liblinear(number, kind, capfd):
    peer = liblinear()
    X, y = make_rows(kind)
    if number == 21:
        X.data = np.abs(X.data)  # away from the origin
    peer.train(y.astype(float), X, f"-s {number} -e 1e-7 -c 0.1 -B {-1 if number == 21 else 1}")
    libc_flush()
    theirs = [line for line in capfd.readouterr().out.splitlines() if " = " in line]
    settings = Settings(type=number, C=0.1, bias=-1.0 if number == 21 else 1.0, tolerance=1e-7)
    ours = [line for line in report_lines(fit(X, y, settings)) if " = " in line]
    if number in NEWTON:
        assert not theirs
        assert {line.partition(" = ")[0] for line in ours} == {"optimization finished, #iter", "Objective value"}
        return
    assert [line.partition(" = ")[0] for line in ours] == [line.partition(" = ")[0] for line in theirs]
    for mine, yours in zip(ours, theirs, strict=True):
        if mine.startswith(("Objective", "rho")):
            assert value(mine) == pytest.approx(value(yours), rel=2e-3)
        elif mine.startswith(("nSV", "#nonzeros")):  # a variable may be zero, or nearly so
            assert value(mine) == pytest.approx(value(yours), rel=0.2, abs=2)


def value(line):
    return float(re.search(r" = (-?[\d.]+)", line)[1])


def libc_flush():
    """Write what C's library has buffered."""
    import ctypes

    ctypes.CDLL(None).fflush(None)


def test_every_type_has_lines():
    assert {number for number, _ in CASES} == set(SOLVER_TYPES)
