"""The verbs of each row view against NumPy, compiled (through the passes that call them) and not."""

import numpy as np
import pytest
from problems import every_layout
from scipy import sparse

from hingeline.data.read import read_data, read_matrix
from hingeline.kernels import passes
from hingeline.kernels.compile import kernel
from hingeline.kernels.gram import BLOCK, WIDE, add_gram, room_for_gram
from hingeline.kernels.lookahead import RECORD_AHEAD, look_ahead
from hingeline.kernels.rows import (
    CsrRows,
    DenseRows,
    OnesRows,
    axpy,
    dot,
    prefetch_pointers,
    prefetch_row,
    prefetch_weights,
    squared_norm,
    summed_norm,
)

N, D = 9, 5
RNG = np.random.default_rng(0)


def stored_twice(ones):
    """Return CSR with repeated and unsorted indices; each row sums them up."""
    indices = RNG.integers(D, size=4 * N)
    data = np.ones(4 * N) if ones else RNG.normal(size=4 * N).astype(np.float32).astype(np.float64)
    return sparse.csr_array((data, indices, 4 * np.arange(N + 1)), shape=(N, D))


def matrices():
    """Yield (name, matrix): every layout, of general values and of ones, and with repeated indices."""
    X = RNG.normal(size=(N, D)) * (RNG.random((N, D)) < 0.6)
    X[4] = 0.0
    yield from every_layout(X)
    for name, ones in every_layout((X != 0.0).astype(np.float64)):
        yield f"ones-{name}", ones
    yield "repeated", stored_twice(ones=False)
    yield "repeated-ones", stored_twice(ones=True)


MATRICES = dict(matrices())
ALL = pytest.mark.parametrize("name", MATRICES)
BIAS = pytest.mark.parametrize("bias", [0.0, 1.5])


def read(name, bias):
    """Return the view, and the dense float64 matrix with the constant feature."""
    X = MATRICES[name]
    matrix = read_matrix(X, bias)
    dense = (X.toarray() if sparse.issparse(X) else X).astype(np.float64)
    return matrix, np.column_stack([dense, np.full(N, bias)])


@ALL
def test_the_view_is_the_leanest(name):
    expected = DenseRows if "dense" in name else OnesRows if "ones" in name else CsrRows
    assert type(read(name, 0.0)[0].rows) is expected


