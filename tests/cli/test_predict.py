"""``hingeline predict``: what it reads, writes, prints and returns."""

import io
import json
import subprocess
import sys

import numpy as np
import pytest
from svmlight_files import make_rows, write_rows

from hingeline import LinearSVC
from hingeline.cli import main
from hingeline.io import load_svmlight, save_model, write_dataset
from hingeline.io.models.liblinear_file import LinearModel, write_model

BINARY = LinearModel(0, (1, -1), 2, 1.0, np.array([[1.0], [-2.0], [0.5]]))
MANY = LinearModel(7, (4, 9, -3), 2, -1.0, np.array([[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]]))
ROWS = "1 1:1 2:1\n-1 2:1 7:5\n1 1:3\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_model(BINARY, "binary")
    write_model(MANY, "many")
    (tmp_path / "rows").write_text(ROWS)
    return tmp_path


def test_labels_and_accuracy(files, capsys):
    assert main(["predict", "rows", "binary", "out"]) == 0
    assert capsys.readouterr().out == "Accuracy = 66.6667% (2/3)\n"
    assert (files / "out").read_text() == "-1\n-1\n1\n"
    assert main(["predict", "-q", "rows", "many", "out"]) == 0
    assert capsys.readouterr() == ("", "")
    assert (files / "out").read_text() == "4\n9\n-3\n"


def test_probabilities(files, capsys):
    assert main(["predict", "-b", "1", "rows", "binary", "out"]) == 0
    lines = (files / "out").read_text().splitlines()
    assert lines[0] == "labels 1 -1"
    p = 1.0 / (1.0 + np.exp(0.5))
    assert lines[1] == f"-1 {p:g} {1 - p:g}"
    assert main(["predict", "-b", "1", "rows", "many", "out"]) == 0
    lines = (files / "out").read_text().splitlines()
    assert lines[0] == "labels 4 9 -3"
    found = np.array([line.split() for line in lines[1:]], dtype=float)
    np.testing.assert_allclose(found[:, 1:].sum(axis=1), 1.0, atol=1e-5)
    assert main(["predict", "-b", "0", "rows", "binary", "out"]) == 0
    assert (files / "out").read_text() == "-1\n-1\n1\n"


def test_probabilities_of_other_models(files, capsys):
    write_model(LinearModel(1, (1, -1), 1, -1.0, np.ones((1, 1))), "svm")
    assert main(["predict", "-b", "1", "rows", "svm", "out"]) == 1
    assert "probability output is only supported for logistic regression" in capsys.readouterr().err
    assert not (files / "out").exists()


def test_extreme_scores_give_probabilities(files):
    write_model(LinearModel(0, (1, -1), 1, -1.0, np.array([[-1e6]])), "extreme")
    assert main(["predict", "-q", "-b", "1", "rows", "extreme", "out"]) == 0
    assert (files / "out").read_text().splitlines()[1] == "-1 0 1"


def test_regression_is_written_with_every_digit(files, capsys):
    write_model(LinearModel(11, None, 2, -1.0, np.array([[1 / 3], [0.1]])), "regression")
    assert main(["predict", "rows", "regression", "out"]) == 0
    assert [float(line) for line in (files / "out").read_text().split()] == [1 / 3 + 0.1, 0.1, 1 / 3 * 3.0]
    out = capsys.readouterr().out
    assert out.startswith("Mean squared error = ")
    assert "(regression)\nSquared correlation coefficient = " in out


def test_one_class(files, capsys):
    write_model(LinearModel(21, None, 2, -1.0, np.array([[1.0], [0.0]]), rho=1.0), "outliers")
    assert main(["predict", "rows", "outliers", "out"]) == 0
    assert (files / "out").read_text() == "-1\n-1\n1\n"
    assert capsys.readouterr().out == "Accuracy = 66.6667% (2/3)\n"


def test_kinds_of_data_and_output(files, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(ROWS.encode())))
    assert main(["predict", "-", "binary", "out"]) == 0
    write_dataset(files / "folder", *load_svmlight(files / "rows"))
    assert main(["predict", "-q", "folder", "binary", "out2"]) == 0
    assert (files / "out").read_text() == (files / "out2").read_text() == "-1\n-1\n1\n"


def test_output_to_a_pipe(files, capfdbinary):
    assert main(["predict", "rows", "binary", "-"]) == 0
    out, err = capfdbinary.readouterr()
    assert out == b"-1\n-1\n1\n"
    assert err == b"Accuracy = 66.6667% (2/3)\n"


