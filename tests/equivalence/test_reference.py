"""Engines against the slow reference: the same schedule, visit by visit, and so the same numbers up to rounding.

The order of a sum depends on the CPU, and the last digits decide when a run stops. So trajectories are compared after a
fixed number of sweeps, and whole runs by what they reach.
"""

import numpy as np
import pytest
import reference
from problems import LOSSES, classification, csr

from hingeline import solve

LAYOUTS = {"dense": np.ascontiguousarray, "csr": csr}
TOL = 1e-6


def both(engine, X, y, loss, *, layout="dense", sweeps=None, seed=0, weights=None, bias=0.0):
    """Return the engine's solution, and the dual of the reference after its run."""
    tol = TOL if sweeps is None else 1e-12  # the first sweeps do not stop
    how = {"tol": tol, "max_iter": sweeps, "random_state": seed, "sample_weight": weights, "bias": bias}
    solution = solve(LAYOUTS[layout](X), y, loss, solver=engine, **how)
    word = int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
    dual = reference.Dual(X, y, loss, weights=1.0 if weights is None else weights, bias=bias)
    n_sweeps = reference.ALGORITHMS[engine](dual, tol, word, np.inf if sweeps is None else sweeps)
    assert n_sweeps == sweeps if sweeps else n_sweeps > 3  # a run that ends at once shows nothing
    return solution, dual


def assert_same_trajectory(solution, dual, sweeps, bias=1.0):
    assert solution.n_iter == sweeps
    np.testing.assert_allclose(solution.alpha, dual.alpha, rtol=0, atol=1e-10)
    np.testing.assert_allclose(solution.w, dual.w[:-1], rtol=0, atol=1e-10)
    np.testing.assert_allclose(solution.intercept, bias * dual.w[-1], rtol=0, atol=1e-10)
    np.testing.assert_allclose(solution.certificate, reference.certificate(dual), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("sweeps", [1, 2, 6])
@pytest.mark.parametrize("C", [0.1, 3.0])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("engine", reference.ALGORITHMS)
def test_same_sweeps(engine, layout, loss, C, sweeps):
    for seed in range(3):
        X, y = classification(50, 6, seed=seed, density=1.0 if layout == "dense" else 0.4)
        solution, dual = both(engine, X, y, LOSSES[loss](C), layout=layout, sweeps=sweeps, seed=seed)
        assert_same_trajectory(solution, dual, sweeps)


@pytest.mark.parametrize("bias", [0.0, 0.5])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("engine", reference.ALGORITHMS)
def test_same_sweeps_with_intercept_weights_and_rows_of_zeros(engine, loss, bias):
    X, y = classification(60, 5, seed=7)
    X[[3, 20]] = 0.0
    weights = np.random.default_rng(0).integers(0, 3, size=60).astype(float)
    for sweeps in (1, 4):
        solution, dual = both(engine, X, y, LOSSES[loss](1.0), sweeps=sweeps, weights=weights, bias=bias)
        assert_same_trajectory(solution, dual, sweeps, bias)


@pytest.mark.parametrize("C", [0.1, 3.0])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("engine", reference.ALGORITHMS)
def test_same_end(engine, loss, C):
    X, y = classification(50, 6, seed=1)
    solution, dual = both(engine, X, y, LOSSES[loss](C))
    assert solution.stop_reason == "tol"
    violation, primal, value, _ = reference.certificate(dual)
    # A sweep sees each variable at another w: at its end the exact violation may be a little larger than the tolerance.
    assert max(solution.certificate.violation, violation) < 10.0 * TOL
    assert solution.certificate.primal == pytest.approx(primal, rel=1e-5)
    assert solution.certificate.dual == pytest.approx(value, rel=1e-8)


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
