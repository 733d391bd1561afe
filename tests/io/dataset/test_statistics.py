import numpy as np
import pytest

from hingeline.io.dataset.convert import convert
from hingeline.io.dataset.statistics import describe


def test_text_and_dataset_have_the_same_statistics(tmp_path, monkeypatch):
    (tmp_path / "text").write_text("2 1:1 4:0.5\n1\n2 2:1 3:1 5:1\n")
    convert(tmp_path / "text", tmp_path / "set")
    of_text, of_set = describe(tmp_path / "text"), describe(tmp_path / "set")
    for s in (of_text, of_set):
        assert (s.rows, s.columns, s.nonzeros, s.shortest_row, s.longest_row) == (3, 5, 5, 0, 3)
        assert s.label_counts == [(1.0, 1), (2.0, 2)]
        assert s.nonzeros_per_row == pytest.approx(5 / 3)
        assert s.density == pytest.approx(1 / 3)
    assert (of_text.values, of_set.values) == ("numbers", "float32")
    assert (of_text.bytes, of_set.bytes) == ((tmp_path / "text").stat().st_size, 4 * 4 + 5 * 4 + 5 * 4 + 3 * 8)
    monkeypatch.setattr("hingeline.io.dataset.statistics.CHUNK_BYTES", 4)
    assert describe(tmp_path / "set") == of_set


def test_columns_from_zero_and_ones(tmp_path):
    (tmp_path / "text").write_text("1 0:1 4:1\n")
    convert(tmp_path / "text", tmp_path / "set")
    for s in (describe(tmp_path / "text"), describe(tmp_path / "set")):
        assert (s.columns, s.values) == (5, "all 1")


def test_regression(tmp_path):
    (tmp_path / "text").write_text("".join(f"{value!r} 1:1\n" for value in np.linspace(0, 1, 1500).tolist()))
    assert describe(tmp_path / "text").label_counts is None


def test_nothing_to_describe(tmp_path):
    (tmp_path / "text").write_text("# nothing\n")
    with pytest.raises(ValueError, match="holds no rows"):
        describe(tmp_path / "text")
    with pytest.raises(OSError, match="nowhere"):
        describe(tmp_path / "nowhere")
