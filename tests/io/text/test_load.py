"""Files as matrices: what is read, from where, and what is said about the rest."""

import bz2
import gzip
import io
import lzma
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from fault_rows import row
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


def test_an_index_zero_anywhere_makes_a_file_zero_based():
    text = b"1 1:1 2:1\n" * 5 + b"-1 0:4\n" + b"1 1:1 2:1\n" * 5
    for block_bytes in (8, 1 << 20):
        assert min(block.min_index for block in iter_svmlight(io.BytesIO(text), block_bytes=block_bytes)) == 0
    X, _ = load(text)
    assert X.shape == (11, 3)
    np.testing.assert_array_equal(X.toarray()[[0, 5]], [[0, 1, 1], [4, 0, 0]])
    np.testing.assert_array_equal(load(text, zero_based=True)[0].toarray(), X.toarray())
    with pytest.raises(ValueError, match=r"line 6, column 4: index '0' in a file declared as one-based"):
        load(text, zero_based=False)


def test_zero_based_is_as_told():
    X, _ = load(b"1 1:1 3:1\n", zero_based=True)
    np.testing.assert_array_equal(X.toarray(), [[0, 1, 0, 1]])
    X, _ = load(b"1 1:1 3:1\n", zero_based=False)
    np.testing.assert_array_equal(X.toarray(), [[1, 0, 1]])


def test_n_features(tmp_path):
    assert load(b"1 2:1\n", n_features=5)[0].shape == (1, 5)
    path = tmp_path / "data"
    path.write_bytes(b"1 2:1\n1 1:1 3:1\n")
    with pytest.raises(ValueError, match=r"data, line 2, column 7: index '3' is beyond n_features: .* fits is 2"):
        load_svmlight(path, n_features=2, zero_based=False)
    with pytest.raises(ValueError, match=r"data, line 2, column 7: index '3' is beyond n_features"):
        load_svmlight(path, n_features=2)
    assert load_svmlight(path, n_features=3)[0].shape == (2, 3)
    path.write_bytes(b"1 2:1\n1 0:1 1:1\n")  # zero-based, as is seen only later
    with pytest.raises(ValueError, match=r"data, line 1, column 3: index '2' is beyond n_features"):
        load_svmlight(path, n_features=2)
    with pytest.raises(ValueError, match=r"index 2 is beyond n_features=2 \(indices start at 0\)"):
        load(path.read_bytes(), n_features=2)


def test_query_ids():
    X, y, queries = load(b"1 qid:7 1:1\n-1 qid:-3\n0 qid:999999999999999999 2:1 # qid:5\n", query_id=True)
    np.testing.assert_array_equal(queries, [7, -3, 999999999999999999])
    assert (queries.dtype, X.nnz, y.size) == (np.int64, 2, 3)
    with pytest.raises(ValueError, match="line 2, column 4: the row has no 'qid:'"):
        load(b"1 qid:7 1:1\n-1 1:1\n", query_id=True)


def test_large_indices_take_no_memory():
    X, _ = load(b"1 1:1 2147483648:2\n-1 3000000000:1 999999999999999999:1\n1 1:1")
    assert X.shape == (3, 999999999999999999)
    assert X.indices.dtype == X.indptr.dtype == np.int64
    np.testing.assert_array_equal(X.indices, [0, 2147483647, 2999999999, 999999999999999998, 0])
    X, _ = load(b"1 2147483647:2\n")
    assert X.indices.dtype == np.int32
    X, _ = load(b"1 2147483647:2\n", zero_based=True)
    assert X.shape == (1, 2147483648)
    assert X.indices.dtype == np.int64


def test_indices_wider_than_before_in_a_later_block():
    text = b"1 1:1\n" * 100 + b"1 5000000000:1\n" + b"1 2:1\n" * 100
    blocks = list(iter_svmlight(io.BytesIO(text), block_bytes=64))
    assert {block.indices.dtype for block in blocks} == {np.dtype(np.int32), np.dtype(np.int64)}
    X, _ = load(text)
    np.testing.assert_array_equal(X.indices, [0] * 100 + [4999999999] + [1] * 100)


def test_rows_out_of_order_are_sorted():
    X, _ = load(b"1 3:3 1:1 2:2\n1 1:1 2:2\n-1 9:9 4:4\n")
    assert X.has_sorted_indices
    np.testing.assert_array_equal(X.indices, [0, 1, 2, 0, 1, 3, 8])
    np.testing.assert_array_equal(X.data, [1, 2, 3, 1, 2, 4, 9])


def test_nothing():
    for text in (b"", b"\n", b"# only a comment", b"  \r\n\t\n"):
        X, y = load(text)
        assert (X.shape, y.shape) == ((0, 1), (0,))  # one column, as scikit-learn's reader has it
    assert load(b"1\n2\n")[0].shape == (2, 1)
    assert list(iter_svmlight(io.BytesIO(b""))) == []


def test_explicit_zeros_are_kept():
    X, _ = load(b"1 1:0 2:-0.0 3:1\n")
    assert X.nnz == 3
    np.testing.assert_array_equal(np.signbit(X.data), [False, True, False])


