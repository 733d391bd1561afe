import os
import signal
import sys

import numpy as np
import processes
import pytest
from fault_rows import row
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from hingeline.io import open_dataset
from hingeline.io.dataset.arrays import DatasetError
from hingeline.io.dataset.convert import convert
from hingeline.io.dataset.folder import read_description
from hingeline.synthetic import make_text


@pytest.fixture
def text(tmp_path):
    X, y = make_text(300, 200, words_per_row=8, seed=1)
    dump_svmlight_file(X, y, str(tmp_path / "text"), zero_based=False)
    return tmp_path / "text"


@pytest.mark.parametrize("memory", [1, 1 << 30])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_dataset_holds_what_the_text_holds(text, tmp_path, memory, n_threads, monkeypatch):
    monkeypatch.setattr("hingeline.io.dataset.convert.SMALLEST_BLOCK", 1000)  # many blocks even here
    description = convert(text, tmp_path / "set", memory=memory, n_threads=n_threads)
    X, y = open_dataset(tmp_path / "set", verify=True)
    expected, labels = load_svmlight_file(str(text))
    assert description.index_base == 1
    assert description.source == "text"
    assert X.shape == expected.shape
    np.testing.assert_array_equal(X.indptr, expected.indptr)
    np.testing.assert_array_equal(X.indices, expected.indices)
    np.testing.assert_array_equal(X.data, expected.data)
    np.testing.assert_array_equal(y, labels)


def test_a_zero_that_comes_late(tmp_path, monkeypatch):
    """Columns count from 0, which shows only in the last block."""
    monkeypatch.setattr("hingeline.io.dataset.convert.SMALLEST_BLOCK", 10)
    (tmp_path / "text").write_text("1 1:1 4:1\n" * 50 + "-1 2:1\n" * 3 + "1 0:1\n")
    description = convert(tmp_path / "text", tmp_path / "set", memory=1)
    assert (description.columns, description.index_base) == (5, 0)
    X, _ = open_dataset(tmp_path / "set")
    assert X.indices.tolist() == [1, 4] * 50 + [2] * 3 + [0]


def test_the_base_can_be_told(tmp_path):
    (tmp_path / "text").write_text("1 1:1 4:1\n")
    assert convert(tmp_path / "text", tmp_path / "set", zero_based=True).columns == 5
    (tmp_path / "text").write_text("1 0:1 4:1\n")
    with pytest.raises(ValueError, match=r"text.*line 1"):
        convert(tmp_path / "text", tmp_path / "one", zero_based=False)


def test_values_change_their_type_on_the_way(tmp_path, monkeypatch):
    monkeypatch.setattr("hingeline.io.dataset.convert.SMALLEST_BLOCK", 10)
    (tmp_path / "text").write_text("1 1:1\n" * 20 + "1 1:0.5\n" * 20 + "1 1:0.1\n")
    convert(tmp_path / "text", tmp_path / "set", memory=1, n_threads=1)
    X, _ = open_dataset(tmp_path / "set", verify=True)
    np.testing.assert_array_equal(X.data, [1.0] * 20 + [0.5] * 20 + [0.1])


def test_columns_can_be_more_than_are_used(tmp_path):
    (tmp_path / "text").write_text("1 3:1\n")
    assert convert(tmp_path / "text", tmp_path / "set", columns=7).columns == 7
    with pytest.raises(ValueError, match="only 2 were requested"):
        convert(tmp_path / "text", tmp_path / "narrow", columns=2)


def test_bad_text_leaves_nothing(tmp_path):
    (tmp_path / "text").write_text("1 1:1\n-1 x:1\n")
    with pytest.raises(ValueError, match="line 2"):
        convert(tmp_path / "text", tmp_path / "set")
    (tmp_path / "text").write_text("\n# nothing\n")
    with pytest.raises(ValueError, match="text holds no rows"):
        convert(tmp_path / "text", tmp_path / "set")
    assert os.listdir(tmp_path) == ["text"]


@row("interrupt-convert")
def test_an_interruption_leaves_nothing(text, tmp_path):
    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert(text, tmp_path / "set", progress=interrupt)
    assert os.listdir(tmp_path) == ["text"]


def test_an_existing_target_is_refused_before_any_work(text, tmp_path):
    convert(text, tmp_path / "set")
    with pytest.raises(FileExistsError, match="already exists"):
        convert(text, tmp_path / "set", progress=lambda *_: pytest.fail("it was read"))
    convert(text, tmp_path / "set", force=True)


WRITES_FOR_EVER = """
import sys, numpy as np
from hingeline.io.dataset.writer import DatasetWriter
with DatasetWriter(sys.argv[1], force=True) as writer:
    while True:
        writer.append(np.ones(9), np.arange(10), np.zeros(9, np.int32), np.full(9, 0.1))
        if writer.rows == 900:
            print("running", flush=True)
"""


@row("kill-convert")
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there are no such signals")
def test_a_killed_writer_leaves_nothing_that_opens(text, tmp_path):
    convert(text, tmp_path / "set")
    before = read_description(tmp_path / "set")
    with processes.started([sys.executable, "-c", WRITES_FOR_EVER, tmp_path / "set"]) as process:
        assert process.stdout.readline() == "running\n"
        with pytest.raises(FileExistsError):
            convert(text, tmp_path / "set")
        (left,) = tmp_path.glob(".set.partial-*")  # it lives, so it is left alone
        process.kill()
    assert read_description(tmp_path / "set") == before
    with pytest.raises(DatasetError, match="is not a dataset"):
        open_dataset(left)
    convert(text, tmp_path / "set", force=True)
    assert sorted(os.listdir(tmp_path)) == ["set", "text"]


def left_by_a_killed_writer(tmp_path, text):
    """Return a folder as it is between the two renames that replace a dataset."""
    convert(text, tmp_path / "set")
    os.rename(tmp_path / "set", tmp_path / ".set.replaced-0123abcd")
    convert(text, tmp_path / "new")
    os.rename(tmp_path / "new", tmp_path / ".set.partial-0123abcd")


def test_a_dataset_that_was_being_replaced_comes_back(text, tmp_path):
    left_by_a_killed_writer(tmp_path, text)
    with pytest.raises(FileExistsError, match="already exists"):
        convert(text, tmp_path / "set")
    open_dataset(tmp_path / "set", verify=True)
    assert sorted(os.listdir(tmp_path)) == ["set", "text"]


def test_leftovers_of_a_dataset_that_was_replaced_are_removed(text, tmp_path):
    left_by_a_killed_writer(tmp_path, text)
    os.rename(tmp_path / ".set.partial-0123abcd", tmp_path / "set")
    others = [".set.partial-mine", ".other.partial-0123abcd", "set.partial-0123abcd"]
    for other in others:
        (tmp_path / other).mkdir()
    convert(text, tmp_path / "set", force=True)
    assert sorted(os.listdir(tmp_path)) == sorted(["set", "text", *others])
