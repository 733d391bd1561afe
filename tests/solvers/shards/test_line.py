"""The search along a line: where its slopes differ by orders of magnitude, too."""

import numpy as np
import pytest
from scipy.special import expit

from hingeline.kernels.losses import Hinge, Logistic
from hingeline.solvers.shards.kernels import Vectors, derivatives
from hingeline.solvers.shards.line import (
    LADDER,
    MOST_EVALUATIONS,
    Line,
    beginning,
    search,
    search_at_once,
    step_found,
)


def vectors_along(m, t, abar):
    """Return what the search looks at: margins m and their change t."""
    n = m.size
    nothing = np.zeros(n)
    return tuple(Vectors(np.ones(n), np.ones(n, dtype=np.float32), m, t, abar, nothing, nothing))


def slope_of_logistic(m, t, tau):
    """Return the derivative in tau of tau^2/2 + sum log(1 + exp(-(m + tau t)))."""
    return tau - np.sum(t * expit(-(m + tau * t)))


@pytest.mark.parametrize("far", [1e2, 1e5, 1e8, 1e11])
def test_the_minimum_is_found_where_slopes_differ_by_orders_of_magnitude(far):
    """Up to tau = 0.3 many rows pull gently; from there on a few push back hard, and then nothing bends any more."""
    rng = np.random.default_rng(0)
    t = np.concatenate([rng.uniform(0.5, 1.5, 400), -far * rng.uniform(0.5, 1.5, 5)])
    m = np.concatenate([np.full(400, -50.0), 0.3 * far * rng.uniform(0.5, 1.5, 5)])
    slope = slope_of_logistic(m, t, 0.0)
    along, line = (Logistic(1.0), vectors_along(-m, t, np.zeros(405)), 0.0, 1.0), Line(slope, 0.0, 1.0, 0.1)

    def ask(taus):
        out = np.zeros((taus.size, 2))
        derivatives(*along, taus, out, 0, 405)
        return out

    at_once = step_found(search_at_once(*along, line, MOST_EVALUATIONS, beginning(slope)))
    by_one, by_ladder = (search(ask, line, taus, ask(taus)) for taus in (LADDER[:1], LADDER))
    for tau in (at_once, by_one, by_ladder):
        assert slope_of_logistic(m, t, tau) <= 0.1 * abs(slope)
        assert slope_of_logistic(m, t, tau + 1e-4) >= -0.1 * abs(slope)


@pytest.mark.parametrize("n_taus", [1, 4])
def test_searches_agree_on_a_piecewise_linear_slope(n_taus):
    """The hinge, smoothed: asking for some steps at a time ends where one compiled search does."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        m, t = rng.normal(size=30), rng.normal(size=30) * 10.0 ** rng.uniform(-2, 2)
        along = (Hinge(1.0), vectors_along(m, t, np.full(30, 0.5)), 0.05, 10.0)

        def ask(taus, along=along):
            out = np.zeros((taus.size, 2))
            derivatives(*along, taus, out, 0, 30)
            return out

        wp, pp = rng.normal(), rng.uniform(0.1, 2.0)
        slope = wp + ask(np.zeros(1))[0, 0]
        if slope >= 0.0:
            continue
        line = Line(slope, wp, pp, 1e-6)
        tau = search(ask, line, LADDER[:n_taus], ask(LADDER[:n_taus]))
        assert tau == pytest.approx(step_found(search_at_once(*along, line, 100, beginning(slope))), rel=1e-4)


def test_a_search_that_runs_out_keeps_what_leads_downwards():
    t, m = np.array([1.0, -1e6]), np.array([5.0, -3e5])
    along, line = (Hinge(1.0), vectors_along(m, t, np.full(2, 0.5)), 1e-9, 0.5 / 1e-9), Line(-1.0, 0.0, 0.0, 0.0)
    at = beginning(-1.0)
    for evaluations in range(1, 6):
        at = search_at_once(*along, line, 1, at)
        assert not at[-1]
        assert at[0] <= 0.3 <= at[2], evaluations
    assert step_found(at) == at[0] > 0.0
