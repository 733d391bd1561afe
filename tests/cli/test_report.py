"""``hingeline report``: what it takes, and what it says of what it cannot take."""

import json
import shutil

import numpy as np
import pytest
from runs import change, make_run, make_search
from svmlight_files import make_rows, write_rows

from hingeline import LinearSVC
from hingeline.cli import main
from hingeline.estimators.per_class import PerClass
from hingeline.io import save_model
from hingeline.io.records.run_folder import read_run


@pytest.fixture(scope="module")
def shared_run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def run(shared_run, tmp_path):
    return shutil.copytree(shared_run, tmp_path / "run")


def report(*words):
    """Return the status, with the report at ``report.html``."""
    return main(["report", *map(str, words)])


def test_every_kind_of_source_has_its_sections(run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y = make_rows("signs")
    save_model(LinearSVC().fit(X, y), tmp_path / "native")
    trained = ('id="convergence"', 'id="certificate"', 'id="features"')
    of_run = (*trained, 'id="outcome"', 'id="data"', 'id="environment"')
    searched = ('id="c-path"', "Best C")
    both = make_search(shutil.copytree(run, tmp_path / "both"))
    for source, there, missing in (
        (run, of_run, searched),
        (make_search(tmp_path / "search"), searched, of_run),
        (both, (*of_run, *searched), ()),
        (tmp_path / "native", trained, searched),
        (run / "model", ('id="features"',), ('id="convergence"', *searched)),
    ):
        assert report(source) == 0
        assert capsys.readouterr().out == "written to report.html\n"
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert all(part in page for part in there), source
        assert ('id="reproduce"' in page) == (source != run / "model")
        assert not any(part in page for part in missing), source


def test_given_data_takes_the_place_of_the_training_data(run, tmp_path):
    X, y = make_rows("signs", n=30, seed=7)
    data = write_rows(tmp_path / "other", X[:, :5], y)  # fewer columns than the model has
    assert report(run, "-o", tmp_path / "a.html", "--data", data, "--title", "Mine") == 0
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert '<dt>rows</dt><dd><data value="30">30</data></dd>' in page
    assert "Mine" in page
    assert "training data" not in page
    save_model(LinearSVC().fit(*make_rows("signs")), tmp_path / "native")
    assert report(tmp_path / "native", "-o", tmp_path / "b.html", "--data", data) == 0
    assert "Confusion matrix" in (tmp_path / "b.html").read_text(encoding="utf-8")


def test_labels_of_another_kind_are_told(tmp_path, capsys):
    X, y = make_rows("signs")
    save_model(LinearSVC().fit(X, np.where(y > 0, "yes", "no")), tmp_path / "native")
    data = write_rows(tmp_path / "rows", X, y)
    assert report(tmp_path / "native", "-o", tmp_path / "a.html", "--data", data) == 1
    assert "y holds labels like" in capsys.readouterr().err


def test_features_are_named(run, tmp_path, capsys):
    names = tmp_path / "names"
    names.write_text("".join(f"word{k}\r\n" for k in range(12)))
    assert report(run, "-o", tmp_path / "a.html", "--feature-names", names) == 0
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<bdi>word11</bdi>" in page
    assert "feature 12" not in page
    names.write_text("one\ntwo\n")
    assert report(run, "-o", tmp_path / "b.html", "--feature-names", names) == 1
    assert "2 feature names, but the model has 12 features" in capsys.readouterr().err
    assert not (tmp_path / "b.html").exists()
    assert report(make_search(tmp_path / "s"), "-o", tmp_path / "b.html", "--feature-names", names) == 1
    assert "holds no model whose features" in capsys.readouterr().err


def drop(key):
    return lambda document: document.pop(key)


def test_a_run_of_an_earlier_version(run, tmp_path):
    change(run / "run.json", drop("seconds"))
    assert report(run, "-o", tmp_path / "report.html") == 0


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (drop("machines"), "machines is missing"),
        (lambda d: d.update(command=7), "command should be text"),
        (lambda d: d.update(version=99), "its version is 99"),
        (lambda d: d.update(seconds="1"), "seconds should be a finite number or null"),
        (lambda d: d["machines"][0].update(gap="1e-3"), r"machines[0].gap should be a finite number or null"),
        (lambda d: d["machines"][0]["history"]["gap"].pop(), "columns of different lengths"),
        (lambda d: d["evaluation"]["counts"].append([0, 2, 5]), "names no pair of the 2 labels"),
        (lambda d: d["evaluation"]["counts"].append([0]), "names no pair of the 2 labels"),
        (lambda d: d["evaluation"].update(labels=None), "names no pair of the 0 labels"),
        (lambda d: d["data"].update(rows=-1), "data.rows should be a whole number"),
        (lambda d: d.update(settings=[]), "settings should be an object"),
    ],
)
def test_a_damaged_run_is_a_clear_error(run, tmp_path, edit, message, capsys):
    change(run / "run.json", edit)
    assert report(run, "-o", tmp_path / "report.html") == 1
    err = capsys.readouterr().err
    assert message in err
    assert "run.json" in err
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cells": [{}]}, "cells[0].C is missing"),
        ({"finished": None}, "finished should be true or false"),
        ({"best_C": "1"}, "best_C should be a finite number"),
        ({"format": "x"}, "its format is not 'hingeline search'"),
    ],
)
def test_a_damaged_search_is_a_clear_error(tmp_path, changes, message, capsys):
    assert report(make_search(tmp_path / "s", **changes), "-o", tmp_path / "report.html") == 1
    assert message in capsys.readouterr().err


