"""What identifies a training, and the shape of its variables."""

from dataclasses import replace

import numpy as np
import pytest
from svmlight_files import make_rows

from hingeline.liblinear.settings import Settings
from hingeline.liblinear.starts import fingerprint, open_checkpoint

X, Y = make_rows("signs")


@pytest.mark.parametrize(
    ("solver_type", "shape"), [(3, (80,)), (4, (80, 2)), (5, (13,)), (6, (13,)), (11, (80,)), (21, (80,))]
)
def test_what_is_saved(tmp_path, solver_type, shape):
    """Weights with an L1 penalty, since they are its variables; else dual variables."""
    state = open_checkpoint(tmp_path / "state", X, Y, Settings(type=solver_type))
    assert state.shape == shape
    state.keep(0, np.zeros(shape))
    state.save()
    assert open_checkpoint(tmp_path / "state", X, Y, Settings(type=solver_type)).start(0).shape == shape


def test_a_checkpoint_of_another_problem_says_what_differs(tmp_path):
    open_checkpoint(tmp_path / "state", X, Y, Settings(type=3)).save()
    with pytest.raises(ValueError, match=r"another problem \(differs in C, bias\)"):
        open_checkpoint(tmp_path / "state", X, Y, Settings(type=3, C=2.0, bias=1.0))


def test_a_fingerprint_tells_problems_apart_and_not_ways_to_solve_them():
    settings = Settings(type=3, weights=((1, 2.0),))
    own = fingerprint(X, Y, settings)
    for same in (
        {"threads": 4},
        {"seed": 3},
        {"solver": "avsf"},
        {"tolerance": 1e-9},
        {"gap": 1e-3},
        {"max_time": 1.0},
    ):
        assert fingerprint(X, Y, replace(settings, **same)) == own
    for other in ({"type": 1}, {"C": 2.0}, {"p": 1.0}, {"nu": 0.1}, {"bias": 1.0}, {"weights": ()}):
        assert fingerprint(X, Y, replace(settings, **other)) != own
    for part in ("data", "indices"):
        Z = X.copy()
        getattr(Z, part)[-1] += 1
        assert fingerprint(Z, Y, settings) != own
    assert fingerprint(X, -Y, settings) != own
