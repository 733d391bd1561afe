"""Problems that are trained together end where each would alone."""

import numpy as np
import pytest
from fault_rows import row
from problems import EVERY_LOSS, classification

from hingeline import solve
from hingeline.solvers.stop import Stop


def batch(library, X, signs, weights, loss, stop, bias=1.0):
    from hingeline.arrays.batch import train_together
    from hingeline.arrays.problem import make_array_problem
    from hingeline.arrays.rows import array_rows

    rows = array_rows(library.put(X), bias)
    problems = [
        make_array_problem(rows, library.put(y.astype(float)), None if w is None else library.put(w), loss)
        for y, w in zip(signs, weights, strict=True)
    ]
    return train_together(problems, stop)


@pytest.mark.parametrize("few_columns", [True, False])
@pytest.mark.parametrize("name", ["squared_hinge", "logistic"])
def test_classes_and_folds(library, name, few_columns, monkeypatch):
    from hingeline.arrays import batch as module

    if not few_columns:
        monkeypatch.setattr(module, "FEW_COLUMNS", 1)
    loss = EVERY_LOSS[name](2.0)
    X, y = classification(300, 6, seed=1, n_classes=3)
    signs = [np.where(y == k, 1, -1) for k in range(3)]
    fold = (np.arange(300) % 5 != 0).astype(float)
    several = [*signs, signs[0], signs[1]], [None, None, None, fold, 30.0 * fold]
    found = batch(library, X, *several, loss, Stop(1e-3, 1e-8, None, None))
    for s, signs_k, weights in zip(found, *several, strict=True):
        alone = solve(X, signs_k, loss, bias=1.0, sample_weight=weights, gap_tol=1e-9)
        assert s.converged
        assert s.certificate.gap <= 1e-8
        assert s.certificate.primal == pytest.approx(alone.certificate.primal, rel=1e-7)
        np.testing.assert_allclose(s.w, alone.w, atol=1e-3)
        np.testing.assert_allclose(library.back(s.alpha), alone.alpha, atol=1e-2)


def test_what_is_left_is_trained_alone(library, monkeypatch):
    from hingeline.arrays import batch as module

    monkeypatch.setattr(module, "MOST_STEPS", 1)
    X, y = classification(200, 5, seed=2)
    (s,) = batch(library, X, [y], [None], EVERY_LOSS["logistic"](5.0), Stop(1e-3, 1e-9, None, None))
    assert s.certificate.gap <= 1e-9


@row("device-memory")
def test_chunks_by_free_memory(library, monkeypatch):
    from hingeline.arrays import memory

    X, y = classification(200, 5, seed=2)
    monkeypatch.setattr(memory, "free_bytes", lambda place: 2 * 8 * 200 * 16 / memory.SHARE)
    found = batch(library, X, [y, -y, y], [None] * 3, EVERY_LOSS["squared_hinge"](1.0), Stop(1e-3, 1e-9, None, None))
    np.testing.assert_allclose(found[0].w, -found[1].w, atol=1e-6)
    np.testing.assert_allclose(found[0].w, found[2].w, atol=1e-6)
    monkeypatch.setattr(memory, "free_bytes", lambda place: 8 * 100 * 16 / memory.SHARE)
    with pytest.raises(MemoryError, match="100 rows would fit"):
        batch(library, X, [y], [None], EVERY_LOSS["squared_hinge"](1.0), Stop(1e-3, 1e-9, None, None))
