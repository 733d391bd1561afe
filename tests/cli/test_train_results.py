"""What ``train`` says when it has ended: JSON, and which classes are unfinished."""

import json
from dataclasses import replace

import pytest
from svmlight_files import make_rows, write_rows

from hingeline.cli import main
from hingeline.cli.train_results import unfinished
from hingeline.cli.training_progress import ProgressBars, titles_of
from hingeline.liblinear.fit import fit
from hingeline.liblinear.settings import Settings
from hingeline.progress import open_screen
from hingeline.solution import Progress


@pytest.fixture(scope="module")
def trained():
    return fit(*make_rows("many"), Settings())


def with_ends(trained, *ends):
    """Return the same with other reasons for the end, and numbers of sweeps."""
    solutions = [
        replace(s, stop_reason=reason, converged=reason == "tol", n_iter=n_iter)
        for s, (reason, n_iter) in zip(trained.solutions, ends, strict=True)
    ]
    return trained._replace(solutions=solutions)


def test_which_classes_are_unfinished(trained):
    assert unfinished(trained) == ""
    labels = trained.model.labels
    ended = with_ends(trained, ("tol", 3), ("interrupted", 5), ("interrupted", 0))
    expected = f"of 3 classes, 1 not converged (label {labels[1]}) and 1 untrained (label {labels[2]})"
    assert unfinished(ended) == expected
    ended = with_ends(trained, ("tol", 3), ("interrupted", 0), ("interrupted", 0))
    assert unfinished(ended) == f"of 3 classes, 2 untrained (labels {labels[1]}, {labels[2]})"


def test_a_single_problem_that_is_unfinished():
    one = fit(*make_rows("signs"), Settings())
    assert "ended before it converged; the relative gap of" in unfinished(with_ends(one, ("max_time", 4)))


def test_names_of_problems():
    assert titles_of((5, -2, 9), Settings()) == [f"class {k} of 3 (label {n})" for k, n in ((1, 5), (2, -2), (3, 9))]
    for labels, number in (((5, 9), 1), ((5, -2, 9), 4), (None, 11), (None, 21)):
        assert titles_of(labels, Settings(type=number)) == ["training"]


def test_a_bar_counts_the_classes():
    with open_screen(wanted=False) as screen:
        bars = ProgressBars(screen, Settings(), titles_of((5, -2, 9), Settings()))
        bars.report(1, Progress(1, 10, 0.1, 1.0, 1.0))
        shown = [bar.line() for bar in screen._bars]
        assert [line.title for line in shown] == ["training", "class 2 of 3 (label -2)"]
        assert "0 of 3 classes" in shown[0].text
        bars.report(1, None)
        assert ["1 of 3 classes" in bar.line().text for bar in screen._bars] == [True]


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return {kind: write_rows(tmp_path / kind, *make_rows(kind)) for kind in ("many", "targets")}


def printed(capsys, *words):
    assert main(["train", *words, "--json"]) == 0
    out, err = capsys.readouterr()
    assert not err
    return json.loads(out)


def test_json_of_a_training(data, capsys):
    found = printed(capsys, data["many"], "model")
    assert found["labels"] == [int(p["label"]) for p in found["problems"]]
    assert found["saved"] == ["model"]
    assert found["converged"]
    assert not found["interrupted"]
    assert all(0.0 <= p["gap"] < 1.0 and p["dual"] <= p["primal"] for p in found["problems"])


def test_json_of_a_cross_validation(data, capsys):
    found = printed(capsys, "-v", "3", data["many"])
    assert found["folds"] == 3
    assert 0.0 < found["accuracy"] <= 1.0
    assert printed(capsys, "-v", "3", "-s", "11", data["targets"])["mean_squared_error"] > 0.0


def test_json_of_a_search(data, capsys):
    found = printed(capsys, "-C", "-s", "2", data["many"])
    assert found["best"] in found["tried"]
    assert found["best"]["accuracy"] == max(each["accuracy"] for each in found["tried"])
