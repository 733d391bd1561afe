"""Engines against the slow reference: the same schedule, visit by visit, and so the same numbers."""

import numpy as np
import pytest
import reference
from problems import LOSSES, classification, csr

from hingeline import solve

LAYOUTS = {"dense": np.ascontiguousarray, "csr": csr}


def both(engine, X, y, loss, *, layout="dense", tol=1e-4, seed=0, weights=None, bias=0.0):
    """Return the engine's solution and the reference's dual and result."""
    solution = solve(
        LAYOUTS[layout](X),
        y,
        loss,
        solver=engine,
        tol=tol,
        random_state=seed,
        sample_weight=weights,
        bias=bias,
    )
    word = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
    dual = reference.Dual(X, y, loss, weights=1.0 if weights is None else weights, bias=bias)
    return solution, dual, reference.ALGORITHMS[engine](dual, tol, word)


def assert_same_run(solution, dual, expected):
    assert (solution.n_iter, solution.n_steps) == (expected.sweeps, expected.steps)
    np.testing.assert_allclose(solution.alpha, expected.alpha, rtol=0, atol=1e-8)
    np.testing.assert_allclose(solution.w, expected.w[:-1], rtol=0, atol=1e-8)
    np.testing.assert_allclose(solution.certificate, reference.certificate(dual), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("C", [0.1, 3.0])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("engine", reference.ALGORITHMS)
def test_same_run(engine, layout, loss, C, seed):
    X, y = classification(50, 6, seed=seed, density=1.0 if layout == "dense" else 0.4)
    solution, dual, expected = both(engine, X, y, LOSSES[loss](C), layout=layout, seed=seed)
    assert solution.n_iter > 3  # a run that ends at once shows nothing
    assert_same_run(solution, dual, expected)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("engine", reference.ALGORITHMS)
def test_same_run_with_intercept_weights_and_rows_of_zeros(engine, loss):
    X, y = classification(60, 5, seed=7)
    X[[3, 20]] = 0.0
    weights = np.random.default_rng(0).integers(0, 3, size=60).astype(float)
    for bias in (0.0, 0.5):
        solution, dual, expected = both(engine, X, y, LOSSES[loss](1.0), weights=weights, bias=bias)
        assert_same_run(solution, dual, expected)
        np.testing.assert_allclose(solution.intercept, bias * expected.w[-1], rtol=0, atol=1e-8)


def test_the_reference_itself_reaches_the_optimum():
    X, y = classification(40, 5, seed=1)
    for engine in reference.ALGORITHMS:
        for loss in LOSSES.values():
            dual = reference.Dual(X, y, loss(1.0))
            reference.ALGORITHMS[engine](dual, 1e-10, 1)
            violation, primal, value, gap = reference.certificate(dual)
            assert violation < 1e-9
            assert abs(gap) < 1e-9
            assert value == pytest.approx(primal, rel=1e-9)
