import json
import os
import pickle

import numpy as np
import pytest
from problems import classification, csr
from scipy import sparse

from hingeline import LinearSVC
from hingeline.io import open_dataset, write_dataset
from hingeline.io.dataset.arrays import HEADER_BYTES, DatasetError, GrowingArray, map_array
from hingeline.io.dataset.folder import read_description
from hingeline.io.dataset.writer import DatasetWriter


def problem(all_ones=False, dtype=np.float64, seed=3):
    X, y = classification(60, 9, seed=seed, density=0.5)
    X = (X != 0.0) if all_ones else X
    return csr(X.astype(dtype)), y


def change(folder, **fields):
    path = folder / "dataset.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


@pytest.fixture
def folder(tmp_path):
    write_dataset(tmp_path / "set", *problem())
    return tmp_path / "set"


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.int64, bool])
def test_what_was_written_is_read(tmp_path, dtype):
    X, y = problem(dtype=dtype)
    write_dataset(tmp_path / "set", X, y)
    back, labels = open_dataset(tmp_path / "set", verify=True)
    assert back.format == "csr"
    assert back.shape == X.shape
    np.testing.assert_array_equal(back.toarray(), X.toarray())
    np.testing.assert_array_equal(labels, y)
    assert labels.dtype == y.dtype
    assert back.indices.dtype == back.indptr.dtype == np.int32
    assert not back.indices.flags.writeable


def test_plain_numpy_reads_the_files(folder):
    X, y = problem()
    for name, expected in (("indptr", X.indptr), ("indices", X.indices), ("data", X.data), ("labels", y)):
        np.testing.assert_array_equal(np.load(folder / f"{name}.npy", allow_pickle=False), expected)


def test_ones_are_not_stored(tmp_path):
    X, y = problem(all_ones=True)
    write_dataset(tmp_path / "set", X, y)
    assert not (tmp_path / "set" / "data.npy").exists()
    back, _ = open_dataset(tmp_path / "set")
    assert back.data.strides == (0,)
    assert back.data.dtype == np.float32
    np.testing.assert_array_equal(back.toarray(), X.toarray())
    np.testing.assert_array_equal(back @ np.ones(9), X @ np.ones(9))
    np.testing.assert_array_equal(back[3:8].toarray(), X[3:8].toarray())


@pytest.mark.parametrize(
    ("value", "dtype"), [(0.5, np.float32), (0.1, np.float64), (1e300, np.float64), (np.float32(0.1), np.float32)]
)
def test_values_are_float32_where_that_is_exact(tmp_path, value, dtype):
    X = sparse.csr_matrix(np.array([[1.0, 0.0], [0.0, value]]))
    write_dataset(tmp_path / "set", X, np.array([1, 2]))
    back, y = open_dataset(tmp_path / "set")
    assert back.data.dtype == dtype
    np.testing.assert_array_equal(back.toarray(), X.toarray())
    assert y.dtype == np.int64


def test_the_matrix_trains_as_any_other(tmp_path):
    for all_ones in (False, True):
        X, y = problem(all_ones)
        write_dataset(tmp_path / "set", X, y, force=True)
        back, labels = open_dataset(tmp_path / "set")
        a, b = (LinearSVC(random_state=0).fit(*data) for data in ((X, y), (back, labels)))
        np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-12)
        np.testing.assert_array_equal(a.predict(X), b.predict(back))
        sklearn = b.to_sklearn()
        np.testing.assert_array_equal(sklearn.predict(back), a.predict(X))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(back)).toarray(), X.toarray())


def test_dense_and_other_formats(tmp_path):
    X, y = problem()
    for k, other in enumerate((X.toarray(), X.tocsc(), X.tocoo(), X.toarray().tolist())):
        write_dataset(tmp_path / f"set{k}", other, y)
        np.testing.assert_array_equal(open_dataset(tmp_path / f"set{k}")[0].toarray(), X.toarray())


def test_types_widen_late_and_lose_nothing(tmp_path):
    array = GrowingArray(tmp_path / "a.npy", (np.int32, np.int64))
    array.append(np.arange(5))
    array.append(np.array([2**40]))
    array.append(np.array([-1], np.int32))
    kept = array.finish()
    assert (kept.dtype, kept.size) == ("int64", 7)
    np.testing.assert_array_equal(map_array(tmp_path / "a.npy", kept), [0, 1, 2, 3, 4, 2**40, -1])
    assert os.listdir(tmp_path) == ["a.npy"]


def test_widening_while_rewriting(tmp_path, monkeypatch):
    monkeypatch.setattr("hingeline.io.dataset.arrays.CHUNK_BYTES", 8)
    array = GrowingArray(tmp_path / "a.npy", (np.int8, np.int16))
    array.append(np.arange(100, 128))
    array.rewrite(lambda old: old.astype(np.int64) + 1)
    np.testing.assert_array_equal(map_array(tmp_path / "a.npy", array.finish()), np.arange(101, 129))


