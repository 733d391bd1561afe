"""Odd but legal input, and the right answer to it."""

import numpy as np
import pytest
from fault_rows import row, rows_of
from problems import ENGINES, LOSSES, classification, csr, primal
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from hingeline import Hinge, LinearSVC, solve

X, Y = classification(40, 8, seed=51, density=0.5)
GAP = 1e-10


def optimum(X, y, loss, **how):
    """Return the solution by a coordinate engine and by Newton, which must agree."""
    found = [solve(X, y, loss, solver=engine, gap_tol=GAP, random_state=0, **how) for engine in ENGINES]
    for other in found[1:]:
        assert other.certificate.primal == pytest.approx(found[0].certificate.primal, rel=10 * GAP)
    return found


@row("x-zeros")
@pytest.mark.parametrize("bias", [0.0, 1.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_rows_of_zeros(loss, bias):
    loss = LOSSES[loss](0.7)
    zeros = [0, 5, 39]
    data = X.copy()
    data[zeros] = 0.0
    rest = np.delete(np.arange(40), zeros)
    for rows in (data, csr(data)):
        for solution in optimum(rows, Y, loss, bias=bias):
            value = primal(data, Y, solution.w, loss, intercept=solution.intercept, bias=bias or 1.0)
            assert solution.certificate.primal == pytest.approx(value, rel=1e-12)
            if not bias:  # they do not touch w: each costs C, and their alpha says so
                np.testing.assert_array_equal(solution.alpha[zeros], 0.7 if isinstance(loss, Hinge) else 1.4)
                expected = solve(data[rest], Y[rest], loss, gap_tol=GAP, random_state=0)
                np.testing.assert_allclose(solution.w, expected.w, rtol=0, atol=1e-4)
                assert value == pytest.approx(expected.certificate.primal + 3 * 0.7, rel=1e-9)


@pytest.mark.parametrize("engine", [*ENGINES, "auto"])
@pytest.mark.parametrize("loss", LOSSES)
def test_nothing_but_zeros(loss, engine):
    solution = solve(np.zeros((6, 3)), [1, -1, 1, -1, 1, -1], LOSSES[loss](2.0), solver=engine)
    assert solution.converged
    assert solution.certificate.gap == 0.0
    assert solution.certificate.primal == 12.0
    assert not solution.w.any()
    model = LinearSVC(loss=loss, solver=engine, fit_intercept=False).fit(sparse.csr_array((6, 3)), [0, 1, 0, 1, 0, 1])
    assert not model.coef_.any()
    model = LinearSVC(loss=loss, solver=engine).fit(np.zeros((6, 3)), [0, 1, 1, 1, 0, 1])
    assert (model.predict(np.zeros((2, 3))) == 1).all()  # the intercept still learns


def narrow(X):
    """Return CSR with 32-bit indices, for which all is compiled already."""
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def shuffled_within_rows(X):
    """Return CSR with the entries of each row in reverse order."""
    X = csr(X)
    for i in range(X.shape[0]):
        inside = slice(X.indptr[i], X.indptr[i + 1])
        X.indices[inside], X.data[inside] = X.indices[inside][::-1].copy(), X.data[inside][::-1].copy()
    return narrow(sparse.csr_array((X.data, X.indices, X.indptr), shape=X.shape))


def split_entries(X):
    """Return CSR with each entry stored twice, as 1/4 and 3/4 of it."""
    X = csr(X)
    parts = np.column_stack([0.25 * X.data, 0.75 * X.data]).ravel()
    return narrow(sparse.csr_array((parts, np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape))


def with_explicit_zeros(X):
    """Return CSR that stores every entry, zeros too."""
    n, d = X.shape
    return narrow(sparse.csr_array((X.ravel(), np.tile(np.arange(d), n), np.arange(n + 1) * d), shape=X.shape))


@row("sparse-order", "sparse-repeated", "sparse-zeros")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("make", [shuffled_within_rows, split_entries, with_explicit_zeros])
def test_other_ways_to_write_a_matrix(make, loss):
    base = X.astype(np.float32).astype(np.float64)  # so that quarters are exact
    data = make(base)
    stored = [part.copy() for part in (data.data, data.indices, data.indptr)]
    expected = solve(base, Y, LOSSES[loss](1.0), gap_tol=GAP, random_state=0)
    for solution in optimum(data, Y, LOSSES[loss](1.0)):
        assert solution.certificate.primal == pytest.approx(expected.certificate.primal, rel=1e-8)
        np.testing.assert_allclose(solution.w, expected.w, rtol=0, atol=1e-4)
    model = LinearSVC(loss=loss).fit(data, Y)
    np.testing.assert_allclose(model.decision_function(data), model.decision_function(base), rtol=1e-6, atol=1e-6)
    for part, before in zip((data.data, data.indices, data.indptr), stored, strict=True):
        np.testing.assert_array_equal(part, before)  # not even sorted


@pytest.mark.parametrize("engine", ENGINES)
def test_repeated_ones_count_twice(engine):
    data = narrow(sparse.csr_array((np.ones(8), [0, 0, 1, 0, 2, 2, 2, 1], [0, 3, 5, 7, 8]), shape=(4, 3)))
    y = [1, -1, 1, -1]
    expected = solve(data.toarray(), y, gap_tol=GAP, solver=engine, random_state=0)
    solution = solve(data, y, gap_tol=GAP, solver=engine, random_state=0)
    np.testing.assert_allclose(solution.w, expected.w, rtol=0, atol=1e-4)
    assert solution.certificate.primal == pytest.approx(expected.certificate.primal, rel=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
def test_empty_columns_get_no_weight(engine):
    data = X.copy()
    data[:, [0, 4, 7]] = 0.0
    for rows in (data, csr(data)):
        model = LinearSVC(solver=engine, random_state=0).fit(rows, Y)
        assert not model.coef_[0, [0, 4, 7]].any()
        assert model.coef_[0, [1, 2, 3]].all()


@row("weights-some-zero")
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_weight_of_zero_drops_the_row(loss, n_classes, class_weight):
    data, y = classification(60, 5, seed=52, n_classes=n_classes)
    weights = np.random.default_rng(1).integers(0, 3, size=60).astype(float)
    model = LinearSVC(loss=loss, class_weight=class_weight).fit(data, y, sample_weight=weights)
    left = weights > 0.0
    dropped = LinearSVC(loss=loss, class_weight=class_weight).fit(data[left], y[left], sample_weight=weights[left])
    repeat = weights.astype(int)
    repeated = LinearSVC(loss=loss, class_weight=class_weight).fit(data.repeat(repeat, axis=0), y.repeat(repeat))
    for other in (dropped, repeated):
        np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-7, atol=1e-8)
        np.testing.assert_allclose(model.intercept_, other.intercept_, rtol=1e-7, atol=1e-8)
    assert not model.dual_coef_[..., ~left].any()


@row("labels-contradictory")
@pytest.mark.parametrize("engine", ENGINES)
def test_contradictory_rows(engine):
    data = np.array([[0.5, 1.0], [0.5, 1.0], [-1.0, 2.0], [-1.0, 2.0]])
    for loss in LOSSES.values():
        for bias in (0.0, 1.0):
            solution = solve(data, [1, -1, -1, 1], loss(1.0), solver=engine, bias=bias)
            assert solution.converged
            assert solution.certificate.gap < 1e-3
            np.testing.assert_allclose(solution.w, 0.0, atol=1e-3)


@pytest.mark.parametrize("engine", ENGINES)
def test_one_feature_and_two_rows(engine):
    solution = solve([[1.0], [-3.0]], [1, -1], solver=engine, gap_tol=GAP, random_state=0)
    np.testing.assert_allclose(solution.w, [1.0], atol=1e-5)
    model = LinearSVC(solver=engine).fit([[1.0], [-3.0]], ["b", "a"])
    assert model.predict([[2.0], [-2.0]]).tolist() == ["b", "a"]


@row("x-wide")
def test_more_features_than_rows():
    data, y = classification(15, 300, seed=53, density=0.2)
    for loss in LOSSES.values():
        for solution in optimum(csr(data), y, loss(1.0)):
            assert solution.certificate.gap <= GAP


@row("parameter-alpha0")
def test_a_start_outside_of_the_box_is_moved_into_it():
    expected = solve(X, Y, solver="avsf", gap_tol=GAP, random_state=0)
    for alpha0 in (np.full(40, -1.0), np.full(40, 1e6), expected.alpha):
        solution = solve(X, Y, solver="avsf", gap_tol=GAP, alpha0=alpha0, random_state=0)
        assert solution.certificate.primal == pytest.approx(expected.certificate.primal, rel=1e-9)
    assert solution.n_iter < expected.n_iter


def swapped(array):
    """Return numbers in the other byte order."""
    return array.astype(array.dtype.newbyteorder())


def read_only(array):
    array = array.copy()
    array.flags.writeable = False
    return array


ODD = {
    "types: float16": lambda X: X.astype(np.float16),
    "types: longdouble": lambda X: X.astype(np.longdouble),
    "types: object": lambda X: X.astype(object),
    "types: text": lambda X: X.astype(str),
    "types: large integers": lambda X: (2.0**40 * X).astype(np.int64),
    "layout: columns": np.asfortranarray,
    "layout: strided": lambda X: X.repeat(2, axis=0).repeat(3, axis=1)[::2, ::3],
    "layout: reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "layout: byte order": swapped,
    "layout: read-only": read_only,
    "layout: list": np.ndarray.tolist,
    "layout: not masked": np.ma.masked_array,
}


@rows_of("x", ODD)
@pytest.mark.parametrize("name", ODD)
def test_numbers_of_every_kind(name):
    base = np.round(64.0 * X) / 64.0  # exact in every type
    expected = LinearSVC().fit(base, Y).decision_function(base)
    odd = ODD[name](base)
    found = LinearSVC(C=2.0**-80 if "integers" in name else 1.0).fit(odd, Y).decision_function(odd)
    if "integers" not in name:  # the constant feature of the intercept is not scaled with them
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert np.isfinite(found).all()


INDICES = {
    "int64": lambda indices: indices.astype(np.int64),
    "int16": lambda indices: indices.astype(np.int16),
    "uint32": lambda indices: indices.astype(np.uint32),
    "byte order": swapped,
    "read-only": read_only,
}


@row("sparse-indices")
@pytest.mark.parametrize("name", INDICES)
def test_indices_of_every_kind(name):
    data = csr(X)
    data.indices, data.indptr = INDICES[name](data.indices), INDICES[name](data.indptr)
    model = LinearSVC().fit(data, Y)
    np.testing.assert_allclose(model.coef_, LinearSVC().fit(csr(X), Y).coef_, rtol=1e-9, atol=1e-9)


@row("sparse-formats")
@pytest.mark.parametrize("kind", ["csc", "coo", "bsr", "lil", "dok", "dia"])
def test_sparse_formats(kind):
    model = LinearSVC().fit(csr(X).asformat(kind), Y)
    np.testing.assert_allclose(model.coef_, LinearSVC().fit(csr(X), Y).coef_, rtol=1e-9, atol=1e-9)


LABELS = [["no", "yes"], [False, True], [1, 2**63 - 1], [-(2**62), 2**62], [0.0, 1e300]]


@row("labels-types")
@pytest.mark.parametrize("labels", LABELS, ids=str)
def test_labels_of_every_kind(labels):
    model = LinearSVC().fit(X, [labels[int(y > 0)] for y in Y])
    assert model.classes_.tolist() == labels
    assert set(model.predict(X)) <= set(labels)


@row("labels-column")
def test_labels_in_a_column():
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        model = LinearSVC().fit(X, Y[:, None])
    assert model.classes_.tolist() == [-1, 1]
