"""``hingeline inspect``: models of both formats, and files that are none."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fault_rows import row
from svmlight_files import make_rows, write_rows

from hingeline import LinearSVC, LinearSVR
from hingeline.cli import main
from hingeline.io import save_model
from hingeline.io.models.liblinear_file import LinearModel, write_model
from hingeline.io.models.native_file import write_native

FIXTURES = sorted((Path(__file__).parent.parent / "io" / "models" / "fixtures").glob("*/*.model"))


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def inspected(capsys, *words):
    assert main(["inspect", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_model_of_liblinears(capsys):
    write_model(LinearModel(3, (4, 9, -3), 2, 1.0, np.array([[1.0, 0.0, 2.0], [0.5, 1.0, -1.0], [0.1, 0.2, 0.3]])), "m")
    assert main(["inspect", "m"]) == 0
    out = capsys.readouterr().out
    assert "hinge, L2-regularised (dual)" in out
    assert "3: 4, 9, -3" in out
    assert "5 of 6 are not zero" in out
    assert "LIBLINEAR's files only hold weights" in out
    found = inspected(capsys, "m", "--top", "1")
    assert [output["label"] for output in found["outputs"]] == ["4", "9", "-3"]
    assert [output["top"] for output in found["outputs"]][2] == [{"feature": "1", "weight": 2.0}]
    assert [output["intercept"] for output in found["outputs"]] == [0.1, 0.2, 0.3]
    Path("names").write_text("apples\npears\n")
    assert inspected(capsys, "m", "--feature-names", "names")["outputs"][1]["top"][0]["feature"] == "pears"


def test_a_model_with_its_certificate_and_names(capsys):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["height", "width", "depth"])
    y = np.where(X["width"] > 0.0, "wide", "narrow")
    svc = LinearSVC(C=0.5).fit(X, y)
    save_model(svc, "m")
    assert main(["inspect", "m"]) == 0
    out = capsys.readouterr().out
    assert "duality gap" in out
    assert "label wide" in out  # positive scores stand for the second class
    found = inspected(capsys, "m")
    assert found["certificate"]["objective"] == svc.objective_
    assert found["parameters"]["C"] == 0.5
    top = found["outputs"][0]["top"]
    assert top[0]["feature"] == "width"
    assert top[0]["weight"] == pytest.approx(svc.coef_[0, 1])


def test_a_regression(capsys):
    X, y = make_rows("targets")
    save_model(LinearSVR().fit(X, y), "m")
    found = inspected(capsys, "m")
    assert found["labels"] is None
    assert found["outputs"][0]["label"] is None


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_every_kind_of_model(path, capsys):
    found = inspected(capsys, str(path))
    assert found["bytes"] == path.stat().st_size
    assert len(found["outputs"]) >= 1
    assert main(["inspect", str(path)]) == 0


@row("model-inspect")
def test_files_that_are_no_models(capsys):
    write_rows(Path("rows"), *make_rows("signs"))
    write_native({"kind": "something"}, "other")
    write_native({"learned": {"coef_": "x"}, "parameters": {}}, "broken")
    write_model(LinearModel(3, (1, -1), 2, -1.0, np.ones((2, 1))), "m")
    Path("names").write_text("one\n")
    for words in (["rows"], ["other"], ["broken"], ["nowhere"], ["m", "--feature-names", "names"]):
        assert main(["inspect", *words]) == 1
        out, err = capsys.readouterr()
        assert not out
        assert words[0] in err
    with pytest.raises(SystemExit) as exit:
        main(["inspect", "--top", "x", "m"])
    assert exit.value.code == 2
