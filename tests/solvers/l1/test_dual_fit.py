"""Dual points that are fitted to what is known at the weights."""

import numpy as np
import pytest
from problems import classification, csr
from solvers.l1.test_lasso import penalised, set_weights, with_bias

from hingeline import Logistic, SquaredHinge, solve
from hingeline.data.read import read_data
from hingeline.runtime.pace import Pace
from hingeline.solvers.l1.columns import as_columns
from hingeline.solvers.l1.dual_fit import least_squares
from hingeline.solvers.l1.products import ByColumns

PLENTY = 1e9  # visits that a fit may cost
LOSSES = {"squared_hinge": SquaredHinge, "logistic": Logistic}


def rough(name, C, bias=0.5):
    """Return data, labels, and weights whose objective is nearly right; the intercept's is last."""
    X, y = classification(300, 450, seed=5, density=0.1)
    found = solve(csr(X), y, LOSSES[name](C), l1_ratio=1.0, gap_tol=1e-5, bias=bias, random_state=0)
    w = np.append(found.w, found.intercept / bias)
    noise = np.random.default_rng(0).normal(size=w.size)
    return X, y, np.where(w == 0.0, 0.0, w * (1.0 + 1e-3 * noise)), found.certificate.primal


def test_least_squares_over_columns():
    X, _ = classification(40, 12, seed=1, density=0.5)
    rng = np.random.default_rng(2)
    scale, omega, b = rng.uniform(0.5, 2.0, 40), rng.uniform(0.1, 3.0, 13), rng.normal(size=13)
    b[-1] = 0.0  # the intercept's column is empty
    data = read_data(csr(X), 0.0)
    e = least_squares(ByColumns(as_columns(data), Pace(), 40), scale, omega, b, 60)
    A = omega[:-1, None] * (X * scale[:, None]).T
    np.testing.assert_allclose(e, scale * np.linalg.lstsq(A, omega[:-1] * b[:-1], rcond=None)[0], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("name", list(LOSSES))
def test_a_fitted_point_certifies_a_smaller_gap(name, free):
    C = 30.0
    X, y, w, _ = rough(name, C)
    primal, _ = penalised(name, X, y, C, l2=0.0, free=free)
    set_weights(primal, w)
    plain = primal.certify(Pace())
    fitted = primal.certify_fitted(Pace(), 1e-4, PLENTY)
    assert 0.0 <= fitted.gap < 0.3 * plain.gap
    alpha, full = primal.dual_variables, with_bias(X)
    v = full.T @ (y * alpha)
    assert alpha.min() >= 0.0
    assert np.abs(v[:-1] if free else v).max() <= 1.0 + 1e-12
    if free:
        assert abs(v[-1]) <= 1e-9 * alpha.sum()
    if name == "logistic":
        assert alpha.max() <= C


def test_the_dual_of_a_fitted_point_is_below_the_optimum():
    X, y, w, best = rough("squared_hinge", 100.0)
    primal, _ = penalised("squared_hinge", X, y, 100.0, l2=0.0)
    set_weights(primal, w)
    certificate = primal.certify_fitted(Pace(), 1e-3, PLENTY)
    alpha = primal.dual_variables
    assert certificate.dual == pytest.approx(alpha.sum() - alpha @ alpha / 400.0, rel=1e-9)
    assert certificate.dual <= best * (1.0 + 1e-9)


def test_only_bounds_are_fitted_and_only_if_there_is_time():
    X, y, w, _ = rough("squared_hinge", 1.0)
    curved, _ = penalised("squared_hinge", X, y, 1.0, l2=0.1)
    by_rows, _ = penalised("squared_hinge", X, y, 1.0, l2=0.0, by_columns=False)
    primal, _ = penalised("squared_hinge", X, y, 1.0, l2=0.0)
    for each in (curved, by_rows, primal):
        set_weights(each, w)
    assert curved.certify_fitted(Pace(), 1e-3, PLENTY) is None
    assert by_rows.certify_fitted(Pace(), 1e-3, PLENTY) is None
    assert primal.certify_fitted(Pace(), 1e-3, 0.0) is None


def test_the_gap_without_rows_is_no_larger():
    X, y, w, _ = rough("squared_hinge", 30.0)
    primal, _ = penalised("squared_hinge", X, y, 30.0, l2=0.0)
    set_weights(primal, 1.1 * w)
    certificate = primal.certify(Pace())
    gap = (certificate.primal - certificate.dual) / certificate.primal
    assert primal.gap_exceeds(0.1 * gap)
    assert not primal.gap_exceeds(1.001 * gap)
