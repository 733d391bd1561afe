"""The logistic loss where exponentials and logarithms meet their ends."""

import numpy as np
import pytest

from hingeline.kernels.losses.logistic import divergence, divergence_estimate, sigmoid


def test_logistic_at_its_ends():
    """Margins of any size, probabilities of zero and one: finite, never negative, right where the answer is known."""
    for m in (-1e308, -800.0, -40.0, 0.0, 40.0, 800.0, 1e308):
        assert 0.0 <= sigmoid(m) <= 1.0
        for a in (0.0, 5e-324, 1e-300, 1e-17, 0.5, 1.0 - 2.0**-53, 1.0):
            terms = divergence(a, m), divergence_estimate(a, sigmoid(m))
            assert np.isfinite(terms).all()
            assert min(terms) >= 0.0
    assert divergence(1.0, -800.0) == pytest.approx(800.0)
    assert divergence(0.0, -40.0) == pytest.approx(np.exp(-40.0))
    for d in (1e-3, 1e-5, 1e-9):  # second order: half of d^2/(s t)
        assert divergence(0.3 + d, np.log(0.3 / 0.7)) == pytest.approx(
            0.5 * d * d / 0.21, rel=2e-3 if d > 1e-4 else 1e-4
        )
