"""The parts of the engine for sparse weights, each against plain NumPy."""

import numpy as np
import pytest
from other_problems import loss_slope, loss_sum
from problems import classification, csr

from hingeline import LinearSVC, Logistic, LogisticRegression, SquaredHinge
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.kernels.random import seeded
from hingeline.solvers.clock import Clock
from hingeline.solvers.driver import Run
from hingeline.solvers.frequencies import Frequencies
from hingeline.solvers.l1.columns import FEW_COLUMNS, as_columns, columns_if_many
from hingeline.solvers.l1.gram_lasso import Gram, gram_lasso
from hingeline.solvers.l1.lasso import lasso
from hingeline.solvers.l1.one_weight import Seen
from hingeline.solvers.l1.penalised import FINE_SHARE, Penalised
from hingeline.solvers.l1.proximal import ProximalNewton
from hingeline.solvers.stop import Stop

LOSSES = {"squared_hinge": SquaredHinge, "logistic": Logistic}


def penalised(name, X, y, C=1.0, *, by_columns=True, bias=0.5, l2=0.1, free=False):
    data = read_data(csr(X), bias)
    problem = make_problem(data, y.astype(np.float32), None, LOSSES[name](C))
    d = X.shape[1] + 1
    l1 = np.ones(d)
    l1[-1] = 0.0 if free else 1.0
    primal = Penalised(problem, as_columns(data) if by_columns else None, l1, np.full(d, l2), lambda: None)
    run = Run(Stop(), Clock(None, None), certify=primal.certify, floor=primal.floor)
    return primal, run


def with_bias(X, bias=0.5):
    return np.column_stack([X, np.full(len(X), bias)])


def set_weights(primal, w):
    primal.w[:] = w
    primal.refresh()


def model_value(primal, X, S, z):
    """Return g'(z - w) + sum_i h_i u_i^2/2 + the penalty of z, by definition."""
    d = z - primal.w[S]
    u = X[:, S] @ d
    penalty = primal.l1[S] @ np.abs(z) + 0.5 * primal.l2[S] @ (z * z)
    return primal.g[S] @ d + 0.5 * primal.h @ (u * u) + penalty


def model_violation(primal, X, S, z):
    g = primal.g[S] + primal.l2[S] * z + X[:, S].T @ (primal.h * (X[:, S] @ (z - primal.w[S])))
    l1 = primal.l1[S]
    return np.where(z == 0.0, np.maximum(np.abs(g) - l1, 0.0), np.abs(g + np.sign(z) * l1)).max()


def some_weights(d, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(d) < 0.5, rng.normal(size=d), 0.0)


