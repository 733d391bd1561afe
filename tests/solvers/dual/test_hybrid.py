"""The hybrid: how much of the work may go to a handful of variables."""

import numpy as np
import pytest
from problems import csr

from hingeline import Hinge, solve
from hingeline.kernels.schedule import Preferences
from hingeline.solvers.driver import Run
from hingeline.solvers.dual import active_sweep, hybrid
from hingeline.solvers.dual.active_sweep import LARGEST_P_MAX, Seen, with_adjusted_p_max


@pytest.mark.parametrize(
    ("p_max", "share", "next_p_max"),
    [
        (20.0, 0.6, 40.0),
        (LARGEST_P_MAX, 0.9, LARGEST_P_MAX),
        (80.0, 0.4, 80.0),
        (80.0, 0.1, 40.0),
        (20.0, 0.0, 20.0),
    ],
)
def test_p_max_follows_the_gain_of_the_variables_at_it(p_max, share, next_p_max):
    seen = Seen(gain=2.0, gain_at_p_max=2.0 * share)
    assert with_adjusted_p_max(Preferences(p_max=p_max), 20.0, seen) == Preferences(p_max=next_p_max)


def test_a_sweep_without_gain_leaves_p_max_alone():
    assert with_adjusted_p_max(Preferences(), 20.0, Seen()).p_max == 20.0


def contradictory(n=1500, d=3000, pairs=1, seed=0):
    """Return easy rows of length one, and two that say the same with the other label: all depends on these."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, d)) * (rng.random((n, d)) < 0.005)
    X[1 : 2 * pairs : 2] = X[0 : 2 * pairs : 2]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(X @ rng.normal(size=d) > 0.0, 1.0, -1.0)
    y[1 : 2 * pairs : 2] = -y[0 : 2 * pairs : 2]
    return csr(X), y


def test_contradictory_rows_take_fewer_steps_if_they_may_be_visited_more(monkeypatch):
    X, y = contradictory()
    ours = solve(X, y, Hinge(1000.0), solver="hybrid", gap_tol=1e-3, random_state=0)
    monkeypatch.setattr(active_sweep, "LARGEST_P_MAX", 20.0)
    held_back = solve(X, y, Hinge(1000.0), solver="hybrid", gap_tol=1e-3, random_state=0)
    assert ours.converged
    assert ours.certificate.primal == pytest.approx(held_back.certificate.primal, rel=2e-3)
    assert ours.n_steps < 0.8 * held_back.n_steps


def test_no_variable_is_left_out_for_long(monkeypatch):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 60))
    y = np.where(X[:, 0] + rng.normal(size=400) > 0.0, 1.0, -1.0)
    sweeps, seen = [], Run.sweep

    def sweep(self, steps, *args, complete, **kwargs):
        sweeps.append((steps, complete))
        return seen(self, steps, *args, complete=complete, **kwargs)

    monkeypatch.setattr(Run, "sweep", sweep)
    solve(X, y, Hinge(100.0), solver="hybrid", gap_tol=1e-9, max_iter=2000, random_state=0, finish=False)
    total, unseen, most = 0, 0, 0
    for steps, complete in sweeps:
        assert unseen <= max(hybrid.OVERDUE * total, hybrid.OVERDUE_SWEEPS * 400) + most
        total, unseen, most = total + steps, 0 if complete else unseen + steps, max(most, steps)
    assert sum(complete for _, complete in sweeps) >= 5
    assert not all(complete for _, complete in sweeps)
