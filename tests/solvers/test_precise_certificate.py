"""Certificates at a large C, at which rounding of the margins is worth more than the rest of the objective."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from truth import complaints, truths

from hingeline import LinearSVC, LinearSVR

MODELS = [
    LinearSVR(loss="pinball", quantile=0.3),
    LinearSVR(loss="epsilon_insensitive", epsilon=0.1),
    LinearSVC(loss="hinge"),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.loss)
@pytest.mark.parametrize("fit_intercept", [True, False, "free"])
def test_the_gap_is_that_of_the_true_margins(model, fit_intercept):
    rng = np.random.default_rng(3)
    for n, C in ((2, 1e12), (2, 1e16), (3, 1e19), (2, 1e60)):
        X = rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-1, 3)
        y = rng.normal(size=n) if isinstance(model, LinearSVR) else np.arange(n) % 2
        model.set_params(C=C, fit_intercept=fit_intercept)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
        assert not complaints(model, X, y)
        (true,) = truths(model, X, y)
        assert model.duality_gap_ * true.primal == pytest.approx(true.difference, rel=1e-3, abs=1e-6 * true.primal)
        assert not model.converged_ or model.duality_gap_ <= 1e-3


def test_a_row_and_a_huge_C():
    """The weights cannot be rounded so that the margin is exact, and what is left of it costs more than they do."""
    X, y = np.array([[0.1, 0.3]]), np.array([0.7])
    with pytest.warns(UserWarning, match="gap"):
        model = LinearSVR(C=1e60, fit_intercept=False).fit(X, y)
    assert model.duality_gap_ > 0.9
    assert model.stop_reason_ == "stalled"
