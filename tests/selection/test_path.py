"""c_path: the same models as cold fits, certificates, what is not trained again, refusals."""

from fractions import Fraction

import numpy as np
import pytest
from problems import EVERY_LOSS, TARGET_LOSSES, classification, csr, regression

from hingeline import EpsilonInsensitive, Hinge, c_path, solve

CS = [10.0, 0.01, 1.0, 0.1, 100.0]
X, Y = classification(70, 6, seed=3)
X_REAL, Y_REAL = regression(70, 6, seed=4)


def exact_dot(a, b):
    return sum(Fraction(float(p)) * Fraction(float(q)) for p, q in zip(a, b, strict=True))


def data_for(loss):
    return (X_REAL, Y_REAL) if loss in TARGET_LOSSES else (X, Y)


@pytest.mark.parametrize("solver", ["auto", "hybrid", "newton", "baseline"])
@pytest.mark.parametrize("loss", EVERY_LOSS)
def test_agrees_with_cold_fits(loss, solver):
    data, y = data_for(loss)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, y.size)
    weights[::7] = 0.0
    how = {"solver": solver, "tol": 1e-8, "bias": 0.7, "sample_weight": weights, "random_state": 0}
    grid = CS if solver in ("auto", "newton") else [0.01, 0.1, 1.0]  # sweeps take long beyond that
    path = c_path(data, y, grid, EVERY_LOSS[loss](5.0), **how)
    np.testing.assert_array_equal(path.Cs, np.sort(grid))
    assert len(path.solutions) == path.seconds.size == len(grid)
    for C, warm in zip(path.Cs, path.solutions, strict=True):
        cold = solve(data, y, EVERY_LOSS[loss](C), **how)
        assert warm.converged
        assert warm.certificate.gap < 1e-5
        np.testing.assert_allclose(warm.certificate.primal, cold.certificate.primal, rtol=1e-6)
        np.testing.assert_allclose(warm.w, cold.w, atol=1e-4 * max(1.0, np.abs(cold.w).max()))
        assert not warm.alpha[::7].any()


@pytest.mark.parametrize("gap_tol", [None, 1e-5])
def test_large_data_hands_over_to_newton_and_goes_on_there(gap_tol):
    data, y = classification(4000, 40, seed=1)
    how = {"tol": 1e-4, "gap_tol": gap_tol, "random_state": 0}
    path = c_path(csr(data), y, [0.1, 1.0, 10.0, 100.0], **how)
    for C, warm in zip(path.Cs, path.solutions, strict=True):
        cold = solve(csr(data), y, Hinge(C), **how)
        bound = cold.certificate.primal * (1.0 + 1e-4)
        assert cold.certificate.dual * (1.0 - 1e-4) <= warm.certificate.primal <= bound
    assert path.solutions[-1].solver == "newton"
    assert path.solutions[-1].n_iter < cold.n_iter


def test_what_no_bound_holds_is_not_trained_again():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(40, 60))  # separable
    y = np.resize([-1, 1], 40)
    path = c_path(data, y, [0.001, 10.0, 100.0, 1e4], tol=1e-9, solver="hybrid", random_state=0)
    assert path.solutions[0].alpha.max() == 0.001
    assert [s.n_iter > 0 for s in path.solutions] == [True, True, False, False]
    np.testing.assert_array_equal(path.solutions[1].w, path.solutions[3].w)
    last = path.solutions[3]
    exact = solve(data, y, Hinge(1e4), tol=1e-9, solver="hybrid", random_state=0)
    np.testing.assert_allclose(last.w, exact.w, atol=1e-6)
    margins = [1 - int(s) * exact_dot(x, last.w) for s, x in zip(y, data, strict=True)]
    primal = exact_dot(last.w, last.w) / 2 + 10**4 * sum(max(m, 0) for m in margins)
    assert last.certificate.primal == pytest.approx(float(primal), rel=0, abs=1e-10)


def test_a_stop_on_the_gap_is_kept_where_nothing_else_changes():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(40, 60))
    y = np.resize([-1, 1], 40)
    path = c_path(data, y, [10.0, 1e7], gap_tol=1e-3, solver="hybrid", random_state=0)
    assert all(s.certificate.gap <= 1e-3 for s in path.solutions)
    assert path.solutions[1].n_iter > 0  # what is left of the losses weighs a million times more


def test_free_intercept():
    how = {"free_intercept": True, "solver": "hybrid", "gap_tol": 1e-4, "random_state": 0}
    path = c_path(X + 1.0, Y, [0.01, 0.1, 1.0], **how)
    for C, warm in zip(path.Cs, path.solutions, strict=True):
        cold = solve(X + 1.0, Y, Hinge(C), **how)
        np.testing.assert_allclose(warm.certificate.primal, cold.certificate.primal, rtol=2e-4)
        assert abs(np.sum(warm.alpha * Y)) < 1e-9


def test_a_callback_ends_the_path():
    seen = []
    path = c_path(X, Y, CS, solver="hybrid", tol=1e-12, random_state=0, callback=lambda p: seen.append(p) or True)
    assert len(path.solutions) == path.Cs.size == len(seen) == 1
    assert path.solutions[0].stop_reason == "callback"


@pytest.mark.parametrize(
    ("message", "run"),
    [
        ("Cs must be a sequence of numbers", lambda: c_path(X, Y, 1.0)),
        ("Cs must be a sequence of numbers", lambda: c_path(X, Y, ["a"])),
        ("Cs is empty", lambda: c_path(X, Y, [])),
        ("positive finite number.*got -1", lambda: c_path(X, Y, [1.0, -1.0])),
        ("positive finite number.*got nan", lambda: c_path(X, Y, [1.0, np.nan])),
        ("overflows", lambda: c_path(X, Y, [1.0, 1e300])),
        ("loss must be one of hinge", lambda: c_path(X, Y, [1.0], "elephant")),
        ("loss must be one of Hinge", lambda: c_path(X, Y, [1.0], 3)),
        ("solver must be", lambda: c_path(X, Y, [1.0], solver="elephant")),
        ("labels must be -1 and", lambda: c_path(X, Y_REAL, [1.0])),
        ("epsilon must be", lambda: c_path(X, Y_REAL, [1.0], EpsilonInsensitive(1.0, -1.0))),
    ],
)
def test_refusals(message, run):
    with pytest.raises(ValueError, match=message):
        run()
