"""Where problems start from: in memory, and in a file that belongs to one problem."""

from dataclasses import replace

import numpy as np
import pytest
from svmlight_files import make_rows

from hingeline.liblinear import starts
from hingeline.liblinear.settings import Settings
from hingeline.liblinear.starts import Checkpoint, Starts, fingerprint

X, Y = make_rows("signs")


def test_what_was_kept_is_where_the_next_run_starts():
    memory = Starts()
    assert memory.start(0) is None
    memory.keep(0, np.ones(3))
    memory.keep(0, np.zeros(3))
    assert memory.start(0).tolist() == [0.0, 0.0, 0.0]
    assert memory.start(1) is None
    assert memory.slice() == np.inf  # nothing interrupts training


def test_a_checkpoint_is_read_by_the_next_one(tmp_path):
    problem = fingerprint(X, Y, Settings(type=3))
    first = Checkpoint(tmp_path / "state", problem)
    alpha = np.random.default_rng(0).random(80)
    first.keep(2, alpha)
    assert not (tmp_path / "state").exists()  # it was saved a moment ago, so to say
    first.save()
    again = Checkpoint(tmp_path / "state", problem)
    np.testing.assert_array_equal(again.start(2), alpha)
    assert again.start(0) is None


def test_a_checkpoint_is_saved_now_and_then_and_less_often_later(tmp_path, monkeypatch):
    monkeypatch.setattr(starts, "FIRST_SLICE", 0.0)
    state = Checkpoint(tmp_path / "state", fingerprint(X, Y, Settings()))
    state.keep(0, np.zeros(80))
    assert (tmp_path / "state").exists()
    monkeypatch.setattr(starts, "FIRST_SLICE", 1.0)
    state = Checkpoint(tmp_path / "other", fingerprint(X, Y, Settings()))
    monkeypatch.setattr(state, "_saved", -1e9)
    state.keep(0, np.zeros(80))
    assert state.slice() == starts.GROWTH


def test_a_checkpoint_of_another_problem_says_what_differs(tmp_path):
    Checkpoint(tmp_path / "state", fingerprint(X, Y, Settings(type=3))).save()
    with pytest.raises(ValueError, match=r"another problem \(differs in C, bias\)"):
        Checkpoint(tmp_path / "state", fingerprint(X, Y, Settings(type=3, C=2.0, bias=1.0)))


@pytest.mark.parametrize("wrong", [np.full(80, np.nan), np.zeros(79), np.zeros(80, dtype=np.float32)])
def test_variables_that_do_not_fit_are_damage(tmp_path, wrong):
    problem = fingerprint(X, Y, Settings(type=3))
    state = Checkpoint(tmp_path / "state", problem)
    state.keep(0, wrong)
    state.save()
    with pytest.raises(ValueError, match="is damaged"):
        Checkpoint(tmp_path / "state", problem)


@pytest.mark.parametrize("solver_type", [5, 6])
def test_the_variables_of_the_l1_norm_are_weights(tmp_path, solver_type):
    problem = fingerprint(X, Y, Settings(type=solver_type))
    state = Checkpoint(tmp_path / "state", problem)
    state.keep(0, np.zeros(13))
    state.save()
    assert Checkpoint(tmp_path / "state", problem).start(0).shape == (13,)


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
