"""What every solution satisfies, whatever the problem: found by hypothesis, with a fixed stream of examples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import COORDINATE_ENGINES, ENGINES, LOSSES, csr, dual, primal

from hingeline import Hinge, solve

examples = settings(max_examples=40)


@st.composite
def problems(draw):
    """A small problem with all that is legal: rows of zeros, repeated rows, weights of zero, an intercept."""
    n, d = draw(st.integers(2, 20)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(scale=10.0 ** draw(st.integers(-2, 1)), size=(n, d))
    X *= rng.random((n, d)) < draw(st.sampled_from([0.3, 1.0]))
    X[n // 2] = X[0]
    y = rng.choice([-1, 1], size=n)
    y[:2] = -1, 1
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=n)
    weights[:2] = 1.0
    loss = draw(st.sampled_from(list(LOSSES.values())))(10.0 ** draw(st.integers(-2, 0)))
    return X, y, loss, weights, draw(st.sampled_from([0.0, 1.0]))


def solved(problem, engine, **how):
    X, y, loss, weights, bias = problem
    how.setdefault("tol", 1e-4)
    return solve(
        csr(X) if engine == "avsf" else X,
        y,
        loss,
        solver=engine,
        sample_weight=weights,
        bias=bias,
        random_state=1,
        **how,
    )


@pytest.mark.parametrize("engine", ENGINES)
@given(problem=problems(), max_iter=st.sampled_from([1, 2, 5, 40]))
@examples
def test_feasible_consistent_and_certified(engine, problem, max_iter):
    X, y, loss, weights, bias = problem
    solution = solved(problem, engine, max_iter=max_iter)
    alpha, certificate = solution.alpha, solution.certificate
    # feasible
    assert (alpha >= 0.0).all()
    assert (alpha[weights == 0.0] == 0.0).all()
    if isinstance(loss, Hinge):
        assert (alpha <= loss.C * weights).all()
    # w = sum alpha_i y_i x_i, to rounding; Newton's method on a smooth loss keeps its own w, as near as the gap says
    keeps_own = engine == "newton" and not isinstance(loss, Hinge)
    own = np.sqrt(2.0 * certificate.gap * certificate.primal) if keeps_own else 0.0  # P - D itself cancels
    size = 1e-13 * (1.0 + alpha @ np.abs(X).sum(axis=1)) + own
    np.testing.assert_allclose(solution.w, X.T @ (alpha * y), rtol=0, atol=size)
    size = 1e-13 * (1.0 + alpha.sum()) + own
    np.testing.assert_allclose(solution.intercept, bias**2 * (alpha @ y), rtol=0, atol=size)
    # the certificate says what the definitions say
    assert certificate.gap >= 0.0
    assert certificate.violation >= 0.0
    assert certificate.dual <= certificate.primal
    scale = 1.0 + abs(certificate.primal)
    value = primal(X, y, solution.w, loss, weights=weights, intercept=solution.intercept, bias=bias or 1.0)
    np.testing.assert_allclose(certificate.primal, value, rtol=1e-10, atol=1e-10 * scale)
    value = dual(X, y, alpha, loss, weights=weights, bias=bias)
    np.testing.assert_allclose(certificate.dual, value, rtol=1e-10, atol=1e-10 * scale)
    np.testing.assert_allclose(certificate.gap, 1.0 - certificate.dual / certificate.primal, rtol=0, atol=1e-10)


@pytest.mark.parametrize("engine", ENGINES)
@given(problem=problems())
@examples
def test_converged_means_converged(engine, problem):
    solution = solved(problem, engine)
    assert solution.converged
    assert solution.stop_reason in ("tol", "rounding")
    if solution.stop_reason == "tol" and engine == "newton":
        assert solution.certificate.violation < 1e-4
    # A sweep sees each variable at another w, so the exact violation may be larger, but not by much.
    assert solution.certificate.violation < 1e-2


@given(problem=problems())
@examples
def test_auto_solves_small_problems_to_rounding(problem):
    solution = solved(problem, "auto")
    assert solution.converged
    assert solution.certificate.gap < 1e-10


@pytest.mark.parametrize("engine", COORDINATE_ENGINES)
@given(problem=problems())
@examples
def test_dual_never_decreases(engine, problem):
    runs = [solved(problem, engine, max_iter=sweeps) for sweeps in range(1, 8)]
    steps = [run.n_steps for run in runs]
    assert steps == sorted(steps)
    values = np.array([0.0] + [run.certificate.dual for run in runs])
    rounding = 1e-14 * (1.0 + np.array([run.certificate.primal + run.alpha.sum() for run in runs]))
    assert (np.diff(values) >= -rounding).all()
    assert values[-1] > 0.0
