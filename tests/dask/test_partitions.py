import numpy as np
import pytest
from fault_rows import row
from scipy import sparse

from hingeline.dask.partitions import place, tree_reduce

X = np.arange(12.0).reshape(6, 2)
y = np.array(["a", "b", "a", "b", "a", "b"])


def pieces(client, *blocks):
    return [
        tuple(None if part is None else client.submit(lambda part=part: part) for part in block) for block in blocks
    ]


@row("dask-empty")
def test_blocks_and_their_sizes(client):
    made = place(
        client,
        pieces(
            client, (X[:4], y[:4], None), (X[:0], y[:0], None), (sparse.csc_matrix(X[4:]), y[4:], np.array([0.0, 2.0]))
        ),
    )
    assert made.n_rows == [4, 2]
    assert made.n_features == 2
    assert made.n_stored == [8, 4]
    first, second = client.gather(made.parts)
    np.testing.assert_array_equal(first.X, X[:4])
    np.testing.assert_array_equal(first.y, y[:4])
    assert first.sample_weight is None
    assert second.X.format == "csr"
    np.testing.assert_array_equal(second.X.toarray(), X[4:])
    np.testing.assert_array_equal(second.sample_weight, [0.0, 2.0])


def test_tuples_of_what_belongs_together(client):
    made = place(client, pieces(client, ((X[:4], y[:4]), None, None), ((X[4:], y[4:], np.ones(2)), None, None)))
    assert made.n_rows == [4, 2]


def test_integers_become_the_floats_that_hold_them(client):
    made = place(client, pieces(client, (X.astype(np.int16), y, None)))
    assert made.parts[0].result().X.dtype == np.float32


def test_a_tree_combines_in_order(client):
    futures = client.map(str, range(20))
    assert tree_reduce(client, futures, " ".join).result() == " ".join(map(str, range(20)))


bad = X.copy()
bad[3, 1] = np.nan


@row("dask-rows", "dask-columns")
@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([(X, y, None), (bad, y, None)], r"Partition 1 .*NaN at row 3, column 1"),
        ([(bad, y, None), (bad, y, None)], r"Partition 0 .*NaN at row 3, column 1"),
        ([(X, y, None), (X[:, :1], y, None)], r"Partition 1 of X has 1 columns, but partition 0 has 2"),
        ([(X, y[:5], None)], r"Partition 0 .*inconsistent numbers of samples: \[6, 5\]"),
        ([(X, y, np.ones(5))], r"Partition 0 .*inconsistent numbers of samples: \[6, 6, 5\]"),
        ([(X, y, None), (X, y, np.array([1, 1, -1, 1, 1, 1.0]))], r"Partition 1 .*sample_weight\[2\] is -1"),
        ([(X, y, np.zeros(6))], "sample_weight is zero for every row"),
        ([(X[:0], y[:0], None)], r"0 sample\(s\)"),
        ([(np.array([["x", "y"]]), y[:1], None)], r"Partition 0 .*X\[0, 0\] is .*'x'"),
        ([(X, None, None)], "Partition 0 is a ndarray, but no y was given"),
        ([], "no partitions"),
    ],
)
def test_bad_data_is_named_with_its_partition_and_row(client, blocks, message):
    with pytest.raises(ValueError, match=message):
        place(client, pieces(client, *blocks))


def test_targets_must_be_finite_numbers(client):
    with pytest.raises(ValueError, match=r"Partition 0 .*y\[1\] is inf"):
        place(client, pieces(client, (X[:2], np.array([0.0, np.inf]), None)), targets=True)
