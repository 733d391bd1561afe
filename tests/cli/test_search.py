"""hingeline search: the table, the files, resuming, refusals."""

import json
import os
import signal
import sys
import time
import warnings

import numpy as np
import processes
import pytest
from fault_rows import row
from problems import classification, csr, regression
from sklearn.model_selection import StratifiedKFold

from hingeline import LinearSVCCV
from hingeline.cli import main, parser_of
from hingeline.cli.search_options import check, estimator_of, grid_of
from hingeline.io import dump_svmlight
from hingeline.io.models.liblinear_file import read_model
from hingeline.selection.choice import Choice
from hingeline.selection.record import SearchRecord

X, Y = classification(90, 5, seed=1)
GRID = ["--c-min", "0.01", "--c-max", "10", "--c-step", "10", "-B", "-1"]


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dump_svmlight(csr(X), Y, "train.txt", zero_based=False)
    return "train.txt"


def search(*words):
    return main(["search", *map(str, words)])


def content(folder):
    with open(os.path.join(folder, "path.json")) as file:
        return json.load(file)


def scores_in(folder):
    return [cell["scores"] for cell in content(folder)["cells"]]


def test_table_files_and_choice(data, capsys):
    assert search("-v", 4, *GRID, "-s", 3, "--seed", 7, "--no-early-stop", "--out", "out", data) == 0
    printed = capsys.readouterr().out
    cv = StratifiedKFold(4, shuffle=True, random_state=7)
    grid = [0.01, 0.1, 1.0, 10.0]
    expected = LinearSVCCV(Cs=grid, cv=cv, loss="hinge", fit_intercept=False, early_stopping=False).fit(X, Y)
    found = content("out")
    np.testing.assert_allclose([cell["C"] for cell in found["cells"]], grid)
    np.testing.assert_allclose(scores_in("out"), expected.scores_)
    np.testing.assert_allclose([cell["mean"] for cell in found["cells"]], expected.mean_scores_)
    np.testing.assert_allclose([cell["std_error"] for cell in found["cells"]], expected.std_errors_)
    assert found["best_C"] == pytest.approx(expected.C_)
    assert found["one_se_C"] == pytest.approx(expected.C_1se_)
    assert found["finished"]
    said = {
        key: found[key] for key in ("format", "version", "data", "n_samples", "n_features", "loss", "folds", "seed")
    }
    assert said == {
        "format": "hingeline search",
        "version": 1,
        "data": data,
        "n_samples": 90,
        "n_features": 5,
        "loss": "hinge",
        "folds": 4,
        "seed": 7,
    }
    rows = np.genfromtxt("out/path.csv", delimiter=",", names=True)
    np.testing.assert_allclose(rows["score"].reshape(4, 4), expected.scores_)
    assert sum("4/4" in line for line in printed.splitlines()) == 4
    assert f"best C = {expected.C_:g}" in printed
    assert os.path.getsize("out/path.png") > 10_000
    assert not os.path.exists("out/starts")


@pytest.mark.parametrize("threads", [1, 11])
def test_an_interrupted_search_goes_on_and_ends_as_if_it_had_not_been(data, monkeypatch, capsys, threads):
    words = [*GRID, "--loss", "hinge", "--solver", "hybrid", "--no-early-stop", "--threads", threads]
    assert search(*words, "--out", "whole", data) == 0
    kept = SearchRecord.keep

    def interrupted_keep(self, *cell):
        kept(self, *cell)
        if len(self.table.cells) == 7:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(SearchRecord, "keep", interrupted_keep)
        assert search(*words, "--out", "parts", data) == 130
    found = content("parts")
    assert not found["finished"]
    assert found["best_C"] is None
    assert sum(score is not None for cell in found["cells"] for score in cell["scores"]) == 7
    assert "7 fits are kept" in capsys.readouterr().err
    with monkeypatch.context() as patch:
        times = []
        patch.setattr(SearchRecord, "keep", lambda self, *cell: (times.append(cell), kept(self, *cell)))
        assert search(*words, "--out", "parts", data) == 0
    assert len(times) == 13  # of 20
    assert scores_in("parts") == scores_in("whole")
    gaps = [[cell["gaps"] for cell in content(folder)["cells"]] for folder in ("parts", "whole")]
    assert gaps[0] == gaps[1]  # the very same solutions: starts were kept too
    assert "7 fits of an earlier run" in capsys.readouterr().out
    assert search(*words, "--out", "parts", data) == 0  # finished: the table is shown, nothing is done


