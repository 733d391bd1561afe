"""Tables as DATA of train, predict, search and report."""

import io
import json
import sys

import numpy as np
import pytest
from fault_rows import row
from svmlight_files import make_rows, write_rows

from hingeline.cli import main
from hingeline.io.models.liblinear_file import read_model

pytest.importorskip("pyarrow")
X, Y = make_rows("many")


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path / "text", X, Y)
    header = ",".join(f"f{j}" for j in range(X.shape[1]))
    lines = [",".join(map(repr, values)) for values in X.toarray().tolist()]
    (tmp_path / "bare.csv").write_text("\n".join((header, *lines)) + "\n")
    labelled = [f"{line},{label}" for line, label in zip(lines, Y, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join((f"{header},class", *labelled)) + "\n")
    return tmp_path


def test_a_table_gives_the_same_model_and_predictions_as_text(files, capsys):
    assert main(["train", "-q", "text", "from-text"]) == 0
    assert main(["train", "-q", "--label", "class", "t.csv", "from-table"]) == 0
    np.testing.assert_array_equal(read_model("from-text").w, read_model("from-table").w)
    assert main(["predict", "text", "from-text", "a"]) == 0
    assert main(["predict", "--label", "class", "t.csv", "from-table", "b"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == second
    assert main(["predict", "bare.csv", "from-table", "c"]) == 0
    assert capsys.readouterr() == ("", "")  # there are no labels to compare with
    assert (files / "a").read_text() == (files / "b").read_text() == (files / "c").read_text()
    assert main(["predict", "--json", "bare.csv", "from-table", "c"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == Y.size


def test_a_table_from_standard_input(files, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((files / "t.csv").read_bytes())))
    assert main(["train", "-q", "--label=class", "-", "model"]) == 0
    assert read_model("model").n_features == X.shape[1]


def test_searching_on_a_table(capsys):
    assert main(["search", "-v", "3", "--n-c", "2", "--label", "class", "t.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["best_C"] > 0.0


def test_a_report_on_a_table(files, capsys):
    assert main(["train", "-q", "text", "model"]) == 0
    assert main(["report", "model", "--data", "t.csv", "--label", "class"]) == 0
    page = (files / "report.html").read_text(encoding="utf-8")
    assert f'<dt>rows</dt><dd><data value="{Y.size}">' in page
    assert "Confusion matrix" in page


@row("table-usage")
def test_wrong_use_of_tables(capsys):
    assert main(["train", "-q", "--label", "class", "t.csv", "model"]) == 0
    for words, complaint in (
        (["train", "t.csv"], "add --label COLUMN"),
        (["train", "--label", "class", "text"], "text is not a table"),
        (["search", "t.csv"], "add --label COLUMN"),
        (["report", "model", "--data", "t.csv"], "add --label COLUMN"),
        (["report", "model", "--label", "class"], "name the table with --data"),
        (["predict", "t.csv", "model", "out"], "--label names the column of labels"),
        (["train", "--label", "f1", "t.csv", "model"], "classes are whole numbers"),
        (["train", "--label", "class", "nowhere.csv", "model"], "nowhere.csv"),
    ):
        assert main(words) == 1
        assert complaint in capsys.readouterr().err
