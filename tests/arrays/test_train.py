"""Training on arrays ends at the optimum of the CPU's engines, with a certificate that is as good."""

import numpy as np
import pytest
from problems import EVERY_LOSS, classification, csr, regression

from hingeline import solve
from hingeline.solvers.stop import Stop

STOP = Stop(1e-3, 1e-9, None, None)


def trained(library, X, y, loss, *, bias, free, weights=None, solver="auto", stop=STOP, **how):
    from hingeline.arrays.problem import make_array_problem
    from hingeline.arrays.rows import array_rows
    from hingeline.arrays.train import train_arrays

    there = library.put(X) if isinstance(X, np.ndarray) else library.sparse(X)
    weights = None if weights is None else library.put(weights)
    problem = make_array_problem(array_rows(there, bias), library.put(y.astype(float)), weights, loss)
    return train_arrays(problem, solver, stop, free=free, **how)


@pytest.mark.parametrize(("bias", "free"), [(0.0, False), (1.0, True)])
@pytest.mark.parametrize("name", sorted(EVERY_LOSS))
def test_the_optimum_of_the_cpu(library, name, bias, free):
    loss = EVERY_LOSS[name](0.7)
    X, y = (regression if loss.is_regression else classification)(400, 8, seed=1)
    X[3] = 0.0
    weights = np.random.default_rng(0).choice([0.0, 0.5, 2.0], 400)
    here = solve(X, y, loss, bias=bias, free_intercept=free, sample_weight=weights, gap_tol=1e-9)
    there = trained(library, X, y, loss, bias=bias, free=free, weights=weights)
    assert there.converged
    assert there.certificate.gap <= 1e-9
    assert there.certificate.primal == pytest.approx(here.certificate.primal, rel=2e-9)
    np.testing.assert_allclose(there.w, here.w, atol=1e-3)


@pytest.mark.parametrize("name", ["squared_hinge", "logistic", "hinge"])
def test_many_features_by_products(library, name):
    """With more features than a dense factor is made for, conjugate gradients find the directions."""
    X, y = classification(300, 2100, seed=2, density=0.02)
    loss, matrix = EVERY_LOSS[name](1.0), X if library.name == "strict" else csr(X)
    there = trained(library, matrix, y, loss, bias=1.0, free=False, stop=Stop(1e-3, 1e-6, None, None))
    here = solve(X, y, loss, bias=1.0, gap_tol=1e-8)
    assert there.certificate.gap <= 1e-6
    assert there.certificate.primal == pytest.approx(here.certificate.primal, rel=2e-6)


def test_a_model_that_is_only_scored_ends_once_it_is_near_enough(library):
    X, y = classification(500, 10, seed=3)
    how = {"bias": 1.0, "free": False, "solver": "newton"}
    near = trained(library, X, y, EVERY_LOSS["hinge"](1.0), stop=Stop(1e-12, enough=1e-12, near=0.02), **how)
    done = trained(library, X, y, EVERY_LOSS["hinge"](1.0), stop=Stop(1e-12, enough=1e-12), **how)
    assert near.n_iter < done.n_iter
    w = np.append(near.w, near.intercept)
    assert near.certificate.gap * near.certificate.primal <= 0.02 * 0.5 * (w @ w)


def test_starts_and_caps(library):
    X, y = classification(500, 10, seed=3)
    loss = EVERY_LOSS["hinge"](1.0)
    how = {"bias": 1.0, "free": False}
    capped = trained(library, X, y, loss, stop=Stop(1e-3, 1e-12, 2, None), **how)
    assert (capped.stop_reason, capped.n_iter, capped.converged) == ("max_iter", 2, False)
    done = trained(library, X, y, loss, **how)
    again = trained(library, X, y, loss, w0=np.append(done.w, done.intercept), alpha0=done.alpha, **how)
    assert again.n_iter < done.n_iter
    with pytest.raises(ValueError, match="one row at a time"):
        trained(library, X, y, loss, solver="hybrid", **how)
    with pytest.raises(ValueError, match="smooth"):
        trained(library, X, y, loss, solver="newton_cg", **how)