def test_broken_starts_are_done_without(data, monkeypatch):
    words = [*GRID, "--out", "out", "--no-early-stop", data]
    assert search(*words) == 0
    table = content("out")
    for cell in table["cells"][2:]:
        cell["scores"] = [None] * 5
    table["finished"] = False
    os.mkdir("out/starts")
    with open("out/starts/C-1-fold-0", "wb") as file:
        file.write(b"hingeline model 1\nnonsense")
    with open("out/path.json", "w") as file:
        json.dump(table, file)
    before = scores_in("out")
    assert search(*words) == 0
    assert scores_in("out")[:2] == before[:2]
    assert all(None not in row for row in scores_in("out"))


@row("search-changed")
def test_a_changed_command_or_changed_data_is_noticed(data, capsys):
    words = [*GRID, "--out", "out", data]
    assert search(*words) == 0
    for changed, what in (
        (["-s", 3], "loss"),
        (["--seed", 5], "seed"),
        (["-v", 3], "folds"),
        (["--weight", "1=2"], "weights"),
    ):
        assert search(*changed, *words) == 1
        assert f"differs in {what}" in capsys.readouterr().err
    assert search(*words, "-B", 2) == 1
    assert "differs in bias" in capsys.readouterr().err
    assert search(*words, "--c-max", 100) == 1
    assert "differs in Cs" in capsys.readouterr().err
    dump_svmlight(csr(2.0 * X), Y, data, zero_based=False)
    assert search(*words) == 1
    assert "differs in data" in capsys.readouterr().err
    with open("out/path.json", "w") as file:
        file.write("{}")
    assert search(*words) == 1
    assert "damaged" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["-s", 0], ["--loss", "squared_hinge", "--scoring", "roc_auc"], ["-s", 13, "-p", 0.2]]
)
def test_other_losses(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    data, y = regression(60, 4, seed=0) if 13 in words else classification(60, 4, seed=0)
    dump_svmlight(csr(data), y, "some.txt", zero_based=False)
    assert search("-v", 3, "--n-c", 2, "-B", 1, *words, "some.txt") == 0
    found = content("some.txt.search")
    assert [cell["C"] for cell in found["cells"]] == pytest.approx([1e-4, 1e4])
    assert found["scoring"] == {0: "accuracy", 13: "r2"}.get(words[1], "roc_auc")


def test_usage(data, capsys):
    for status, message, words in [
        (2, "expected a factor above one", ["--c-step", "1", data]),
        (2, "is below --c-min", ["--c-max", "1e-5", data]),
        (2, "add -B 1", ["-R", "-B", "2", data]),
        (2, "not available for the loss hinge", ["-R", "-s", "3", data]),
        (2, "no classes to weigh", ["-s", "11", "-w1", "2", data]),
        (2, "expected LABEL=W", ["--weight", "x=1", data]),
        (2, "the weight of the label 1 is missing", [data, "-w1"]),
        (2, "a finite number", ["-w1", "x", data]),
        (2, "not allowed with", ["--c-step", "2", "--n-c", "3", data]),
        (2, "more than 1000 values", ["--c-step", "1.00001", data]),
        (2, "--scoring", ["--scoring", "elephant", data]),
        (2, "invalid choice", ["-s", "4", data]),
        (1, "can be cut into", ["-v", "1000", data]),
        (1, "nowhere", ["nowhere.txt"]),
    ]:
        if status == 2:
            with pytest.raises(SystemExit) as left:
                search(*words)
            assert left.value.code == 2
        else:
            assert search(*words) == 1
        assert message in capsys.readouterr().err


@row("interrupt-search")
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process there")
def test_ctrl_c(tmp_path):
    rng = np.random.default_rng(0)
    dump_svmlight(csr(rng.normal(size=(1500, 30))), rng.choice([-1, 1], 1500), str(tmp_path / "hard.txt"))
    words = ["search", "-s", "3", "--solver", "hybrid", "--tol", "1e-12", "--c-min", "1e-6", "--c-step", "1e12"]
    words += ["--c-max", "1e6", "--out", str(tmp_path / "out"), str(tmp_path / "hard.txt")]
    path = tmp_path / "out" / "path.json"
    with processes.started([sys.executable, "-m", "hingeline", *words], stdout=None) as process:
        while process.poll() is None and not (path.exists() and None not in scores_in(path.parent)[0]):
            time.sleep(0.05)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "the same command continues" in said
    assert scores_in(path.parent)[1] == [None] * 5


def test_nothing_is_warned_of(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DeprecationWarning)  # of old packages beside new ones
        assert search(*GRID, "--out", "quiet", data) == 0


def test_the_defaults_are_those_of_the_estimator(data):
    parsed = parser_of(["search"]).parse_args(["search", data])
    check(parsed)
    grid = grid_of(parsed)
    estimator = estimator_of(parsed, grid, Y)
    np.testing.assert_allclose(grid, LinearSVCCV().grid())
    for name in ("fit_intercept", "intercept_scaling", "loss", "tol", "solver", "class_weight"):
        assert getattr(estimator, name) == getattr(LinearSVCCV(), name), name


def test_the_winner_is_trained(data, capsys):
    words = ("-v", 3, "--n-c", 3, "-w1", 2, "--out", "out", data)
    assert search(*words, "--model", "model") == 0
    assert "Objective value" in capsys.readouterr().out
    best = content("out")["best_C"]
    assert main(["train", "-q", "-s", "1", "-c", repr(best), "-B", "1", "-w1", "2", "-e", "1e-3", data, "same"]) == 0
    np.testing.assert_allclose(read_model("model").w, read_model("same").w, rtol=1e-6, atol=1e-9)
    assert search(*words, "--model", "model", "--json") == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert not err
    assert found["best_C"] == best
    assert found["model"]["converged"]
    assert len(found["table"]) == 3


def test_weights_of_negative_labels(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    dump_svmlight(X, np.where(Y == Y.max(), 1, -1), "signs")
    for number, words in enumerate((["-w-1", "5"], ["--weight=-1=5"])):
        assert main(["search", "-v", "3", "--n-c", "2", "--json", "--out", f"{number}", *words, "signs"]) == 0
        capsys.readouterr()


def test_weights_of_classes_and_a_free_intercept(data):
    assert search("-v", 3, "--n-c", 2, "-R", "-w1", 3, "-w1", 2, "--out", "out", "--model", "free", data) == 0
    grid, cv = [1e-4, 1e4], StratifiedKFold(3, shuffle=True, random_state=0)
    expected = LinearSVCCV(Cs=grid, cv=cv, class_weight={1: 6.0}, fit_intercept="free", random_state=0).fit(X, Y)
    np.testing.assert_allclose(scores_in("out"), expected.scores_)
    assert read_model("free").solver_type.can_free_bias


@pytest.mark.parametrize(
    ("grid", "hint"),
    [
        (["--c-min", "1e-9", "--c-max", "1e-6"], "try larger ones (--c-max 0.0001)"),
        (["--c-min", "1e8", "--c-max", "1e9"], "try smaller ones (--c-min 1e+06)"),
        (["--c-min", "1", "--c-max", "1"], None),
    ],
)
def test_a_best_C_at_the_edge_is_told(data, capsys, monkeypatch, grid, hint):
    best = 0 if hint and "smaller" in hint else -1
    chosen = "hingeline.selection.record.choose"
    monkeypatch.setattr(chosen, lambda scores: Choice(best % len(scores), 0, scores.mean(1), scores.std(1)))
    assert search(*grid, "--n-c", 2, "--out", "out", data) == 0
    out = capsys.readouterr().out
    assert (hint in out) if hint else "one tried" not in out
