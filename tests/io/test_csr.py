"""Blocks of rows, checks and checksums of CSR arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hingeline.io.csr import checksum, checksums, row_blocks, rows_between, scan_rows

LENGTHS = st.lists(st.integers(0, 12), max_size=40)
X = sparse.random(30, 8, density=0.4, format="csr", random_state=0)


@given(LENGTHS, st.integers(1, 30), st.integers(1, 10), st.sampled_from(["i4", "i8", "u4", "u8"]))
def test_blocks_cover_the_rows_and_keep_their_limits(lengths, most_entries, most_rows, dtype):
    indptr = np.cumsum([0, *lengths]).astype(dtype)
    blocks = list(row_blocks(indptr, most_entries, most_rows))
    assert [row for begin, end in blocks for row in range(begin, end)] == list(range(len(lengths)))
    for begin, end in blocks:
        assert 1 <= end - begin <= most_rows
        assert end - begin == 1 or sum(lengths[begin:end]) <= most_entries
    for begin, end in blocks[:-1]:  # no block could take one row more
        assert end - begin == most_rows or sum(lengths[begin : end + 1]) > most_entries


def test_rows_between():
    np.testing.assert_array_equal(rows_between(X, 3, 11).toarray(), X[3:11].toarray())
    assert rows_between(X, 5, 5).shape == (0, 8)
    broken = X.copy()
    broken.indices[X.indptr[4]] = 8
    assert rows_between(broken, 0, 4).shape == (4, 8)
    with pytest.raises(ValueError, match=r"Rows 4 to 6 have a column outside \[0, 8\)"):
        rows_between(broken, 4, 7)


def test_scan():
    ones = np.ones(X.nnz, np.float32)
    assert scan_rows(X.indptr, X.indices, ones, 8) == (-1, True, True)
    assert scan_rows(X.indptr, X.indices, X.data, 8) == (-1, True, False)
    reversed_rows = X.indices.copy()
    begin, end = X.indptr[np.argmax(np.diff(X.indptr)) :][:2]
    reversed_rows[begin:end] = reversed_rows[begin:end][::-1]
    assert scan_rows(X.indptr, reversed_rows, ones, 8) == (-1, False, True)
    row = int(np.flatnonzero([7 in X[i].indices for i in range(30)])[0])
    assert scan_rows(X.indptr, X.indices, ones, 7)[0] == row


def test_checksums_tell_data_apart():
    y = np.arange(30.0)
    own = checksums(X, y)
    assert checksums(X.copy(), y.copy()) == own
    assert checksums(X, y + 1.0)[3] != own[3]
    changed = X.copy()
    changed.data[-1] += 1.0
    assert checksums(changed, y)[2] != own[2]


def test_one_number_that_stands_for_all_is_read_once():
    ones = np.broadcast_to(np.float32(1.0), 10**9)
    assert checksum(ones) == checksum(ones[:5]) != checksum(np.broadcast_to(np.float32(2.0), 10**9))
