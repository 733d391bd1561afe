"""Problems that are trained together end where each would alone."""

import numpy as np
import pytest
from fault_rows import row
from problems import EVERY_LOSS, classification, regression

from hingeline import solve
from hingeline.solvers.stop import Stop

GAP = Stop(1e-3, 1e-8, None, None)


def batch(library, X, targets, weights, loss, stop, bias=1.0, **how):
    from hingeline.arrays.batch import train_together
    from hingeline.arrays.problem import make_array_problem
    from hingeline.arrays.rows import array_rows

    rows = array_rows(library.put(X) if isinstance(X, np.ndarray) else library.sparse(X), bias)

    def make(k):
        w = None if weights[k] is None else library.put(weights[k])
        return make_array_problem(rows, library.put(targets[k].astype(float)), w, loss)

    return train_together(make, len(targets), stop, **how)


def problems(is_regression, n=300):
    """Return X, targets and weights of five problems: classes and folds, or weights alone."""
    fold = (np.arange(n) % 5 != 0).astype(float)
    if is_regression:
        X, y = regression(n, 6, seed=1)
        return X, [y] * 3, [None, fold, 30.0 * fold]
    X, y = classification(n, 6, seed=1, n_classes=3)
    signs = [np.where(y == k, 1, -1) for k in range(3)]
    return X, [*signs, signs[0], signs[1]], [None, None, None, fold, 30.0 * fold]


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("name", EVERY_LOSS)
def test_classes_and_folds(library, name, free):
    loss = EVERY_LOSS[name](2.0)
    if free and loss.is_regression:
        pytest.skip("not trained together")
    X, targets, weights = problems(loss.is_regression)
    found = batch(library, X, targets, weights, loss, GAP, free=free)
    for s, y, w in zip(found, targets, weights, strict=True):
        alone = solve(X, y, loss, bias=1.0, sample_weight=w, gap_tol=1e-9, free_intercept=free)
        assert s.converged
        assert s.certificate.gap <= 1e-8
        assert s.certificate.primal == pytest.approx(alone.certificate.primal, rel=1e-7)
        np.testing.assert_allclose(s.w, alone.w, atol=1e-3)
        total = library.back(s.alpha) * (1.0 if loss.is_regression else y)
        np.testing.assert_allclose(s.w, total @ X, atol=1e-3)
        if free:
            assert abs(total.sum()) <= 1e-9 * np.abs(total).sum()


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("name", ["squared_hinge", "logistic"])
def test_by_conjugate_gradients(library, name, free, monkeypatch):
    from hingeline.arrays import together

    monkeypatch.setattr(together, "FEW_COLUMNS", 1)
    loss = EVERY_LOSS[name](2.0)
    X, targets, weights = problems(False)
    found = batch(library, X, targets, weights, loss, GAP, free=free)
    for s, y, w in zip(found, targets, weights, strict=True):
        alone = solve(X, y, loss, bias=1.0, sample_weight=w, gap_tol=1e-9, free_intercept=free)
        assert s.solver == "newton_cg"
        assert s.certificate.gap <= 1e-8
        assert s.certificate.primal == pytest.approx(alone.certificate.primal, rel=1e-7)


@pytest.mark.parametrize("name", ["squared_hinge", "hinge"])
def test_sparse_rows_some_of_zeros(library, name):
    from scipy.sparse import csr_array

    loss = EVERY_LOSS[name](1.0)
    X, targets, weights = problems(False)
    X[::7] = 0.0
    for s, y, w in zip(batch(library, csr_array(X), targets, weights, loss, GAP, 0.0), targets, weights, strict=True):
        alone = solve(X, y, loss, sample_weight=w, gap_tol=1e-9)
        assert s.certificate.primal == pytest.approx(alone.certificate.primal, rel=1e-7)
        np.testing.assert_allclose(library.back(s.alpha)[::7], alone.alpha[::7])


@pytest.mark.parametrize("name", ["hinge", "squared_hinge"])
def test_a_sample_and_starts(library, name):
    """Wherever training begins, the rule of solver="auto" holds."""
    loss = EVERY_LOSS[name](1.0)
    X, y = classification(6_000, 3, seed=4)
    fold = (np.arange(len(y)) % 4 != 0).astype(float)
    targets, weights, stop = [y, y], [None, fold], Stop(1e-3, None, None, None)
    found = batch(library, X, targets, weights, loss, stop)
    starts = np.array([np.append(s.w, s.intercept) for s in found])
    again = batch(library, X, targets, weights, loss, stop, starts=starts)
    for s, other, w in zip(found, again, weights, strict=True):
        assert s.certificate.violation < 1e-3 or s.certificate.gap <= 1e-6
        expected = solve(X, y, loss, bias=1.0, sample_weight=w).certificate.primal
        assert s.certificate.primal == pytest.approx(expected, rel=1e-5)
        assert other.certificate.primal == pytest.approx(expected, rel=1e-5)


def test_what_is_left_is_trained_alone(library, monkeypatch):
    from hingeline.arrays import batch as module

    monkeypatch.setattr(module, "MOST_IF_SMOOTH", 1)
    X, y = classification(200, 5, seed=2)
    (s,) = batch(library, X, [y], [None], EVERY_LOSS["logistic"](5.0), Stop(1e-3, 1e-9, None, None))
    assert s.certificate.gap <= 1e-9


@row("device-memory")
def test_chunks_by_free_memory(library, monkeypatch):
    from hingeline.arrays import memory
    from hingeline.arrays.batch import HESSIANS, VECTORS

    X, y = classification(200, 5, seed=2)

    def bytes_for(n_rows):
        return 8 * (n_rows * VECTORS + HESSIANS * 6**2) / memory.SHARE

    monkeypatch.setattr(memory, "free_bytes", lambda place: 2 * bytes_for(200))
    found = batch(library, X, [y, -y, y], [None] * 3, EVERY_LOSS["squared_hinge"](1.0), GAP)
    np.testing.assert_allclose(found[0].w, -found[1].w, atol=1e-6)
    np.testing.assert_allclose(found[0].w, found[2].w, atol=1e-6)
    monkeypatch.setattr(memory, "free_bytes", lambda place: bytes_for(100))
    with pytest.raises(MemoryError, match="at most 100 rows"):
        batch(library, X, [y], [None], EVERY_LOSS["squared_hinge"](1.0), GAP)
