"""The search along a line with few questions."""

import numpy as np
import pytest

from hingeline.dask.line import interpolated, search
from hingeline.solvers.shards.line import LADDER, Line


class Losses:
    """Smoothed hinge losses along a line: their derivatives, and how often somebody asked for them."""

    def __init__(self, scale):
        rng = np.random.default_rng(0)
        self.m, self.t = rng.normal(1.0, 1.0, 500), scale * rng.normal(0.5, 1.0, 500)
        self.questions = 0

    def derivatives(self, taus):
        self.questions += 1
        margins = self.m - np.multiply.outer(taus, self.t)
        inside = (margins > 0.0) & (margins < 1.0)
        first = -(np.clip(margins, 0.0, 1.0) * self.t).sum(axis=1)
        return np.column_stack([first, (inside * self.t**2).sum(axis=1)])


@pytest.mark.parametrize("scale", [0.03, 0.2, 1.0, 5.0, 100.0])
def test_finds_the_minimum(scale):
    losses, pp = Losses(scale), 10.0 * scale
    slope = float(losses.derivatives(np.zeros(1))[0, 0])
    tau = search(losses.derivatives, Line(slope, 0.0, pp, 1e-6), LADDER, losses.derivatives(LADDER))
    left = losses.derivatives(np.array([tau]))[0, 0] + pp * tau
    assert abs(left) < 0.05 * abs(slope)


def test_near_steps_are_not_followed_by_another_question():
    losses = Losses(1.0)
    values = losses.derivatives(LADDER)
    at = {tau: first for tau, (first, _) in zip(LADDER, values, strict=True)}
    pp = -(at[0.5] + at[1.0]) / 1.5  # puts the minimum between a half and one
    asked = losses.questions
    slope = float(losses.derivatives(np.zeros(1))[0, 0])
    tau = search(losses.derivatives, Line(slope, 0.0, pp, 1e-6), LADDER, values)
    assert 0.5 < tau < 1.0
    assert losses.questions == asked + 1  # the slope's, above


def test_a_cubic_is_found_exactly():
    def f(x):
        return x**3 + x - 3.0, 3.0 * x**2 + 1.0

    root = interpolated((1.0, *f(1.0)), (2.0, *f(2.0)))
    assert f(root)[0] == pytest.approx(0.0, abs=1e-7)
