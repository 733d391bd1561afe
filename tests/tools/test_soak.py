"""The soak finds what is wrong, says how to see it again, and counts what it has tried."""

import signal
import sys

import numpy as np
import pytest
from float_lattice import are_beyond_float64
from problems import classification
from processes import run
from random_cases import Case, draw

import soak
from hingeline import LinearSVC
from source_hash import ROOT

X, Y = classification(30, 4)


def case(**parameters):
    model = LinearSVC(loss="hinge", random_state=0, **parameters)
    return Case(7, model, X, Y, None, kind="normal")


def test_nothing_is_wrong():
    found, outcome, seconds = soak.try_case(case())
    assert found == []
    assert outcome == soak.GOOD
    assert seconds > 0.0


def test_a_lie_is_found(monkeypatch):
    original = LinearSVC.fit

    def fit(self, *args, **how):
        original(self, *args, **how).objective_ *= 2.0
        return self

    monkeypatch.setattr(LinearSVC, "fit", fit)
    found, _, _ = soak.try_case(case())
    assert any("objective_" in text for text in found)


def test_a_gap_that_is_not_good_is_counted(monkeypatch):
    original = LinearSVC.fit

    def fit(self, *args, **how):
        original(self, *args, **how)
        self.converged_, self.stop_reason_, self.duality_gap_ = False, "stalled", 0.5
        return self

    monkeypatch.setattr(LinearSVC, "fit", fit)
    found, outcome, _ = soak.try_case(case())
    assert outcome == soak.OPEN
    assert "not converged, and no warning" in found


def test_beyond_float64_is_what_is_proven():
    """Seed 5026112: thirteen time stamps, a quantile. No weights of float64 near the optimum are good enough."""
    assert soak.try_case(draw(5026112))[:2] == ([], soak.BEYOND)
    assert not are_beyond_float64([])  # nothing was solved in decimals


@pytest.fixture
def ctrl_c():
    """Let Ctrl-C raise, whatever the shell that started the tests has made of it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_leaves_no_model_and_is_no_failure():
    endless = case(C=1e4, tol=1e-12, solver="avsf", max_time=1.0)
    endless.X, endless.y = np.random.default_rng(0).normal(size=(2000, 30)), np.resize([-1, 1], 2000)
    endless.model.fit(X, Y)  # compiles
    endless.interrupt_after = 0.05
    assert soak.try_case(endless) == ([], soak.GOOD, 0.0)


@pytest.mark.parametrize("number", [3])
def test_a_problem_can_be_tried_again(number):
    done = run([sys.executable, ROOT / "tools/soak.py", "--only", number])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"seed {number}: ")
    assert "nothing to complain about" in done.stdout


def test_it_ends_after_so_many_problems():
    done = run([sys.executable, ROOT / "tools/soak.py", "--problems", 3, "--processes", 1, "--seed", 20])
    assert "3 problems in" in done.stdout, done.stderr
    assert "failures: 0" in done.stdout