@ALL
@BIAS
def test_dot(name, bias):
    matrix, dense = read(name, bias)
    w, out = RNG.normal(size=D + 1), np.empty(N)
    passes.scores(matrix.rows, w, out, 0, N)
    np.testing.assert_allclose(out, dense @ w, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose([dot(matrix.rows, np.uint64(i), w) for i in range(N)], dense @ w, rtol=1e-13, atol=1e-14)


@ALL
@BIAS
def test_axpy(name, bias):
    matrix, dense = read(name, bias)
    alpha, y = np.abs(RNG.normal(size=N)), np.where(np.arange(N) % 2, 1.0, -1.0)
    alpha[2] = 0.0
    start = RNG.normal(size=D + 1)
    w, plain = start.copy(), start.copy()
    passes.add_weights(matrix.rows, alpha, y, w, 0, N)
    for i in range(N):
        axpy(matrix.rows, np.uint64(i), alpha[i] * y[i], plain)
    for found in (w, plain):
        np.testing.assert_allclose(found, start + (alpha * y) @ dense, rtol=1e-13, atol=1e-14)


@ALL
@BIAS
def test_squared_norm(name, bias):
    matrix, dense = read(name, bias)
    assert matrix.distinct == (not name.startswith("repeated"))
    q = np.empty(N)
    for distinct in {False, matrix.distinct}:
        scratch = np.zeros(D + 1)
        if distinct:
            extent = passes.squared_norms(matrix.rows, q, 0, N)
        else:
            extent = passes.summed_norms(matrix.rows, scratch, q, 0, N)
        np.testing.assert_allclose(extent, (q.min(), q.max(), q.sum()), rtol=1e-13)
        np.testing.assert_allclose(q, np.sum(dense**2, axis=1), rtol=1e-13)
        assert not scratch.any()  # left as it was found
        norm = squared_norm if distinct else lambda rows, i, scratch=scratch: summed_norm(rows, i, scratch)
        plain = [norm(matrix.rows, np.uint64(i)) for i in range(N)]
        np.testing.assert_allclose(plain, q, rtol=1e-13)
        assert not scratch.any()


@ALL
@BIAS
def test_gram(name, bias):
    matrix, dense = read(name, bias)
    s = RNG.normal(size=N)
    s[1] = 0.0
    G = np.zeros((D + 1, D + 1))
    room = room_for_gram(matrix.rows)
    add_gram(matrix.rows, s, matrix.distinct, G, room, 0, 2)
    add_gram(matrix.rows, s, matrix.distinct, G, room, 2, N)
    np.testing.assert_allclose(np.triu(G), np.triu(dense.T @ (s[:, None] * dense)), atol=1e-12)


@pytest.mark.parametrize("ones", [False, True])
def test_gram_of_many_columns(ones):
    """From so many columns on, sparse rows fill the matrix in another order."""
    d = int(WIDE) + 20
    X = sparse.random_array((30, d), density=0.05, format="csr", rng=np.random.default_rng(3))
    X.data = np.ones_like(X.data) if ones else X.data
    s = np.random.default_rng(4).normal(size=30)
    matrix, G = read_data(X, bias=2.0), np.zeros((d + 1, d + 1))
    add_gram(matrix.rows, s, matrix.distinct, G, room_for_gram(matrix.rows), 0, 30)
    dense = np.column_stack([X.toarray(), np.full(30, 2.0)])
    assert matrix.distinct
    np.testing.assert_allclose(np.triu(G), np.triu(dense.T @ (s[:, None] * dense)), atol=1e-12)


@pytest.mark.parametrize("n", [BLOCK - 1, BLOCK, 3 * BLOCK + 5])
def test_gram_of_many_dense_rows(n):
    X, s = RNG.normal(size=(n, 4)), RNG.normal(size=n) * (RNG.random(n) < 0.7)
    G = np.zeros((5, 5))
    rows = read_data(X, bias=2.0).rows
    add_gram(rows, s, True, G, room_for_gram(rows), 0, n)
    dense = np.column_stack([X, np.full(n, 2.0)])
    np.testing.assert_allclose(np.triu(G), np.triu(dense.T @ (s[:, None] * dense)), atol=1e-10)


@pytest.mark.parametrize("name", [name for name in MATRICES if "dense" not in name])
def test_scores_of_many(name):
    matrix, dense = read(name, 0.0)
    W, out = RNG.normal(size=(D, 3)), np.full((N, 3), np.nan)
    passes.scores_of_many(matrix.rows, W, out, 0, 4)
    passes.scores_of_many(matrix.rows, W, out, 4, N)
    np.testing.assert_allclose(out, dense[:, :-1] @ W, rtol=1e-13, atol=1e-14)


@kernel
def prefetch_everything(rows, alpha, w, order):
    for k in range(np.uint64(order.size)):
        prefetch_pointers(rows, order[k])
        prefetch_row(rows, order[k])
        prefetch_weights(rows, order[k], w)
        if k + RECORD_AHEAD < np.uint64(order.size):
            look_ahead(rows, alpha, alpha, w, order, k)


@pytest.mark.parametrize("name", ["dense-float32", "csr-int32-float64", "ones-csr-int64-float32", "repeated"])
@pytest.mark.parametrize("n_weights", [D + 1, 2**15 + 1])
def test_prefetch_changes_nothing(name, n_weights):
    rows = read(name, 0.0)[0].rows
    alpha, w = RNG.normal(size=2 * N)[::2], RNG.normal(size=n_weights)
    before = alpha.copy(), w.copy()
    order = RNG.integers(N, size=40).astype(np.uint32)
    prefetch_everything(rows, alpha, w, order)
    prefetch_everything.py_func(rows, alpha, w, order)  # nor does it where nothing is compiled
    np.testing.assert_array_equal(alpha, before[0])
    np.testing.assert_array_equal(w, before[1])
