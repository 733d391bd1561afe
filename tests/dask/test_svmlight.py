import gzip

import numpy as np
import pytest
from fault_rows import row

from hingeline.dask import read_svmlight


@pytest.fixture
def parts(tmp_path):
    """Three files with different largest indices; one of them has no entries at all."""
    for k, text in enumerate(["1 1:0.5 3:2\n-1 2:1\n", "1\n", "-1 7:1.5\n"]):
        (tmp_path / f"part-{k}.svm.gz").write_bytes(gzip.compress(text.encode()))
    return tmp_path


EXPECTED = np.zeros((4, 7))
EXPECTED[0, [0, 2]], EXPECTED[1, 1], EXPECTED[3, 6] = [0.5, 2.0], 1.0, 1.5


def test_all_parts_have_the_same_number_of_columns(client, parts):
    X, y = read_svmlight(str(parts / "part-*.svm.gz"))
    assert X.shape == (4, 7)
    assert X.chunks[0] == y.chunks[0] == (2, 1, 1)
    np.testing.assert_array_equal(np.vstack([x.compute().toarray() for x in X.partitions]), EXPECTED)
    np.testing.assert_array_equal(y.compute(), [1, -1, 1, -1])


def test_columns_count_from_zero_if_any_file_says_so(client, parts):
    (parts / "part-3.svm").write_text("1 0:1\n")
    X, _ = read_svmlight([*sorted(parts.glob("*.gz")), parts / "part-3.svm"], dtype=np.float32)
    assert X.shape == (5, 8)
    assert X.dtype == np.float32
    np.testing.assert_array_equal(X.partitions[0].compute().toarray(), np.pad(EXPECTED[:2], ((0, 0), (1, 0))))


def test_a_given_number_of_columns(client, parts):
    path = parts / "part-0.svm.gz"
    assert read_svmlight(path, n_features=9)[0].shape == (2, 9)
    assert read_svmlight(path, n_features=9, zero_based=True)[0].shape == (2, 9)
    with pytest.raises(ValueError, match=r"part-2.svm.gz.*7"):
        read_svmlight(str(parts / "part-*.svm.gz"), n_features=5)


@row("dask-text")
def test_malformed_lines_are_named(client, parts):
    (parts / "part-1.svm").write_text("1 1:1\n1 1:x\n")
    with pytest.raises(ValueError, match=r"part-1.svm.*line 2"):
        read_svmlight(str(parts / "part-1.*m"))
    with pytest.raises(ValueError, match="No file matches"):
        read_svmlight(str(parts / "other-*.svm"))


def test_without_a_cluster():
    with pytest.raises(ValueError, match="needs a cluster"):
        read_svmlight("part.svm")
