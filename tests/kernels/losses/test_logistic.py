"""The logistic loss where exponentials and logarithms meet their ends."""

from itertools import product

import numpy as np
import pytest

from hingeline.kernels.compile import kernel
from hingeline.kernels.losses.logistic import divergence, divergence_estimate, sigmoid

MARGINS = (-1e308, -800.0, -40.0, 0.0, 40.0, 800.0, 1e308)
PROBABILITIES = (0.0, 5e-324, 1e-300, 1e-17, 0.5, 1.0 - 2.0**-53, 1.0)


@kernel
def terms_of(a, m, exact, estimates):
    """Compute divergences and their estimates in a loop, where everything is compiled."""
    for i in range(np.uint64(a.size)):
        exact[i] = divergence(a[i], m[i])
        estimates[i] = divergence_estimate(a[i], sigmoid(m[i]))


def compiled(pairs):
    """Return the divergences and their estimates for pairs of a probability and a margin."""
    a, m = np.array(pairs, dtype=float).T.copy()
    found = np.empty((2, a.size))
    terms_of(a, m, *found)
    return found


def in_python(pairs):
    """Return the same without compilation."""
    return np.array([(divergence(a, m), divergence_estimate(a, sigmoid(m))) for a, m in pairs]).T


@pytest.mark.parametrize("terms", [compiled, in_python])
def test_logistic_at_its_ends(terms):
    """Margins of any size, probabilities of zero and one: finite, never negative, right where the answer is known."""
    assert all(0.0 <= sigmoid(m) <= 1.0 for m in MARGINS)
    found = terms(list(product(PROBABILITIES, MARGINS)))
    assert np.isfinite(found).all()
    assert found.min() >= 0.0
    assert terms([(1.0, -800.0), (0.0, -40.0)])[0] == pytest.approx([800.0, np.exp(-40.0)])
    for d in (1e-3, 1e-5, 1e-9):  # second order: half of d^2/(s t)
        assert terms([(0.3 + d, np.log(0.3 / 0.7))])[0] == pytest.approx(
            0.5 * d * d / 0.21, rel=2e-3 if d > 1e-4 else 1e-4
        )


def test_compiled_or_not():
    rng = np.random.default_rng(0)
    pairs = list(zip(rng.random(200), 10.0 * rng.normal(size=200), strict=True))
    np.testing.assert_allclose(compiled(pairs), in_python(pairs), rtol=1e-9, atol=1e-15)
