"""Every container of X gives the model of the dense array, and X is not copied where its layout fits."""

import joblib
import numpy as np
import pytest
from fault_rows import row
from problems import classification, csr, every_layout
from scipy import sparse

from hingeline import LinearSVC, solve
from hingeline.data.read import read_data
from hingeline.kernels.rows import CsrRows, DenseRows, OnesRows

X, Y = classification(60, 8, seed=31, density=0.4)
NAMES = [f"f{j}" for j in range(8)]

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

FRAMES = {
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "pandas-sparse": lambda X: pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X), columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "pyarrow": lambda X: pa.table({name: X[:, j] for j, name in enumerate(NAMES)}),
}
FORMATS = ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]
SPARSE = {name: getattr(sparse, name) for form in FORMATS for name in (f"{form}_matrix", f"{form}_array")}
DENSE = {
    "list": lambda X: X.tolist(),
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "big-endian": lambda X: X.astype(">f8"),
    "longdouble": lambda X: X.astype(np.longdouble),
    "object": lambda X: X.astype(object),
    "masked-none": lambda X: np.ma.masked_array(X),
}
CONTAINERS = {**FRAMES, **SPARSE, **DENSE}


@pytest.fixture(scope="module")
def expected():
    return LinearSVC(loss="hinge").fit(X, Y)


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container(container, expected):
    data = CONTAINERS[container](X)
    model = LinearSVC(loss="hinge").fit(data, Y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(model.decision_function(data), expected.decision_function(X), rtol=1e-8, atol=1e-9)
    np.testing.assert_array_equal(model.predict(data), expected.predict(X))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint8, bool, np.float16, np.float32])
@pytest.mark.parametrize("make", [np.asarray, csr], ids=["dense", "csr"])
def test_every_type_of_value(make, dtype):
    whole = np.round(3.0 * np.abs(X)).astype(dtype)
    data = whole if make is np.asarray else csr(whole, value=dtype) if dtype != np.float16 else csr(whole, value="f4")
    expected = LinearSVC(loss="hinge").fit(whole.astype(np.float64), Y)
    model = LinearSVC(loss="hinge").fit(data, Y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(model.decision_function(data), expected.decision_function(whole), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("labels", [pd.Series, pl.Series, pa.array, list, lambda y: y.reshape(-1)])
def test_labels_and_names(frame, labels, expected):
    model = LinearSVC(loss="hinge").fit(FRAMES[frame](X), labels(Y))
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9, atol=1e-10)
    assert model.feature_names_in_.tolist() == NAMES


@row("predict-names")
def test_names_are_checked_and_forgotten():
    frame = FRAMES["pandas"](X)
    model = LinearSVC().fit(frame, Y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[NAMES[::-1]])
    with pytest.warns(UserWarning, match="feature names"):
        model.predict(X)
    assert not hasattr(model.fit(X, Y), "feature_names_in_")


def test_weights_of_every_container(expected):
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=60)
    expected = LinearSVC().fit(X, Y, sample_weight=weights)
    for convert in (pd.Series, pl.Series, list, lambda w: w.astype(np.longdouble)):
        np.testing.assert_allclose(LinearSVC().fit(X, Y, sample_weight=convert(weights)).coef_, expected.coef_)


def parts_of(X):
    """Return the arrays that hold X."""
    return [X.data, X.indices, X.indptr] if sparse.issparse(X) else [X]


def parts_read(rows):
    """Return the arrays that a row view reads, in the order of ``parts_of``."""
    if isinstance(rows, DenseRows):
        return [rows.X]
    return [*([rows.data] if isinstance(rows, CsrRows) else []), rows.indices, rows.indptr]


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("ones", [False, True])
def test_a_layout_that_fits_is_not_copied(ones, read_only):
    base = (X != 0.0).astype(np.float64) if ones else X
    for name, data in every_layout(base):
        parts = parts_of(data)
        for part in parts:
            part.flags.writeable = not read_only
        rows = read_data(data).rows
        read = parts_read(rows)
        if ones and sparse.issparse(data):
            assert isinstance(rows, OnesRows)
            parts = parts[1:]
        for part, seen in zip(parts, read, strict=True):
            assert np.shares_memory(part, seen), name
            assert part.itemsize == seen.itemsize
            assert seen.dtype.kind in "fu", name  # unsigned indices
            assert not seen.flags.writeable, name
            assert part.flags.writeable != read_only, name  # X itself stays as it was


def test_a_fit_leaves_x_alone():
    for _, data in every_layout(X):
        before = [part.copy() for part in parts_of(data)]
        LinearSVC(solver="avsf").fit(data, Y).predict(data)
        for part, copy in zip(parts_of(data), before, strict=True):
            np.testing.assert_array_equal(part, copy)


@row("x-mapped")
@pytest.mark.parametrize("make", [np.ascontiguousarray, csr, lambda X: csr(X, value=np.float32)])
def test_memory_mapped_input(make, tmp_path, expected):
    joblib.dump((make(X), Y), tmp_path / "data.joblib")
    data, labels = joblib.load(tmp_path / "data.joblib", mmap_mode="r")
    assert isinstance(parts_of(data)[0], np.memmap)
    assert np.shares_memory(parts_of(data)[0], parts_read(read_data(data).rows)[0])
    model = LinearSVC(loss="hinge").fit(data, labels)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(model.predict(data), expected.predict(X))


def test_what_was_read_is_not_checked_again():
    X, y = classification(seed=5)
    data = read_data(X, 1.0)
    assert read_data(data, 1.0) is data
    assert solve(data, y, bias=1.0, random_state=0).w == pytest.approx(solve(X, y, bias=1.0, random_state=0).w)
    with pytest.raises(ValueError, match=r"constant feature of 1\.0, not 0\.0"):
        solve(data, y)
