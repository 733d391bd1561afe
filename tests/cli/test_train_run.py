"""``hingeline train --run``: what the run folder holds."""

import json
import shlex

import numpy as np
import pytest
from runs import make_run
from svmlight_files import make_rows, write_rows

from hingeline.cli import main
from hingeline.io import write_dataset
from hingeline.io.models.liblinear_file import read_model
from hingeline.io.records.run_folder import read_run
from hingeline.liblinear import outcome
from hingeline.liblinear.evaluate import Tally
from hingeline.liblinear.predict import decide, scores


def confusion(folder, X, y):
    """Return the true and the recorded confusion matrix."""
    model, found = read_model(folder / "model"), read_run(folder)["evaluation"]
    predicted, labels = decide(model, scores(model, X)), sorted(set(y))
    expected = [[int(np.sum((y == a) & (predicted == b))) for b in labels] for a in labels]
    matrix = np.zeros((len(found["labels"]),) * 2, dtype=int)
    for i, j, n in found["counts"]:
        matrix[i, j] = n
    assert [float(label) for label in found["labels"]] == labels
    return expected, matrix.tolist()


@pytest.mark.parametrize("kind", ["signs", "two", "many"])
def test_the_record_says_what_was_trained(tmp_path, kind):
    folder = make_run(tmp_path, kind, "-s", "3", "-c", "2", "--gap", "1e-3", "--solver", "avsf")
    run, (X, y) = read_run(folder), make_rows(kind)
    assert shlex.split(run["command"])[:6] == ["hingeline", "train", "-q", "-s", "3", "-c"]
    assert run["settings"]["C"] == 2.0
    assert run["settings"]["relative gap to stop at"] == 1e-3
    data = run["data"]
    assert (data["rows"], data["columns"], data["nonzeros"]) == (*X.shape, X.nnz)
    assert (data["shortest_row"], data["longest_row"]) == (np.diff(X.indptr).min(), np.diff(X.indptr).max())
    assert [(float(c["label"]), c["rows"]) for c in data["labels"]] == [(k, np.sum(y == k)) for k in np.unique(y)]
    assert len(run["machines"]) == (3 if kind == "many" else 1)
    for machine in run["machines"]:
        assert machine["solver"] == "avsf"
        assert machine["gap"] <= 1e-3
        assert machine["dual"] <= machine["primal"]
        assert len(machine["history"]["steps"]) == machine["n_iter"]
        assert machine["history"]["steps"] == sorted(machine["history"]["steps"])
    assert run["seconds"] >= max(machine["seconds"] for machine in run["machines"])
    expected, found = confusion(folder, X, y)
    assert found == expected
    assert run["evaluation"]["figures"]["accuracy"] == pytest.approx(np.trace(expected) / len(y))
    assert run["environment"]["numpy"] == np.__version__


def test_the_outcome_is_that_of_all_blocks(tmp_path, monkeypatch):
    whole = read_run(make_run(tmp_path / "whole", "many"))["evaluation"]
    monkeypatch.setattr(outcome, "BLOCK", 7)
    assert read_run(make_run(tmp_path / "blocks", "many"))["evaluation"] == whole


def test_regression_and_one_class_have_figures(tmp_path):
    X, y = make_rows("targets")
    folder = make_run(tmp_path / "a", "targets", "-s", "11")
    model, run = read_model(folder / "model"), read_run(folder)
    tally = Tally().add(decide(model, scores(model, X)), y)
    assert run["evaluation"]["figures"]["mean squared error"] == pytest.approx(tally.mean_squared_error)
    assert run["evaluation"]["labels"] is None
    assert run["data"]["targets"]["largest"] == y.max()
    assert run["settings"]["epsilon"] == 0.1
    run = read_run(make_run(tmp_path / "b", "signs", "-s", "21", "-n", "0.3"))
    assert sum(run["evaluation"]["figures"].values()) == 80
    assert run["settings"]["nu"] == 0.3
    assert "C" not in run["settings"]


def test_datasets_are_recorded_too(tmp_path):
    X, y = make_rows("signs")
    X.data[:] = 1.0  # then no values are stored
    write_dataset(tmp_path / "rows", X, y)
    assert main(["train", "-q", "--run", str(tmp_path / "run"), str(tmp_path / "rows")]) == 0
    expected, found = confusion(tmp_path / "run", X, y)
    assert found == expected


def test_where_the_model_goes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = make_run(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"signs.svm", "run"}
    assert {path.name for path in folder.iterdir()} == {"run.json", "model"}
    assert main(["train", "-q", "--run", "run", "signs.svm", "named"]) == 0
    assert (tmp_path / "named").read_bytes() == (folder / "model").read_bytes()


def test_a_later_run_replaces_the_folder_as_a_whole(tmp_path, monkeypatch):
    folder = make_run(tmp_path)
    monkeypatch.setattr("hingeline.io.records.run_folder.write_model", lambda model, path: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make_run(tmp_path)
    assert not (folder / "run.json").exists()  # rather none than that of another model


def test_a_folder_that_cannot_be_is_told_before_training(tmp_path, capsys):
    (tmp_path / "taken").write_text("")
    assert main(["train", "--run", str(tmp_path / "taken"), str(tmp_path / "missing")]) == 1
    assert "is a file: name a folder for the run" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["-v", "3"], ["-C"]])
def test_run_needs_a_model(tmp_path, option, capsys):
    data = write_rows(tmp_path / "rows", *make_rows("signs"))
    with pytest.raises(SystemExit, match="2"):
        main(["train", *option, "--run", str(tmp_path / "run"), data])
    assert "--run: not available with -v or -C" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_infinities_do_not_reach_the_file(tmp_path):
    folder = make_run(tmp_path, "signs", "--max-time", "1e-6")

    def refuse(text):
        raise AssertionError(text)

    json.loads((folder / "run.json").read_text(), parse_constant=refuse)
    assert not read_run(folder)["machines"][0]["converged"]