def test_a_C_of_zero_is_refused(tmp_path, capsys):
    folder = make_search(tmp_path / "s")
    change(folder / "path.json", lambda d: d["cells"][0].update(C=0.0))
    assert report(folder, "-o", tmp_path / "report.html") == 1
    assert "cells[0].C is 0, not above zero" in capsys.readouterr().err


def test_what_is_no_run_is_a_clear_error(run, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text").write_text("hello\n")
    (tmp_path / "cut").write_bytes(b"hingeline model 1\n{")
    for source, message in (
        (tmp_path / "empty", "holds no run.json"),
        (tmp_path / "missing", "does not exist"),
        (tmp_path / "text", "line 1"),
        (tmp_path / "cut", "damaged"),
    ):
        assert report(source, "-o", tmp_path / "report.html") == 1
        assert message in capsys.readouterr().err
    (run / "model").unlink()
    assert report(run, "-o", tmp_path / "report.html") == 1
    assert "model" in capsys.readouterr().err
    assert report(run, "-o", tmp_path / "no" / "where") == 1


def test_a_native_model_whose_certificate_is_nonsense_is_a_clear_error(tmp_path, capsys):
    svc = LinearSVC().fit(*make_rows("signs"))
    nonsense = PerClass({**svc.per_class_, "n_iter": [-5]})
    for attribute, value in (
        ("history_", "hello"),
        ("per_class_", {"label": [3]}),
        ("per_class_", nonsense),
        ("dual_coef_", 3.0),
    ):
        good = getattr(svc, attribute)
        setattr(svc, attribute, value)
        save_model(svc, tmp_path / "native")
        setattr(svc, attribute, good)
        assert report(tmp_path / "native", "-o", tmp_path / "report.html") == 1
        assert "native: its training results contradict each other" in capsys.readouterr().err


def test_the_values_of_the_page_are_those_of_the_run(run, tmp_path):
    assert report(run, "-o", tmp_path / "report.html") == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    machine = read_run(run)["machines"][0]
    for key in ("primal", "dual", "gap", "violation", "seconds", "n_steps"):
        assert f'<data value="{machine[key]!r}">' in page, key
    block = page.partition('id="report-data">')[2].partition("</script>")[0]
    drawn = json.loads(block)["convergence"]["problems"][0]
    assert {key: drawn["sweeps" if key == "sweep" else key] for key in machine["history"]} == machine["history"]
