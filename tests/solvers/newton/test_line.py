"""The search along a line: where its slopes differ by orders of magnitude, too."""

import numpy as np
import pytest
from scipy.special import expit

from hingeline.kernels.losses import Hinge, Logistic
from hingeline.solvers.newton.line import LINE_STEPS, beginning
from hingeline.solvers.newton.responses import search_line, step_found


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
    line = (Logistic(1.0), np.ones(405), -m, t, np.zeros(405), 0.0, 1.0, 0.0, 1.0)
    tau = step_found(search_line(*line, slope, 0.1, LINE_STEPS, beginning(slope)))
    assert slope_of_logistic(m, t, tau) <= 0.1 * abs(slope)
    assert slope_of_logistic(m, t, tau + 1e-4) >= -0.1 * abs(slope)


def test_a_search_that_runs_out_keeps_what_leads_downwards():
    t, m = np.array([1.0, -1e6]), np.array([5.0, -3e5])
    line = (Hinge(1.0), np.ones(2), m, t, np.full(2, 0.5), 1e-9, 0.5 / 1e-9, 0.0, 0.0)
    at = beginning(-1.0)
    for evaluations in range(1, 6):
        at = search_line(*line, -1.0, 0.0, 1, at)
        assert not at[-1]
        assert at[0] <= 0.3 <= at[2], evaluations
    assert step_found(at) == at[0] > 0.0