def test_a_line_longer_than_many_blocks(monkeypatch):
    monkeypatch.setattr("hingeline.io.text.svmlight.SLICE_BYTES", 100)  # so that the machine stops inside of it
    entries = b" ".join(b"%d:%d" % (i, i % 17) for i in range(1, 3000))
    text = b"1 " + entries + b"\n-1 1:1\n"
    assert next(iter_svmlight(io.BytesIO(text), block_bytes=50)).indices.size >= 2999
    X, y = load(text)
    np.testing.assert_array_equal(X.indices[:-1], np.arange(2999))
    np.testing.assert_array_equal(X.data[:-1], np.arange(1, 3000) % 17)
    np.testing.assert_array_equal(y, [1, -1])


@contextmanager
def slow_pipe(data, buffering):
    """Yield the end of a pipe that does not block, into which ``data`` comes in two parts."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)

    def write():
        with open(writer, "wb", buffering=0) as file:
            for part in (b"", data[:9], data[9:]):
                time.sleep(0.05)
                file.write(part)

    with ThreadPoolExecutor(1) as pool, open(reader, "rb", buffering=buffering) as file:
        written = pool.submit(write)
        yield file
        written.result()


@pytest.mark.skipif(sys.platform == "win32", reason="pipes always block there")
@pytest.mark.parametrize("buffering", [0, -1])
def test_a_pipe_that_does_not_block_is_waited_for(buffering):
    for data in (TEXT, lzma.compress(TEXT)):
        with slow_pipe(data, buffering) as file:
            np.testing.assert_array_equal(load_svmlight(file)[0].toarray(), DENSE)


def test_what_neither_blocks_nor_can_be_waited_for_is_refused():
    class Empty:
        def read(self, size):
            return None

    with pytest.raises(ValueError, match="cannot be waited for"):
        load_svmlight(Empty())


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors are no files there")
def test_a_pipe_with_a_large_number_is_waited_for_too():
    import resource

    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] <= 1100:
        pytest.skip("the system allows no descriptor as large as that")
    with slow_pipe(TEXT, 0) as file:
        number = os.dup2(file.fileno(), 1100)
        with open(number, "rb", buffering=0) as same:
            np.testing.assert_array_equal(load_svmlight(same)[0].toarray(), DENSE)


def test_file_objects_of_all_kinds(tmp_path):
    class OnlyRead:
        def __init__(self, text):
            self.file = io.BytesIO(text)

        def read(self, size):
            return self.file.read(min(size, 5))  # may give less than was asked for

    for data in (TEXT, lzma.compress(TEXT)):
        X, _ = load_svmlight(OnlyRead(data))
        np.testing.assert_array_equal(X.toarray(), DENSE)
    with gzip.open(io.BytesIO(gzip.compress(TEXT))) as file:
        np.testing.assert_array_equal(load_svmlight(file)[0].toarray(), DENSE)
    path = tmp_path / "data"
    path.write_bytes(TEXT)
    with path.open("rb") as file:
        np.testing.assert_array_equal(load_svmlight(file)[0].toarray(), DENSE)
        assert not file.closed
    with path.open() as file, pytest.raises(ValueError, match="binary mode"):
        load_svmlight(file)
    with pytest.raises(TypeError, match="expected a path or a file object"):
        load_svmlight(3)
    with pytest.raises(FileNotFoundError):
        load_svmlight(tmp_path / "missing")


def test_progress(tmp_path):
    path = tmp_path / "data"
    path.write_bytes(b"1 1:1 2:0.5\n" * 300_000)
    for n_threads in (1, 2):
        calls = []
        X, _ = load_svmlight(
            path, n_threads=n_threads, progress=lambda done, size, calls=calls: calls.append((done, size))
        )
        assert X.nnz == 600_000
        assert len(calls) > 2
        assert calls == sorted(calls)
        assert calls[-1] == (path.stat().st_size, path.stat().st_size)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": np.int64}, "dtype must be float32 or float64"),
        ({"zero_based": "maybe"}, "zero_based must be"),
        ({"n_features": 0}, "n_features must be 1 or more"),
        ({"n_threads": 0}, "n_threads must be 1 or more"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        load(b"1 1:1\n", **options)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: data[:40] + b"\xff\xff\xff" + data[43:]])
def test_damaged_compression(compress, damage):
    with pytest.raises(ValueError, match=r"<BytesIO>: the compressed data is damaged"):
        load(damage(compress(TEXT * 100)))


def test_zstd():
    zstandard = pytest.importorskip("zstandard")
    data = zstandard.compress(TEXT) + zstandard.compress(TEXT)
    assert load(data)[0].shape == (8, 7)
    with pytest.raises(ValueError, match="compressed data is damaged"):
        load(data[:20] + b"\xff\xff\xff" + data[23:])
    with pytest.raises(ValueError, match="compressed data is damaged or cut short"):
        load(data[:-9])


def test_zstd_without_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ValueError, match="pip install zstandard"):
        load(b"\x28\xb5\x2f\xfd and more")


@row("interrupt-load")
@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_an_interruption_ends_every_thread(n_threads, compress, tmp_path):
    path = tmp_path / "data"
    path.write_bytes(compress(b"1 1:1 2:0.5\n" * 500_000))
    before, calls = threading.active_count(), []

    def interrupt(done, size):
        calls.append(done)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        load_svmlight(path, n_threads=n_threads, progress=interrupt)
    assert len(calls) == 2
    for thread in threading.enumerate():
        if thread.name.startswith("hingeline-"):
            thread.join(timeout=10)
    assert threading.active_count() <= before
