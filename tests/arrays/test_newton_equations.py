"""Newton's equations by conjugate gradients and by factors of the rows' products, compared with dense matrices."""

import numpy as np
import pytest

from hingeline.arrays.gradients import gradients_of
from hingeline.arrays.row_factors import ROWS_PER_PRODUCT, RowFactors
from hingeline.arrays.rows import array_rows

scipy_sparse = pytest.importorskip("scipy.sparse")
ROWS, COLUMNS, BIAS = 70, 130, 1.5


def equations(library, sparse, n_problems, free):
    """Return rows, curvatures S and residuals R there, the diagonal of the regulariser, and the solutions."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(ROWS, COLUMNS)) * (rng.random((ROWS, COLUMNS)) < np.linspace(0.02, 0.9, COLUMNS))
    S = rng.random((n_problems, ROWS)) * (rng.random((n_problems, ROWS)) < 0.7)
    R = rng.normal(size=(n_problems, COLUMNS + 1))
    regularised = np.append(np.ones(COLUMNS), 0.0 if free else 1.0)
    Z = np.column_stack([X, np.full(ROWS, BIAS)])
    expected = [-np.linalg.solve(np.diag(regularised) + Z.T @ (s[:, None] * Z), r) for s, r in zip(S, R, strict=True)]
    there = library.sparse(scipy_sparse.csr_matrix(X)) if sparse else library.put(X)
    rows = array_rows(there, BIAS)
    return rows, library.put(S), library.put(R), library.put(regularised), np.array(expected)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("n_problems", [1, 3])
def test_conjugate_gradients(library, sparse, free, n_problems):
    rows, S, R, regularised, expected = equations(library, sparse, n_problems, free)
    gradients = gradients_of(rows, regularised, free)
    for _ in range(2):  # on CUDA the second time replays what the first has recorded
        P = library.back(gradients.solve(S, R, np.full(n_problems, 1e-9)))
        assert P == pytest.approx(expected, rel=1e-6, abs=1e-7)
    assert gradients.n_products > 0


def test_conjugate_gradients_stop_when_a_problem_is_solved_well_enough(library):
    rows, S, R, regularised, expected = equations(library, False, 3, False)
    lengths = np.linalg.norm(library.back(R), axis=1)
    gradients = gradients_of(rows, regularised, False)
    P = library.back(gradients.solve(S, R, np.array([2.0 * lengths[0], 0.1 * lengths[1], 1e-9])))
    assert not P[0].any()
    assert 1e-6 < np.abs(P[1] - expected[1]).max() < 0.5
    assert P[2] == pytest.approx(expected[2], rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("free", [False, True])
def test_factors_of_products_of_rows(library, sparse, free):
    rows, S, R, _, expected = equations(library, sparse, 2, free)
    assert library.back(RowFactors(rows, free).solve(S, R)) == pytest.approx(expected, rel=1e-8, abs=1e-9)


def test_without_curvature_the_direction_is_the_gradient(library):
    rows, S, R, _, _ = equations(library, False, 1, False)
    P = RowFactors(rows, False).solve(0.0 * S, R)
    assert library.back(P) == pytest.approx(-library.back(R))


def test_factors_pay_after_as_many_products_as_they_cost(library):
    rows, S, _, _, _ = equations(library, False, 1, False)
    factors = RowFactors(rows, False)
    assert not factors.pay(S, 0)
    assert factors.pay(S, 1)  # ROWS is far below what a product is worth
    assert ROWS < ROWS_PER_PRODUCT
    assert not factors.pay(1e12 * S, 1)  # too badly conditioned


def test_products_of_rows(library):
    for sparse in (False, True):
        if sparse and library.name == "strict":
            continue
        rng = np.random.default_rng(1)
        X = rng.normal(size=(200, 90)) * (rng.random((200, 90)) < np.linspace(0.0, 0.5, 90))
        rows = array_rows(library.sparse(scipy_sparse.csr_matrix(X)) if sparse else library.put(X), 2.0)
        assert library.back(rows.products_of_rows()) == pytest.approx(X @ X.T)


def test_hessians_pay_for_few_problems_that_need_many_products(library):
    rows, S, R, regularised, _ = equations(library, False, 3, False)
    gradients = gradients_of(rows, regularised, False)
    assert not gradients.hessians_pay(S)  # nothing is known yet
    gradients.solve(S, R, np.full(3, 1e-9))
    assert gradients.n_last == gradients.n_products
    assert gradients.hessians_pay(S)
    gradients.n_last = 2
    assert not gradients.hessians_pay(S)