def test_a_writer_takes_blocks(tmp_path):
    def block(values, labels=(1.0, -1.0)):
        return np.array(labels), np.array([0, 1, 2]), np.array([4, 2], np.int32), np.array(values)

    with DatasetWriter(tmp_path / "set") as writer:
        writer.append(*block([1.0, 1.0]))
        writer.append(*block([1.0, 0.5]))
        writer.append(*block([0.1, 1.0], (3.0, 1.0)))
        assert writer.widest == 5
        writer.shift_columns(1)
        assert writer.widest == 6
        description = writer.commit(columns=10)
    assert (description.rows, description.columns, description.nonzeros) == (6, 10, 6)
    assert description == read_description(tmp_path / "set")
    assert description.label_counts == [(-1.0, 2), (1.0, 3), (3.0, 1)]
    assert description.vectors["data"].dtype == "float64"
    X, y = open_dataset(tmp_path / "set", verify=True)
    np.testing.assert_array_equal(X.indices, [5, 3] * 3)
    np.testing.assert_array_equal(X.data, [1.0, 1.0, 1.0, 0.5, 0.1, 1.0])
    np.testing.assert_array_equal(y, [1.0, -1.0, 1.0, -1.0, 3.0, 1.0])


def test_row_bounds_may_be_wider_than_columns(tmp_path):
    """As with more than 2^31 non-zeros: SciPy would copy the columns."""
    write_dataset(tmp_path / "set", *problem())
    X, _ = problem()
    array = GrowingArray(tmp_path / "set" / "indptr.npy", (np.int64,))
    array.append(X.indptr)
    description = json.loads((tmp_path / "set" / "dataset.json").read_text())
    description["vectors"]["indptr"] = array.finish()._asdict()
    change(tmp_path / "set", **description)
    back, y = open_dataset(tmp_path / "set", verify=True)
    assert (back.indptr.dtype, back.indices.dtype) == (np.int64, np.int32)
    np.testing.assert_array_equal(back @ np.arange(9.0), X @ np.arange(9.0))
    assert LinearSVC().fit(X, y).score(back, y) > 0.5


def test_many_labels_are_not_counted(tmp_path):
    X = np.ones((1500, 1))
    write_dataset(tmp_path / "set", X, np.arange(1500) / 7)
    assert read_description(tmp_path / "set").label_counts is None


def test_nothing_is_replaced_unless_forced(folder, tmp_path):
    X, y = problem(seed=4)
    with pytest.raises(FileExistsError, match="already exists"):
        write_dataset(folder, X, y)
    write_dataset(folder, X, y, force=True)
    np.testing.assert_array_equal(open_dataset(folder)[0].toarray(), X.toarray())
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter").write_text("years of work")
    with pytest.raises(FileExistsError, match="not a dataset"):
        write_dataset(tmp_path / "thesis", X, y, force=True)
    assert sorted(os.listdir(tmp_path)) == ["set", "thesis"]


def test_a_link_stays_a_link(folder, tmp_path):
    (tmp_path / "link").symlink_to(folder, target_is_directory=True)
    X, y = problem(seed=4)
    write_dataset(tmp_path / "link", X, y, force=True)
    assert (tmp_path / "link").is_symlink()
    np.testing.assert_array_equal(open_dataset(folder)[0].toarray(), X.toarray())
    assert sorted(os.listdir(tmp_path)) == ["link", "set"]


def test_an_error_leaves_nothing(tmp_path):
    X, y = problem()
    y = y.astype(float)
    y[7] = np.nan
    with pytest.raises(ValueError, match="label of row 7 is nan"):
        write_dataset(tmp_path / "set", X, y)
    assert not os.listdir(tmp_path)


def test_what_is_unfinished_does_not_open(tmp_path):
    writer = DatasetWriter(tmp_path / "set")
    writer.append(np.ones(1), np.array([0, 1]), np.zeros(1, np.int32), np.ones(1))
    (unfinished,) = tmp_path.iterdir()
    with pytest.raises(DatasetError, match="is not a dataset"):
        open_dataset(unfinished)
    writer.__exit__()


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.ones((3, 2)), np.ones(2), "one label per row"),
        (np.ones((3, 2)), np.array(["a", "b", "c"]), "encode them"),
        (np.ones((3, 2), complex), np.ones(3), "real numbers"),
        (np.array([["a"]]), np.ones(1), "real numbers"),
        (np.ones((0, 2)), np.ones(0), "no rows"),
    ],
)
def test_data_that_cannot_be_written(tmp_path, X, y, message):
    with pytest.raises(ValueError, match=message):
        write_dataset(tmp_path / "set", X, y)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("broken", ["negative", "decreasing"])
