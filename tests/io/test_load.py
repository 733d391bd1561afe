"""Files as matrices: what is read, from where, and what is said about the rest."""

import bz2
import gzip
import io
import lzma

import numpy as np
import pytest
from scipy import sparse

from hingeline.io import iter_svmlight, load_svmlight

TEXT = b"""# a comment, and then a blank line

+1 2:0.5 7:-3 # another
-1\t1:1e-3   3:1\r
2.5 qid:3 1:1
0
"""
DENSE = [[0, 0.5, 0, 0, 0, 0, -3], [1e-3, 0, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0], [0] * 7]
LABELS = [1, -1, 2.5, 0]


def load(text, **options):
    return load_svmlight(io.BytesIO(text), **options)


@pytest.mark.parametrize("n_threads", [1, 2, None])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_text(n_threads, ending):
    X, y = load(TEXT.replace(b"\n", ending), n_threads=n_threads)
    assert isinstance(X, sparse.csr_matrix)
    assert (X.dtype, X.indices.dtype, X.indptr.dtype, y.dtype) == (np.float64, np.int32, np.int32, np.float64)
    np.testing.assert_array_equal(X.toarray(), DENSE)
    np.testing.assert_array_equal(y, LABELS)


def test_blocks_of_every_size_give_the_same_rows():
    for block_bytes in range(1, len(TEXT) + 2):
        blocks = list(iter_svmlight(io.BytesIO(TEXT), block_bytes=block_bytes))
        np.testing.assert_array_equal(np.concatenate([block.labels for block in blocks]), LABELS)
        np.testing.assert_array_equal(np.concatenate([block.indices for block in blocks]), [2, 7, 1, 3, 1])
        np.testing.assert_array_equal(np.concatenate([block.values for block in blocks]), [0.5, -3, 1e-3, 1, 1])
        assert sum(block.n_lines for block in blocks) == 6
        assert [block.first_line for block in blocks] == [1 + TEXT.count(b"\n", 0, s) for s in starts(blocks)]


def starts(blocks):
    """Return where in TEXT each block begins, by its number of lines."""
    lines = TEXT.splitlines(keepends=True)
    done = np.cumsum([0, *(block.n_lines for block in blocks)])[:-1]
    return [len(b"".join(lines[:n])) for n in done]


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("name", ["data", "data.gz"])
def test_compression_is_seen_whatever_the_name(compress, name, tmp_path):
    path = tmp_path / name
    half = TEXT.index(b"-1")
    path.write_bytes(compress(TEXT[:half]) + compress(TEXT[half:]))  # two streams, as `cat` makes them
    for source in (path, str(path), io.BytesIO(path.read_bytes())):
        X, y = load_svmlight(source)
        np.testing.assert_array_equal(X.toarray(), DENSE)
        np.testing.assert_array_equal(y, LABELS)


def test_several_files_have_one_width():
    (X, _), (Z, t) = load_svmlight([io.BytesIO(b"1 1:1 2:1\n"), io.BytesIO(b"1 5:1\n-1 1:1")])
    assert (X.shape, Z.shape) == ((1, 5), (2, 5))
    np.testing.assert_array_equal(Z.indices, [4, 0])
    np.testing.assert_array_equal(t, [1, -1])
    (X, _), (Z, _) = load_svmlight([io.BytesIO(b"1 1:1 2:1\n"), io.BytesIO(b"1 0:1\n")])  # one of them is zero-based
    np.testing.assert_array_equal(X.indices, [1, 2])
