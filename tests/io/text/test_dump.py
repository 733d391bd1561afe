"""What the writer refuses, where it writes, and what it leaves behind if it fails."""

import bz2
import gzip
import io
import lzma
import os
import stat

import numpy as np
import pytest
from scipy import sparse

from hingeline.io import dump_svmlight, load_svmlight

X = sparse.csr_matrix([[0.0, 1.5, 0.0], [2.0, 0.0, -0.25], [0.0, 0.0, 0.0]])
Y = np.array([1, -1, 1])
TEXT = b"1 2:1.5\n-1 1:2 3:-0.25\n1\n"


def text_of(X, y=Y, **options):
    file = io.BytesIO()
    dump_svmlight(X, y, file, **options)
    return file.getvalue()


@pytest.mark.parametrize(
    "matrix",
    [X, X.toarray(), X.toarray().tolist(), X.tocsc(), X.tocoo(), sparse.csr_array(X), X.astype(np.float32)],
    ids=["csr", "dense", "list", "csc", "coo", "array", "float32"],
)
def test_containers(matrix):
    assert text_of(matrix) == TEXT


def test_integers_and_booleans():
    assert text_of(np.array([[0, 3], [7, 0], [0, 0]])) == b"1 2:3\n-1 1:7\n1\n"
    assert text_of(X != 0) == b"1 2:1\n-1 1:1 3:1\n1\n"
    with pytest.raises(ValueError, match="X has integers that float64 does not hold exactly"):
        text_of(np.array([[2**53 + 1]] * 3))


def test_unsorted_and_repeated_entries_are_put_in_order():
    data, indices, indptr = np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3, 3, 3])
    matrix = sparse.csr_matrix((data, indices, indptr), shape=(3, 3))
    assert text_of(matrix) == b"1 1:2 3:4\n-1\n1\n"
    np.testing.assert_array_equal(matrix.indices, [2, 0, 2])  # the caller's matrix is as it was


def test_explicit_zeros_are_kept():
    matrix = sparse.csr_matrix((np.array([0.0, -0.0]), np.array([0, 1]), np.array([0, 2, 2, 2])), shape=(3, 2))
    assert text_of(matrix) == b"1 1:0 2:-0\n-1\n1\n"


def test_slices_of_rows(monkeypatch):
    rng = np.random.default_rng(0)
    matrix = sparse.random(300, 40, 0.2, format="csr", random_state=rng)
    matrix.sort_indices()
    whole = text_of(matrix, np.arange(300.0) / 7)
    monkeypatch.setattr("hingeline.io.text.dump.SLICE_ENTRIES", 10)
    assert text_of(matrix, np.arange(300.0) / 7) == whole
    read, y = load_svmlight(io.BytesIO(whole), n_features=40)
    assert read.data.tobytes() == matrix.data.tobytes()
    np.testing.assert_array_equal(y, np.arange(300.0) / 7)


@pytest.mark.parametrize(
    ("name", "unpack"), [("d", bytes), ("d.gz", gzip.decompress), ("d.bz2", bz2.decompress), ("d.XZ", lzma.decompress)]
)
def test_compressed_by_the_name(name, unpack, tmp_path):
    for target in (tmp_path / name, str(tmp_path / name)):
        dump_svmlight(X, Y, target)
        assert unpack((tmp_path / name).read_bytes()) == TEXT
    (tmp_path / "other").touch()
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "other"])


def test_zstd(tmp_path):
    zstandard = pytest.importorskip("zstandard")
    dump_svmlight(X, Y, tmp_path / "d.zst")
    assert zstandard.ZstdDecompressor().decompressobj().decompress((tmp_path / "d.zst").read_bytes()) == TEXT
    np.testing.assert_array_equal(load_svmlight(tmp_path / "d.zst")[0].toarray(), X.toarray())


@pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")
@pytest.mark.parametrize("name", ["plain", "some.gz"])
def test_a_file_that_is_replaced_keeps_its_permissions_and_links_to_it(name, tmp_path):
    real, link = tmp_path / f"real-{name}", tmp_path / name
    real.write_bytes(b"old")
    real.chmod(0o640)
    link.symlink_to(real)
    dump_svmlight(np.eye(2), [1, 2], os.fsencode(link))
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    np.testing.assert_array_equal(load_svmlight(real)[0].toarray(), np.eye(2))


def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "data"
    path.write_bytes(b"old")

    def fail(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("hingeline.io.text.dump._text", fail)
    with pytest.raises(KeyboardInterrupt):
        dump_svmlight(X, Y, path)
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["data"]


def malformed():
    matrix = X.copy()
    matrix.indices = np.array([1, 0, 99], dtype=np.int32)
    return matrix


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X, [1, 2]), "y has shape"),
        ((X, ["a", "b", "c"]), "Labels must be numbers"),
        ((X, [1, np.nan, 2]), r"y\[1\] is not finite"),
        ((X.toarray()[0], Y), "X must be a matrix"),
        ((X * np.inf, Y), "not finite in row 0"),
        ((X.toarray().astype(complex), Y), "X must hold real numbers"),
        ((malformed(), Y), "indices|index"),
    ],
    ids=["length", "strings", "nan", "vector", "inf", "complex", "malformed"],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        dump_svmlight(*arguments, io.BytesIO())
    for query_id in ([1, 2], [0.5, 1, 2], [10**18, 1, 1]):
        with pytest.raises(ValueError, match="query_id must"):
            dump_svmlight(X, Y, io.BytesIO(), query_id=query_id)
