"""``hingeline train``: what it reads, writes, prints and returns."""

import bz2
import gzip
import io
import json
import os
import re
import signal
import sys
import time

import numpy as np
import processes
import pytest
from fault_rows import row
from svmlight_files import make_rows, text_of, write_rows

from hingeline.cli import main
from hingeline.io import load_svmlight, write_dataset
from hingeline.io.models.liblinear_file import read_model
from hingeline.io.models.native_file import read_native, write_native


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with data of each kind."""
    monkeypatch.chdir(tmp_path)
    for kind in ("signs", "two", "many", "targets"):
        write_rows(tmp_path / kind, *make_rows(kind))
    return tmp_path


def trained(*words):
    assert main(["train", "-q", *words, "model"]) == 0
    return read_model("model")


def test_the_model_is_named_after_the_data(files, capsys):
    (files / "deeper").mkdir()
    (files / "signs").rename(files / "deeper" / "signs")
    assert main(["train", "deeper/signs"]) == 0
    assert read_model("signs.model").labels == (1, -1)
    out = capsys.readouterr().out
    assert re.search(r"iterations, .* objective [\d.]+, relative gap [\de.-]+, violation", out)
    assert main(["train", "-q", "many", "elsewhere"]) == 0
    assert capsys.readouterr() == ("", "")
    assert read_model("elsewhere").w.shape == (12, 3)


def test_every_kind_of_input_gives_the_same_model(files, monkeypatch):
    expected = trained("many").w
    text = (files / "many").read_bytes()
    (files / "many.gz").write_bytes(gzip.compress(text))
    (files / "many.bz2").write_bytes(bz2.compress(text))
    np.testing.assert_allclose(trained("many.gz").w, expected, rtol=1e-9)
    np.testing.assert_allclose(trained("many.bz2").w, expected, rtol=1e-9)
    write_dataset(files / "folder", *load_svmlight(files / "many"))
    np.testing.assert_allclose(trained("folder").w, expected, rtol=1e-9)
    np.testing.assert_allclose(trained("folder/").w, expected, rtol=1e-9)
    assert main(["train", "-q", "folder/"]) == 0
    np.testing.assert_allclose(read_model("folder.model").w, expected, rtol=1e-9)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    np.testing.assert_allclose(trained("-").w, expected, rtol=1e-9)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert main(["train", "-q", "-"]) == 0
    np.testing.assert_allclose(read_model("stdin.model").w, expected, rtol=1e-9)


@pytest.mark.parametrize("solver", ["baseline", "avsf", "hybrid", "newton"])
def test_engines_agree_and_seeds_repeat(files, solver):
    words = ("-s", "3", "--gap", "1e-9", "--solver", solver, "signs")
    one, again = trained(*words, "--seed", "1"), trained(*words, "--seed", "1")
    np.testing.assert_array_equal(one.w, again.w)
    np.testing.assert_allclose(one.w, trained("-s", "3", "signs").w, atol=2e-3)


def test_threads_change_nothing(files):
    words = ("many", "--solver", "hybrid", "-e", "0.01")
    np.testing.assert_array_equal(trained(*words).w, trained(*words, "--threads", "3").w)


def test_weights_of_classes(files, capsys):
    plain, weighted = trained("two"), trained("-w7", "5", "-w99", "2", "two")
    assert "WARNING: class label 99 specified in weight is not found" in capsys.readouterr().err
    assert not np.allclose(plain.w, weighted.w)
    np.testing.assert_allclose(trained("-w7", "2", "-w3", "2", "two").w, trained("-c", "2", "two").w, rtol=1e-6)


def test_one_class_is_a_model_too(files, capsys):
    (files / "one").write_text("4 1:1 2:2\n4 1:2\n")
    model = trained("one")
    assert model.labels == (4,)
    assert model.w.shape == (2, 1)
    assert main(["predict", "one", "model", "out"]) == 0
    assert capsys.readouterr().out == "Accuracy = 100% (2/2)\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no rows"),
        ("1 1:x\n", "line 1"),
        ("1 1:1\n-1 0:1\n", "line 2"),
        ("1 1:1\n-1 1:nan\n", "line 2"),
        ("1.5 1:1\n2 1:2\n", "Row 1 has the label 1.5"),
        ("1 1:1\n3000000000 1:2\n", "Row 2 has the label 3e"),
    ],
)
def test_bad_data(files, text, message, capsys):
    (files / "bad").write_text(text)
    assert main(["train", "bad", "model"]) == 1
    assert message in capsys.readouterr().err
    assert not (files / "model").exists()


def test_other_failures(files, capsys):
    assert main(["train", "nowhere"]) == 1
    assert "nowhere" in capsys.readouterr().err
    assert main(["train", "signs", "no/such/folder"]) == 1
    assert "does not exist" in capsys.readouterr().err
    assert main(["train", "-c", "0", "signs"]) == 1
    assert capsys.readouterr().err == "hingeline: -c 0: must be a positive finite number.\n"
    assert main(["train", str(files)]) == 1


@pytest.mark.parametrize("kind", ["two", "many", "signs"])
def test_cross_validation(files, kind, capsys):
    accuracies = []
    for seed in ("0", "0", "1"):
        assert main(["train", "-v", "5", "--seed", seed, kind]) == 0
        match = re.fullmatch(r"Cross Validation Accuracy = ([\d.]+)%\n", capsys.readouterr().out)
        accuracies.append(float(match[1]))
    assert accuracies[0] == accuracies[1]
    assert min(accuracies) > 60.0
    assert os.listdir(files).count(f"{kind}.model") == 0


def test_cross_validation_by_hand(files, capsys):
    """Each row is predicted by a model of the other folds: here of all other rows."""
    X, y = make_rows("signs", n=12)
    write_rows(files / "few", X, y)
    assert main(["train", "-v", "99", "few"]) == 0
    out, err = capsys.readouterr()
    assert "# folds > # data" in err
    right = 0
    for i in range(12):
        others = np.arange(12) != i
        write_rows(files / "others", X[others], y[others])
        write_rows(files / "held out", X[[i]], y[[i]])
        trained("others")
        assert main(["predict", "held out", "model", "out"]) == 0
        right += "(1/1)" in capsys.readouterr().out
    assert out == f"Cross Validation Accuracy = {100 * right / 12:g}%\n"


def test_cross_validation_of_regression(files, capsys):
    assert main(["train", "-s", "11", "-v", "4", "targets"]) == 0
    out = capsys.readouterr().out
    assert re.fullmatch(
        r"Cross Validation Mean squared error = [\d.]+\nCross Validation Squared correlation coefficient = [\d.]+\n",
        out,
    )


@pytest.mark.parametrize("options", [(), ("-s", "0"), ("-s", "3"), ("-s", "1", "-v", "3", "-B", "1")])
def test_search_for_C(files, options, capsys):
    assert main(["train", "-C", *options, "many"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0] == f"Doing parameter search with {3 if '-v' in options else 5}-fold cross validation."
    rates = [re.fullmatch(r"log2c= *(-?\d+\.\d\d)\trate=([\d.]+)", line) for line in lines[1:-1]]
    found = {float(match[1]): float(match[2]) for match in rates if match}
    assert list(found) == list(np.arange(min(found), max(found) + 1))
    assert max(found) <= 10.0
    assert (max(found) == 10.0) == (lines[-2] == "WARNING: maximum C reached.")
    best = max(found.values())
    first = next(key for key, rate in found.items() if rate == best)
    assert lines[-1] == f"Best C = {2.0**first:g}  CV accuracy = {best:g}%"
    assert ("Solver not specified. Using -s 2" in err) == ("-s" not in options)
    assert main(["train", "-C", *options, "-q", "-c", "0.5", "many"]) == 0
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 2
    assert float(out.split("Best C = ")[1].split()[0]) >= 0.5


def test_search_ends_where_nothing_changes(files, capsys):
    (files / "easy").write_text("1 1:1\n-1 2:1\n" * 10)  # separable: weights stay as they are from some C on
    assert main(["train", "-C", "-s", "3", "easy"]) == 0
    out = capsys.readouterr().out
    assert "maximum C" not in out
    assert "CV accuracy = 100%" in out


def test_search_for_C_and_p(files, capsys):
    X, y = make_rows("targets", n=20, d=4)
    write_rows(files / "few", X, y)
    assert main(["train", "-C", "-s", "11", "-v", "2", "-p", "0.2", "-c", "65536", "few"]) == 0
    lines = capsys.readouterr().out.splitlines()
    pattern = r"log2c= *(-?\d+\.\d\d)\tp= *(\d+\.\d\d)\tMean squared error=([\d.]+)"
    found = [tuple(map(float, match.groups())) for line in lines if (match := re.fullmatch(pattern, line))]
    best = min(found, key=lambda item: item[2])
    C, p, error = map(float, re.fullmatch(r"Best C = (\S+) Best p = (\S+)  CV MSE = (\S+)", lines[-1]).groups())
    assert (np.log2(C), error) == pytest.approx((best[0], best[2]), rel=1e-4)
    assert p == pytest.approx(best[1], abs=0.006)


HARD = ("-s", "3", "-c", "1e4", "-e", "1e-12", "--solver", "baseline")


@pytest.fixture
def hard(files):
    """Data whose labels are noise: at a large C, coordinate descent takes minutes."""
    rng = np.random.default_rng(0)
    X, y = make_rows("signs", n=3000, d=40)
    return write_rows(files / "hard", X, rng.permutation(y))


def test_a_cap_on_time(hard, capsys):
    started = time.perf_counter()
    assert main(["train", *HARD, "--max-time", "0.3", hard, "model"]) == 0
    assert time.perf_counter() - started < 20.0
    out, err = capsys.readouterr()
    assert "(max_time)" in out
    assert "ended before it converged" in err
    assert np.any(read_model("model").w)


def test_checkpoint(hard):
    words = ["train", *HARD, "--checkpoint", "state", "--checkpoint-every", "0.05"]
    assert main([*words, "--max-time", "0.4", hard, "model"]) == 0
    first = dual_value(hard)
    assert main([*words, "--max-time", "0.4", hard, "model"]) == 0
    assert dual_value(hard) > first > 0.0  # it went on from there


def dual_value(data):
    """Return sum_i alpha_i - |w|^2/2 of what the checkpoint holds."""
    X, y = load_svmlight(data)
    alpha = read_native("state")["reached"][0]
    w = X.T @ (alpha * y)
    return alpha.sum() - 0.5 * w @ w


TYPES = [("3", "many"), ("1", "many"), ("4", "many"), ("4", "two"), ("5", "many"), ("6", "many"), ("21", "counts")]


@pytest.mark.parametrize(("kind", "data"), TYPES)
def test_saving_changes_nothing_and_the_end_is_a_start(files, capsys, kind, data):
    """Every sweep is saved; afterwards the same command finds that nothing is left to do."""
    X, y = make_rows("many")
    write_rows(files / "counts", abs(X), y)
    before = set(os.listdir())
    words = ("-s", kind, "--gap", "1e-7", "--solver", "hybrid")
    expected = trained(*words, data).w
    saving = (*words, "--checkpoint", "state", "--checkpoint-every", "1e-9")
    np.testing.assert_array_equal(trained(*saving, data).w, expected)
    capsys.readouterr()
    assert main(["train", *saving, data, "model"]) == 0
    iterations = [int(n) for n in re.findall(r"(\d+) iterations", capsys.readouterr().out)]
    assert iterations
    assert max(iterations) <= 6  # of hundreds, for some
    assert set(os.listdir()) == before | {"model", "state"}


def test_a_checkpoint_that_cannot_be_saved_costs_no_model(files, monkeypatch, capsys):
    def full(content, path):
        raise OSError("disk full")

    monkeypatch.setattr("hingeline.io.records.checkpoint.write_native", full)
    assert main(["train", "-q", "--checkpoint", "state", "--checkpoint-every", "1e-9", "many", "model"]) == 1
    said = capsys.readouterr().err
    assert "the checkpoint state could not be saved; training continues without it: disk full" in said
    assert said.splitlines()[-1].endswith("disk full")
    assert np.any(read_model("model").w)


@row("checkpoint-other")
def test_a_checkpoint_of_another_problem_is_refused(files, capsys):
    trained("--checkpoint", "state", "many")
    trained("--checkpoint", "state", "-e", "0.001", "--seed", "3", "many")  # the same problem
    before = (files / "state").read_bytes()
    for words in (("-c", "2", "many"), ("-s", "2", "many"), ("-B", "1", "many"), ("-w5", "2", "many"), ("two",)):
        assert main(["train", "--checkpoint", "state", *words, "other"]) == 1
        assert "checkpoint of another problem" in capsys.readouterr().err
    X, y = make_rows("many")
    X.data[5] += 1.0
    write_rows(files / "changed", X, y)
    assert main(["train", "--checkpoint", "state", "changed", "other"]) == 1
    assert "(differs in data)" in capsys.readouterr().err
    assert (files / "state").read_bytes() == before
    assert not (files / "other").exists()


@row("checkpoint-damaged")
def test_what_is_no_checkpoint(files, capsys):
    (files / "state").write_text("hello")
    assert main(["train", "--checkpoint", "state", "many"]) == 1
    assert "not a model file of hingeline's" in capsys.readouterr().err
    write_native({"kind": "something"}, files / "state")
    assert main(["train", "--checkpoint", "state", "many"]) == 1
    assert "is not a checkpoint" in capsys.readouterr().err
    trained("--checkpoint", "good", "many")
    content = read_native(files / "good")
    for damage in ({0: "x"}, {"a": np.zeros(3)}, {0: np.full(80, np.nan)}, {0: np.zeros(79)}, []):
        write_native({**content, "reached": damage}, files / "state")
        assert main(["train", "--checkpoint", "state", "many"]) == 1
        assert "damaged" in capsys.readouterr().err


@row("interrupt-train")
@pytest.mark.skipif(sys.platform == "win32", reason="os.kill cannot send Ctrl-C to one process there")
@pytest.mark.parametrize("named", [True, False])
def test_interrupted(hard, files, named):
    words = ["train", *HARD, "--checkpoint", "state", "--checkpoint-every", "0.1", hard, *(["model"] if named else [])]
    with processes.started([sys.executable, "-m", "hingeline", *words]) as process:
        deadline = time.monotonic() + 60.0
        while not (files / "state").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    if named:
        assert "the model so far is saved to model" in err
        assert "(interrupted)" in out
        assert np.any(read_model("model").w)
    else:
        assert not list(files.glob("*.model"))
    assert np.any(read_native("state")["reached"][0])


def test_training_needs_no_scikit_learn(files):
    """Importing it would take longer than training on a small file."""
    code = (
        "import sys, json; from hingeline.cli import main\n"
        "assert 'numpy' not in sys.modules\n"
        "statuses = [main(['train', '-q', '-s', s, 'many', 'model']) for s in '123']\n"
        "statuses.append(main(['predict', '-q', 'many', 'model', 'out']))\n"
        "heavy = {'sklearn', 'pandas', 'matplotlib', 'joblib', 'scipy.stats', 'rich'} & set(sys.modules)\n"
        "print(json.dumps([statuses, sorted(heavy)]))"
    )
    done = processes.run([sys.executable, "-c", code])
    assert json.loads(done.stdout) == [[0, 0, 0, 0], []]


def test_progress_on_a_terminal_only(hard, monkeypatch, capsys):
    monkeypatch.setattr("hingeline.progress.screen.QUIET_SECONDS", 0.0)
    monkeypatch.setattr("hingeline.progress.screen.REDRAW_SECONDS", 0.01)
    assert main(["train", *HARD, "--max-time", "0.3", hard, "model"]) == 0
    assert "iteration" not in capsys.readouterr().err
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert main(["train", *HARD, "--max-time", "0.3", hard, "model"]) == 0
    assert re.search(r"training\b.*iteration \d+", capsys.readouterr().err)
    assert main(["train", "-q", *HARD, "--max-time", "0.3", hard, "model"]) == 0
    assert "iteration" not in capsys.readouterr().err


def test_text_of_rows_is_exact():
    X, y = make_rows("targets", n=3)
    assert float(text_of(X, y).split()[0]) == y[0]
