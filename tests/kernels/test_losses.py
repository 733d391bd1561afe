"""The losses' terms against their definitions."""

import numpy as np
import pytest
from problems import LOSSES

from hingeline.kernels.losses import at_zero_row, diagonal, gap_term, primal_term, upper

MARGINS = np.linspace(-2.0, 3.0, 21)
C = 0.7


def alphas(loss):
    """Return feasible dual variables, the bounds among them."""
    return np.linspace(0.0, min(upper(loss, C), 4.0), 15)


@pytest.mark.parametrize(("name", "power"), [("hinge", 1), ("squared_hinge", 2)])
def test_primal_term(name, power):
    loss = LOSSES[name](C)
    found = [primal_term(loss, m, C) for m in MARGINS]
    np.testing.assert_allclose(found, C * np.maximum(0.0, MARGINS) ** power)


@pytest.mark.parametrize("name", LOSSES)
def test_gap_term_is_what_fenchel_and_young_leave(name):
    """loss(m) - alpha m + D alpha^2/2 >= 0, and zero just where the two belong together."""
    loss = LOSSES[name](C)
    for m in MARGINS:
        terms = np.array([gap_term(loss, m, alpha, C) for alpha in alphas(loss)])
        expected = primal_term(loss, m, C) - alphas(loss) * m + 0.5 * diagonal(loss, C) * alphas(loss) ** 2
        assert (terms >= 0.0).all()
        np.testing.assert_allclose(terms, expected, atol=1e-14)


@pytest.mark.parametrize("name", LOSSES)
def test_gap_term_vanishes_at_the_optimum(name):
    loss = LOSSES[name](C)
    best = {m: C * (m > 0.0) if name == "hinge" else 2.0 * C * max(0.0, m) for m in MARGINS}
    assert max(gap_term(loss, m, alpha, C) for m, alpha in best.items()) < 1e-15


def test_bounds_and_diagonal():
    hinge, squared = LOSSES["hinge"](C), LOSSES["squared_hinge"](C)
    assert (upper(hinge, C), diagonal(hinge, C)) == (C, 0.0)
    assert (upper(squared, C), diagonal(squared, C)) == (np.inf, 1.0 / (2.0 * C))


@pytest.mark.parametrize("name", LOSSES)
def test_a_row_of_zeros_is_solved_by_its_value(name):
    loss = LOSSES[name](C)
    alpha = at_zero_row(loss, C)
    assert gap_term(loss, 1.0, alpha, C) == pytest.approx(0.0, abs=1e-15)
    assert 0.0 < alpha <= upper(loss, C)
