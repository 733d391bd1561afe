import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from fault_rows import row
from scipy import sparse

from hingeline.dask.inputs import partitions_of
from hingeline.io import write_dataset

rng = np.random.default_rng(0)
X = rng.standard_normal((20, 3))
y = np.where(X[:, 0] > 0.0, "yes", "no")
weights = rng.uniform(0.5, 1.5, 20)


def rows_of(partitions):
    """Return what is on the workers as a whole."""
    blocks = partitions.client.gather(partitions.parts)
    assert [block.X.shape[0] for block in blocks] == partitions.n_rows
    dense = [block.X.toarray() if sparse.issparse(block.X) else block.X for block in blocks]
    some = [block.sample_weight for block in blocks]
    return np.vstack(dense), np.concatenate([block.y for block in blocks]), some


def assert_same_rows(partitions, weights=None):
    X_there, y_there, weights_there = rows_of(partitions)
    np.testing.assert_array_equal(X_there, X)
    np.testing.assert_array_equal(y_there, y)
    if weights is None:
        assert weights_there == [None] * len(partitions)
    else:
        np.testing.assert_array_equal(np.concatenate(weights_there), weights)


def sparse_blocks(values, n):
    return da.from_array(values, chunks=(n, -1)).map_blocks(sparse.csr_matrix)


@pytest.mark.parametrize("columns", [3, 2])
def test_arrays_of_dense_blocks(client, columns):
    made = partitions_of(client, da.from_array(X, chunks=(8, columns)), da.from_array(y, chunks=5))
    assert made.n_rows == [8, 8, 4]
    assert_same_rows(made)


def test_arrays_of_sparse_blocks_with_weights(client):
    made = partitions_of(client, sparse_blocks(X, 7), da.from_array(y, chunks=7), weights)
    assert made.n_stored == [21, 21, 18]
    assert_same_rows(made, weights)


@row("dask-unknown")
def test_numbers_of_rows_that_are_not_known(client):
    x, labels = da.from_array(X, chunks=(10, -1)), da.from_array(y, chunks=10)
    there = x[:, 0] < 100.0  # all rows, but Dask cannot know
    made = partitions_of(client, x[there], labels[there])
    assert_same_rows(made)
    with pytest.raises(ValueError, match="in memory, but the numbers of rows"):
        partitions_of(client, x[there], y)


def test_dataframes(client):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    together = dd.from_pandas(frame.assign(y=y, w=weights), npartitions=3)
    made = partitions_of(client, together[["a", "b", "c"]], together["y"], together["w"])
    assert_same_rows(made, weights)
    assert list(made.features["feature_names_in_"]) == ["a", "b", "c"]


def test_lists(client):
    delayed = [dask.delayed(X[:9]), dask.delayed(sparse.csr_matrix(X[9:]))]
    assert_same_rows(partitions_of(client, delayed, [dask.delayed(y[:9]), dask.delayed(y[9:])]))
    futures = [client.submit(lambda a=a, b=b: (X[a:b], y[a:b])) for a, b in ((0, 3), (3, 20))]
    assert_same_rows(partitions_of(client, futures))
    assert_same_rows(partitions_of(client, dask.delayed(X), dask.delayed(y)))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, pd.DataFrame, np.ndarray.tolist])
def test_arrays_in_memory_are_sent_in_parts(client, form):
    made = partitions_of(client, form(X), y)
    assert made.n_rows == [10, 10]
    assert_same_rows(made)


def test_partitions_are_taken_as_they_are(client):
    made = partitions_of(client, X, y)
    assert partitions_of(client, made) is made
    with pytest.raises(ValueError, match="pass X alone"):
        partitions_of(client, made, y)


def test_dataset_folders(client, tmp_path):
    labels = np.where(y == "yes", 1, -1)
    write_dataset(tmp_path / "folder", sparse.csr_matrix(X), labels)
    made = partitions_of(client, tmp_path / "folder")
    assert len(made) == 2
    assert made.n_stored == [30, 30]
    X_there, y_there, _ = rows_of(made)
    np.testing.assert_array_equal(X_there, X)
    np.testing.assert_array_equal(y_there, labels)


@row("dask-partitions")
@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((da.from_array(X, chunks=(10, -1)), None), "requires y"),
        ((da.from_array(X, chunks=(10, -1)), [dask.delayed(y)]), "X has 2 partitions, but y has 1"),
        ((da.from_array(X, chunks=(10, -1)), y[:19]), r"inconsistent numbers of samples: \[20, 19\]"),
        ((X, y, np.ones(3)), r"inconsistent numbers of samples: \[20, 3\]"),
        ((da.from_array(X, chunks=(10, -1)), da.from_array(y[:19], chunks=10)), r"Partition 1 .*\[10, 9\]"),
        ((dask.delayed((X, y)), None, [dask.delayed(weights)]), "sample_weight needs y"),
        ((da.from_array(X[:, 0], chunks=10), y), "Partition 0 .*X must be a matrix"),
    ],
)
def test_what_does_not_fit_together(client, parts, message):
    with pytest.raises(ValueError, match=message):
        partitions_of(client, *parts)