def test_a_malformed_matrix_is_not_written(tmp_path, broken):
    X, y = problem()
    if broken == "negative":
        X.indices[5] = -1
    else:
        X.indptr[3] = 200
    with pytest.raises(ValueError, match=r"row \d+ is malformed"):
        write_dataset(tmp_path / "set", X, y)


def test_a_matrix_that_lacks_values_is_not_written(tmp_path):
    X, y = problem()
    X.data = X.data[:-1]
    with pytest.raises(ValueError, match="one is needed for each"):
        write_dataset(tmp_path / "set", X, y)


NATURAL = [-1, 1.5, 2**70, "9", None, True, 10**30]


@pytest.mark.parametrize(
    "fields",
    [{"format": "parquet"}, {"version": 2}, {"vectors": {}}, {"vectors": 3}, {"index_base": 2}, {"label_counts": 5}]
    + [
        {name: value}
        for name in ("rows", "columns", "nonzeros")
        for value in NATURAL
        if name != "columns" or value != 9
    ]
    + [{"rows": 59}, {"nonzeros": 10**12}],
    ids=str,
)
def test_a_description_that_cannot_be(folder, fields):
    change(folder, **fields)
    with pytest.raises(DatasetError, match="does not describe a dataset"):
        open_dataset(folder)


@pytest.mark.parametrize("text", [b"", b"[" * 100_000, b"\xff\xfe", b"[]", b"{" + b" " * (2 << 20) + b"}", b"9" * 9999])
def test_a_description_that_is_none(folder, text):
    (folder / "dataset.json").write_bytes(text)
    with pytest.raises(DatasetError, match="does not describe a dataset"):
        open_dataset(folder)


@pytest.mark.parametrize("dtype", ["object", "float16", "float32", "O", "<i8", "datetime64", 5, None, ["int32"]])
def test_types_that_no_vector_has(folder, dtype):
    vectors = json.loads((folder / "dataset.json").read_text())["vectors"]
    vectors["indices"]["dtype"] = dtype
    change(folder, vectors=vectors)
    with pytest.raises(DatasetError, match="type of indices"):
        open_dataset(folder)


@pytest.mark.parametrize("name", ["indptr", "indices", "data", "labels"])
@pytest.mark.parametrize("damage", ["cut", "grown", "header", "gone", "pickle", "pipe", "folder"])
def test_damaged_files(folder, name, damage):
    path = folder / f"{name}.npy"
    whole = path.read_bytes()
    path.unlink()
    if damage == "cut":
        path.write_bytes(whole[:-1])
    elif damage == "grown":
        path.write_bytes(whole + b"\0")
    elif damage == "header":
        path.write_bytes(whole.replace(b"'<", b"'>"))
    elif damage == "pickle":
        np.save(path, np.array([{}] * (len(whole) // 8), dtype=object), allow_pickle=True)
    elif damage == "pipe":
        os.mkfifo(path)
    elif damage == "folder":
        path.mkdir()
    with pytest.raises(DatasetError, match=rf"{name}\.npy"):
        open_dataset(folder)


def overwrite(path, k, value, dtype=np.int32):
    with open(path, "r+b") as file:
        file.seek(HEADER_BYTES + k * np.dtype(dtype).itemsize)
        file.write(np.array([value], dtype).tobytes())


@pytest.mark.parametrize(("k", "value"), [(0, 1), (7, 2**31 - 1), (7, -5), (60, 0)])
def test_row_bounds_are_checked_when_opened(folder, k, value):
    overwrite(folder / "indptr.npy", k, value)
    with pytest.raises(DatasetError, match=r"indptr\.npy"):
        open_dataset(folder)


@pytest.mark.parametrize("value", [9, -1])
def test_a_column_out_of_range(folder, value):
    overwrite(folder / "indices.npy", 11, value)
    X, y = open_dataset(folder)
    with pytest.raises(ValueError, match=r"outside \["):
        LinearSVC().fit(X, y)
    with pytest.raises(DatasetError, match="have changed"):
        open_dataset(folder, verify=True)


def test_columns_are_verified_though_checksums_fit(folder):
    change(folder, columns=5)
    with pytest.raises(DatasetError, match=r"outside \["):
        open_dataset(folder, verify=True)


@pytest.mark.parametrize("name", ["indices", "data", "labels"])
def test_changed_contents_are_found(folder, name):
    overwrite(folder / f"{name}.npy", 1, 2)
    open_dataset(folder)
    with pytest.raises(DatasetError, match="have changed"):
        open_dataset(folder, verify=True)


def test_no_folder(tmp_path):
    with pytest.raises(DatasetError, match="there is no"):
        open_dataset(tmp_path / "nowhere")
    with pytest.raises(DatasetError, match="holds no"):
        open_dataset(tmp_path)