def test_hinglines_own_models(files, capsys):
    X, y = make_rows("many")
    write_rows(files / "d", X, y)
    model = LinearSVC(loss="hinge", intercept_scaling=2.0).fit(X, y)
    save_model(model, files / "m")
    assert main(["predict", "d", "m", "out"]) == 0
    np.testing.assert_array_equal(np.loadtxt(files / "out"), model.predict(X))
    assert capsys.readouterr().out.startswith(f"Accuracy = {100 * model.score(X, y):g}%")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere", "binary", "out"), "nowhere"),
        (("rows", "nowhere", "out"), "nowhere"),
        (("rows", "rows", "out"), "rows, line 1"),
        (("rows", "binary", "no/out"), "does not exist"),
        (("binary", "binary", "out"), "line 1"),
        (("empty", "binary", "out"), "no rows"),
    ],
)
def test_bad_files(files, words, message, capsys):
    (files / "empty").write_text("")
    assert main(["predict", *words]) == 1
    assert message in capsys.readouterr().err
    assert not (files / "out").exists()


@pytest.mark.parametrize("model", ["binary", "native"])
def test_small_files_need_neither_scikit_learn_nor_compiled_code(files, model):
    """Importing those takes many times as long as predicting a small file. Modules are counted, not seconds."""
    svc = LinearSVC().fit(np.eye(2), [1, -1])
    svc.coef_, svc.intercept_ = np.array([[1.0, -2.0]]), np.array([0.5])
    save_model(svc, "native")
    words = ["predict", "rows", model, "out"]
    code = f"import sys; from hingeline.cli import main; main({words}); print(*sys.modules)"
    plain = "import argparse, json, numpy, pathlib, sys, tempfile; print(*sys.modules)"
    loaded, without = (
        subprocess.run([sys.executable, "-c", each], capture_output=True, text=True, check=True).stdout.splitlines()
        for each in (code, plain)
    )
    assert loaded[0] == "Accuracy = 66.6667% (2/3)"
    more = set(loaded[-1].split()) - set(without[-1].split())
    packages = {name.partition(".")[0] for name in more}
    assert not packages & {"numba", "scipy", "sklearn", "joblib", "threadpoolctl", "rich", "pandas", "pyarrow"}
    assert len(more) < 60, sorted(more)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("1 1:1\n-1 2:nan\n", "bad, line 2, column 6: value 'nan' is not finite"),
        ("1 0:1\n", "bad, line 1, column 3: index '0'"),
        ("", "bad: it holds no rows"),
    ],
)
def test_bad_rows_in_small_files(files, text, complaint, capsys):
    (files / "bad").write_text(text)
    assert main(["predict", "bad", "binary", "out"]) == 1
    assert complaint in capsys.readouterr().err
    assert not (files / "out").exists()


def test_scores(files, capsys):
    assert main(["predict", "--scores", "rows", "binary", "out"]) == 0
    assert (files / "out").read_text() == "scores 1\n-1 -0.5\n-1 -1.5\n1 3.5\n"
    assert main(["predict", "--scores", "rows", "many", "out"]) == 0
    assert (files / "out").read_text() == "scores 4 9 -3\n4 1 1 1\n9 0 1 -1\n-3 3 0 6\n"
    write_model(LinearModel(21, None, 2, -1.0, np.ones((2, 1)), rho=1.5), "one")
    assert main(["predict", "--scores", "rows", "one", "out"]) == 0
    assert (files / "out").read_text() == "scores 1\n1 0.5\n-1 -0.5\n1 1.5\n"
    with pytest.raises(SystemExit) as exit:
        main(["predict", "--scores", "-b", "1", "rows", "binary", "out"])
    assert exit.value.code == 2
    write_model(LinearModel(11, None, 2, -1.0, np.ones((2, 1))), "line")
    capsys.readouterr()
    assert main(["predict", "--scores", "rows", "line", "out"]) == 1
    assert "are its scores" in capsys.readouterr().err


def test_json(files, capsys):
    assert main(["predict", "--json", "rows", "binary", "out"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"data": "rows", "model": "binary", "output": "out", "rows": 3, "correct": 2, "accuracy": 2 / 3}
    write_model(LinearModel(11, None, 2, -1.0, np.ones((2, 1))), "line")
    assert main(["predict", "--json", "-q", "rows", "line", "out"]) == 0
    assert json.loads(capsys.readouterr().out)["mean_squared_error"] == 3.0
