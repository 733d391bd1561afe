"""LinearSVR with the pinball loss: quantiles, parameters, files, searches."""

import numpy as np
import pytest
from problems import regression
from sklearn.linear_model import QuantileRegressor
from sklearn.metrics import mean_pinball_loss

from hingeline import LinearSVR, LinearSVRCV, Pinball, solve
from hingeline.io import load_model, save_model

X, Y = regression(60, 4, seed=11)


def test_it_is_the_loss_of_the_functional_core():
    model = LinearSVR(loss="pinball", quantile=0.2, C=0.7, intercept_scaling=2.0, gap_tol=1e-9).fit(X, Y)
    solution = solve(X, Y, Pinball(0.7, 0.2), bias=2.0, gap_tol=1e-9)
    np.testing.assert_allclose(model.coef_, solution.w, rtol=1e-6)
    assert model.objective_ == pytest.approx(solution.certificate.primal, rel=1e-8)
    assert model.duality_gap_ <= 1e-9


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.85])
def test_so_many_targets_lie_below(quantile):
    """With a free intercept exactly: no more than the quantile's share below, no fewer if those on the line count."""
    X, y = regression(1000, 5, seed=12)
    model = LinearSVR(loss="pinball", quantile=quantile, fit_intercept="free", gap_tol=1e-10).fit(X, y)
    m = y - model.predict(X)
    near = 1e-6
    assert np.mean(m > near) <= 1.0 - quantile + 1e-9
    assert np.mean(m < -near) <= quantile + 1e-9
    assert np.mean(np.abs(m) <= near) < 0.02


@pytest.mark.parametrize("quantile", [0.2, 0.5])
def test_without_regularisation_it_equals_scikit_learn(quantile):
    """Theirs is a linear programme without |w|^2, which a large C makes negligible."""
    ours = LinearSVR(loss="pinball", quantile=quantile, fit_intercept="free", C=1e5, gap_tol=1e-9).fit(X, Y)
    theirs = QuantileRegressor(quantile=quantile, alpha=0.0, solver="highs").fit(X, Y)
    values = [mean_pinball_loss(Y, model.predict(X), alpha=quantile) for model in (ours, theirs)]
    assert values[0] == pytest.approx(values[1], rel=1e-4)


def test_parameters_of_another_loss_are_refused():
    with pytest.raises(ValueError, match=r"'pinball' has no epsilon: leave it at 0\.0"):
        LinearSVR(loss="pinball", epsilon=0.1).fit(X, Y)
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive"):
        with pytest.raises(ValueError, match=rf"{loss!r} has no quantile: leave it at 0\.5"):
            LinearSVR(loss=loss, quantile=0.9).fit(X, Y)


@pytest.mark.parametrize("quantile", [0.0, 1.0, -0.1, np.nan, "half"])
def test_quantiles_are_checked(quantile):
    with pytest.raises(ValueError, match="'quantile' parameter"):
        LinearSVR(loss="pinball", quantile=quantile).fit(X, Y)


def test_model_files(tmp_path):
    model = LinearSVR(loss="pinball", quantile=0.3).fit(X, Y)
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.get_params() == model.get_params()
    assert loaded.objective_ == model.objective_
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="LIBLINEAR has no type"):
        save_model(model, tmp_path / "other", format="liblinear")


def test_C_is_chosen_by_cross_validation():
    search = LinearSVRCV(loss="pinball", quantile=0.7, Cs=[0.01, 1.0], cv=3, gap_tol=1e-9).fit(X, Y)
    model = LinearSVR(loss="pinball", quantile=0.7, C=search.C_, gap_tol=1e-9).fit(X, Y)
    np.testing.assert_allclose(search.coef_, model.coef_, rtol=1e-5, atol=1e-7)