@pytest.mark.parametrize("by_columns", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_expansion(name, by_columns):
    X, y = classification(40, 6, seed=1, density=0.7)
    primal, _ = penalised(name, X, y, 0.7, by_columns=by_columns)
    w, full = some_weights(7), with_bias(X)
    set_weights(primal, w)
    f = full @ w
    np.testing.assert_allclose(primal.f, f, atol=1e-12)
    np.testing.assert_allclose(primal.g, full.T @ loss_slope(name, f, y, 0.7), atol=1e-10)
    u = full @ some_weights(7, seed=2)
    for tau in (1.0, 0.25):
        change = loss_sum(name, f + tau * u, y, 0.7) - loss_sum(name, f, y, 0.7)
        assert primal.look(u, tau, 0.0) == pytest.approx(change, rel=1e-9)
        np.testing.assert_allclose(primal.r, loss_slope(name, f + tau * u, y, 0.7), atol=1e-12)
    primal.move(some_weights(7, seed=2), u, 0.25, 0.0)
    primal.slopes()
    np.testing.assert_allclose(primal.g, full.T @ loss_slope(name, f + 0.25 * u, y, 0.7), atol=1e-10)


def test_caution_lies_between_newton_and_a_bound():
    X, y = classification(40, 6, seed=1)
    primal, _ = penalised("logistic", X, y)
    set_weights(primal, 3.0 * some_weights(7))
    curvatures = []
    for caution in (0.0, 0.5, 1.0):
        primal.look(primal.f, 0.0, caution)
        curvatures.append(primal.h.copy())
    newton, between, bound = curvatures
    s = 1.0 / (1.0 + np.exp(-primal.f))
    np.testing.assert_allclose(newton, s * (1.0 - s), rtol=1e-9)
    assert (newton < between).all()
    assert (between < bound).all()
    for u in np.random.default_rng(0).normal(scale=4.0, size=(20, 40)):  # the bound's parabola lies above the loss
        told = loss_sum("logistic", primal.f, y, 1.0) + primal.r @ u + 0.5 * bound @ (u * u)
        assert told >= loss_sum("logistic", primal.f + u, y, 1.0)


@pytest.mark.parametrize("sweeps", [1, 3, 100])
@pytest.mark.parametrize("name", LOSSES)
def test_lasso(name, sweeps):
    """Its model falls; with sweeps enough to its minimum; and u is X (z - w) where it is there."""
    X, y = classification(60, 30, seed=3, density=0.4)
    primal, run = penalised(name, X, y, 3.0)
    full, S = with_bias(X), np.arange(0, 31, 2)
    w = np.where(np.isin(np.arange(31), S), some_weights(31), 0.0)
    set_weights(primal, w)
    frequencies = Frequencies(np.arange(S.size, dtype=np.uint32), S.size, seeded(0), adapts=True, shrinks=True)
    z, u, seen = lasso(primal, run, S, frequencies, Seen(), True, sweeps)
    gain = model_value(primal, full, S, w[S]) - model_value(primal, full, S, z)
    assert gain > 0.0
    assert seen.gain == pytest.approx(gain, rel=1e-9)
    if u is not None:
        np.testing.assert_allclose(u, full[:, S] @ (z - w[S]), atol=1e-10)
    if sweeps == 100:
        assert model_violation(primal, full, S, z) <= 0.2 * primal.violation


@pytest.mark.parametrize("name", LOSSES)
def test_gram(name):
    """The Hessian is brought up to date, and its lasso solved as the one over columns is."""
    X, y = classification(60, 12, seed=5, density=0.6)
    primal, run = penalised(name, X, y, 3.0, by_columns=False)
    primal.expand()
    full, S, gram = with_bias(X), np.array([0, 2, 3, 7, 8, 12]), Gram(primal, run)
    for seed, exactly in ((1, False), (2, True)):
        w = np.where(np.isin(np.arange(13), S), some_weights(13, seed), 0.0)
        set_weights(primal, w)
        np.testing.assert_allclose(gram.at(primal, S), full[:, S].T @ (primal.h[:, None] * full[:, S]), atol=1e-9)
        z, seen = gram_lasso(primal, gram, S, np.ones(6, np.float32), seeded(0), Seen(), True, True, exactly)
        scale = np.sqrt(full[:, S].T ** 2 @ primal.h + primal.l2[S])
        allowed = (1e-4 if exactly else 0.101) * np.max(primal.violations[S] / scale)
        assert model_violation(primal, full, S, z) <= allowed * scale.max()
        assert seen.steps > 0


def test_models_are_solved_finely_where_their_dual_variables_may_certify():
    """Only near the end, and where the penalty counts."""
    X, y = classification(60, 12, seed=5, density=0.6)
    S = np.arange(13)
    for asked, is_fine in ((0.0, False), (1.0, True)):
        primal, run = penalised("logistic", X, y, 0.5, by_columns=False)
        set_weights(primal, some_weights(13))
        primal.asked = asked
        how = (S, np.ones(13, np.float32), seeded(0), Seen(), True, True, False)
        _, seen = gram_lasso(primal, Gram(primal, run), *how)
        assert (primal.finest_excess(seen.gain) < np.inf) == is_fine
        if is_fine:
            primal.asked = 1e-9
            finest = FINE_SHARE * 1e-9 * primal.objective / primal.penalty(primal.w)
            assert primal.finest_excess(1e-10 * primal.objective) == pytest.approx(finest)
            assert primal.finest_excess(np.inf) == np.inf
    primal.l1[:] = 1e-9
    assert primal.finest_excess(0.0) == np.inf


def test_a_model_is_solved_as_finely_as_asked(monkeypatch):
    X, y = classification(60, 12, seed=5, density=0.6)
    full, S = with_bias(X), np.arange(13)
    primal, run = penalised("logistic", X, y, 3.0, by_columns=False)
    set_weights(primal, some_weights(13))
    monkeypatch.setattr(primal, "finest_excess", lambda gain: 1e-7)
    z, _ = gram_lasso(primal, Gram(primal, run), S, np.ones(13, np.float32), seeded(0), Seen(), True, True, False)
    assert model_violation(primal, full, S, z) <= 1.01e-7


def test_few_columns_are_not_turned_round():
    assert columns_if_many(read_data(np.ones((2, FEW_COLUMNS - 1)), 0.0)) is None
    assert columns_if_many(read_data(np.ones((2, FEW_COLUMNS)), 0.0)) is not None


@pytest.mark.parametrize("by_columns", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_every_step_is_a_descent(name, by_columns):
    """Nearly separable, C large: Newton steps are too long, and still each one that is taken lowers the objective."""
    X, y = classification(50, 60, seed=6)
    primal, run = penalised(name, X, y, 100.0, by_columns=by_columns)
    engine = ProximalNewton(primal, run, seeded(0), True, True)
    full, values = with_bias(X), []
    for _ in range(12):
        values.append(primal.penalty(primal.w) + loss_sum(name, full @ primal.w, y, 100.0))
        engine.step()
    np.testing.assert_allclose(primal.f, full @ primal.w, atol=1e-8)
    assert (np.diff(values) <= 1e-9 * values[0]).all()
    assert values[-1] < 0.1 * values[0]


@pytest.mark.parametrize("model", [LinearSVC, LogisticRegression])
@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
def test_a_second_fit_may_begin_at_the_optimum(model, C):
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]), np.array([1, 1, 0, 0])
    twice = model(penalty="l1", C=C, warm_start=True, random_state=0)
    once = twice.fit(X, y).coef_.copy()
    assert twice.fit(X, y).converged_
    np.testing.assert_allclose(twice.coef_, once, atol=1e-6)
