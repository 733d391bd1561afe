"""Newton's method: what ``solver="newton"`` promises, whatever is inside."""

import numpy as np
import pytest
from problems import EVERY_LOSS, LOSSES, TARGET_LOSSES, classification, csr, dual, primal, regression

from hingeline import Hinge, Logistic, Pinball, SquaredHinge, solve

X, Y = classification(200, 8, seed=31)
X_REAL, Y_REAL = regression(200, 8, seed=32)


def data_of(name):
    return (X_REAL, Y_REAL) if name in TARGET_LOSSES else (X, Y)


def newton(X, y, loss, **how):
    return solve(X, y, loss, solver="newton", **how)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("name", EVERY_LOSS)
def test_few_iterations_reach_a_tiny_gap_at_any_C(name, C):
    """Where sweeps would take thousands."""
    X, y = data_of(name)
    s = newton(X, y, EVERY_LOSS[name](C), gap_tol=1e-9, bias=1.0)
    assert s.stop_reason == "gap_tol"
    assert s.solver == "newton"
    assert s.certificate.gap <= 1e-9
    assert s.n_iter < 100
    assert s.n_steps == 0  # it makes no steps of single variables


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("layout", [np.asarray, csr], ids=["dense", "sparse"])
def test_the_certificate_is_that_of_the_definitions(name, layout):
    loss = LOSSES[name](5.0)
    s = newton(layout(X), Y, loss, tol=1e-6, bias=2.0)
    assert s.certificate.primal == pytest.approx(primal(X, Y, s.w, loss, intercept=s.intercept, bias=2.0), rel=1e-10)
    assert s.certificate.dual == pytest.approx(dual(X, Y, s.alpha, loss, bias=2.0), rel=1e-10)
    assert s.certificate.violation < 1e-6


@pytest.mark.parametrize("name", LOSSES)
def test_the_same_optimum_as_sweeps(name):
    loss = LOSSES[name](1.0)
    ours, theirs = (solve(X, Y, loss, solver=solver, gap_tol=1e-8, random_state=0) for solver in ("newton", "hybrid"))
    assert ours.certificate.primal == pytest.approx(theirs.certificate.primal, rel=1e-7)
    np.testing.assert_allclose(ours.w, theirs.w, atol=1e-3)


@pytest.mark.parametrize("name", LOSSES)
def test_it_draws_no_random_numbers(name):
    one, other = (newton(X, Y, LOSSES[name](1.0), random_state=seed) for seed in (1, 2))
    np.testing.assert_array_equal(one.alpha, other.alpha)
    np.testing.assert_array_equal(one.w, other.w)


@pytest.mark.parametrize("scale", [1e-4, 1e4])
@pytest.mark.parametrize("name", LOSSES)
def test_scaling_all_of_x_and_C_with_it_changes_nothing_but_the_scale(name, scale):
    one = newton(X, Y, LOSSES[name](1.0), gap_tol=1e-9)
    other = newton(scale * X, Y, LOSSES[name](scale**-2), gap_tol=1e-9)
    np.testing.assert_allclose(scale * other.w, one.w, rtol=1e-3, atol=1e-4)
    assert scale**2 * other.certificate.primal == pytest.approx(one.certificate.primal, rel=1e-8)


@pytest.mark.parametrize("loss", [Hinge(10.0), SquaredHinge(10.0), Logistic(10.0)])
def test_columns_of_very_different_scales(loss):
    columns = 10.0 ** np.linspace(-3, 3, 8)
    s = newton(X * columns, Y, loss, gap_tol=1e-6)
    assert s.stop_reason == "gap_tol"
    if isinstance(loss, Hinge | SquaredHinge):
        assert s.certificate.primal == pytest.approx(primal(X * columns, Y, s.w, loss), rel=1e-10)


@pytest.mark.parametrize("name", EVERY_LOSS)
def test_weights_are_repetitions_and_rows_of_zeros_are_part_of_the_objective(name):
    data, y = data_of(name)
    data = data[:80].copy()
    data[[3, 11]] = 0.0
    times = np.random.default_rng(0).integers(0, 3, size=80)
    weighted = newton(data, y[:80], EVERY_LOSS[name](0.7), gap_tol=1e-9, sample_weight=times.astype(float))
    repeated = newton(np.repeat(data, times, axis=0), np.repeat(y[:80], times), EVERY_LOSS[name](0.7), gap_tol=1e-9)
    assert weighted.certificate.primal == pytest.approx(repeated.certificate.primal, rel=1e-8)
    np.testing.assert_allclose(weighted.w, repeated.w, atol=1e-4)


@pytest.mark.parametrize("name", LOSSES)
def test_a_descent_that_is_cut_short_leaves_a_true_certificate(name):
    loss = LOSSES[name](100.0)
    best = newton(X, Y, loss, gap_tol=1e-10).certificate.primal
    for max_iter in (1, 2, 4):
        s = newton(X, Y, loss, tol=1e-12, max_iter=max_iter)
        assert (s.n_iter, s.stop_reason, s.converged) == (max_iter, "max_iter", False)
        assert s.certificate.dual <= best * (1.0 + 1e-9) <= s.certificate.primal * (1.0 + 2e-9)
        assert s.certificate.gap >= 0.0
        assert (s.alpha >= 0.0).all()


@pytest.mark.parametrize("n_jobs", [2, 3])
@pytest.mark.parametrize("name", LOSSES)
def test_threads_change_nothing_but_roundings(name, n_jobs):
    alone, together = (newton(csr(X), Y, LOSSES[name](1.0), gap_tol=1e-9, n_jobs=n) for n in (1, n_jobs))
    assert together.certificate.gap <= 1e-9
    np.testing.assert_allclose(together.w, alone.w, atol=1e-4)


def test_more_features_than_a_factor_is_made_for():
    """Products with the Hessian instead of a factorisation: the same promise."""
    wide, y = classification(60, 700, seed=33, density=0.05)
    for name in LOSSES:
        s = newton(csr(wide), y, LOSSES[name](1.0), gap_tol=1e-6)
        assert s.stop_reason == "gap_tol"
        assert s.certificate.primal == pytest.approx(primal(wide, y, s.w, LOSSES[name](1.0)), rel=1e-10)


@pytest.mark.parametrize("free", [True, False])
def test_targets_that_are_all_the_same_need_no_weights(free):
    X = 1e6 * regression(600, 20, seed=33)[0]
    s = newton(X, np.full(600, 3.0 if free else 0.0), Pinball(10.0, 0.05), bias=1.0, free_intercept=free, max_time=60.0)
    assert s.converged
    assert s.certificate.primal == 0.0
    assert not s.w.any()
    assert s.intercept == (3.0 if free else 0.0)


def test_columns_of_many_sizes_do_not_make_training_to_a_violation_long():
    """Stages that end early leave violations that narrower ones take long to bring down."""
    steps = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((400, 120)) * 10.0 ** rng.uniform(-1.0, 1.0, 120)
        scores = X @ rng.standard_normal(120)
        y = np.sign(scores + 0.1 * scores.std() * rng.standard_normal(400))
        steps.append(newton(X, y, Hinge(10.0), tol=1e-3, bias=1.0).n_iter)
    assert np.mean(steps) < 34
