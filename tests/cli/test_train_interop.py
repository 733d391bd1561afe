"""The same models as LIBLINEAR, in both directions: what either trains, the other predicts with, to the last bit."""

import bz2
import lzma
from itertools import islice

import numpy as np
import pytest
from other_problems import liblinear_primal
from real_data import real_data
from svmlight_files import CLASSIFIERS, REGRESSIONS, liblinear, make_rows, write_rows

from hingeline.cli import main
from hingeline.io import load_svmlight
from hingeline.io.models.liblinear_file import read_model
from hingeline.io.models.solver_types import SOLVER_TYPES
from hingeline.liblinear.predict import decide, probabilities, scores
from hingeline.liblinear.settings import Settings

TIGHT = "1e-7"
# The promise about objectives has one side: ours <= theirs (1 + 1e-4). Where LIBLINEAR really converges at a tight -e
# the two agree; where it does not, ours is lower.
CAPPED = {3, 13}  # LIBLINEAR ends them after 300 sweeps, short of a tight tolerance


def cases():
    """Yield (type, options, kind of data)."""
    for solver_type in CLASSIFIERS:
        for kind in ("signs", "two", "many"):
            yield solver_type, "", kind
        yield solver_type, "-B 1 -c 3", "signs"
        yield solver_type, "-B 2.5 -w5 3 -w9 0.5", "many"
        yield solver_type, "-w7 0.2 -w3 4", "two"
        yield solver_type, "-B 0", "two"
        if solver_type in (number for number, known in SOLVER_TYPES.items() if known.can_free_bias):
            yield solver_type, "-B 1 -R", "many"
    for solver_type in REGRESSIONS:
        yield solver_type, "", "targets"
        yield solver_type, "-B 1 -p 0.4 -c 0.3", "targets"


def settings_of(line):
    """Return what a few options say about the objective."""
    words = line.replace("-R", "").split()
    pairs = dict(zip(words[::2], words[1::2], strict=True))
    weights = tuple((int(key[2:]), float(value)) for key, value in pairs.items() if key.startswith("-w"))
    return {
        "C": float(pairs.get("-c", 1.0)),
        "p": float(pairs.get("-p", 0.1)),
        "weights": weights,
        "free": "-R" in line,
    }


@pytest.mark.parametrize(("solver_type", "options", "kind"), list(cases()))
def test_models_agree(solver_type, options, kind, tmp_path, capsys):
    peer = liblinear()
    X, y = make_rows(kind)
    data, ours, theirs = write_rows(tmp_path / "d", X, y), tmp_path / "ours", tmp_path / "theirs"
    line = f"-s {solver_type} {options} -e {TIGHT} -q"
    assert main(["train", *line.split(), data, str(ours)]) == 0
    peer.save_model(str(theirs), peer.train(y.astype(float), X, line))
    header = ours.read_text().split("\nw\n")[0]
    assert header == theirs.read_text().split("\nw\n")[0]
    found, expected = read_model(ours), read_model(theirs)
    values = [liblinear_primal(model, X, y, **settings_of(options)) for model in (found, expected)]
    assert values[0] <= values[1] * (1.0 + 1e-8)  # ours is never worse
    assert values[0] == pytest.approx(values[1], rel=1e-2 if solver_type in CAPPED else 1e-4)
    same_predictions(peer, [ours, theirs], X, y, tmp_path, capsys)


def test_one_class_agrees(tmp_path, capsys):
    peer = liblinear()
    X, y = make_rows("signs")
    X.data = abs(X.data)  # away from the origin
    data, ours, theirs = write_rows(tmp_path / "d", X, y), tmp_path / "ours", tmp_path / "theirs"
    for nu in (0.1, 0.5):
        line = f"-s 21 -n {nu} -e 1e-9 -q"
        assert main(["train", *line.split(), data, str(ours)]) == 0
        peer.save_model(str(theirs), peer.train(y.astype(float), X, line))
        found, expected = read_model(ours), read_model(theirs)
        assert ours.read_text().split("\nrho")[0] == theirs.read_text().split("\nrho")[0]
        np.testing.assert_allclose(found.w, expected.w, rtol=1e-5, atol=1e-7)
        assert found.rho == pytest.approx(expected.rho, rel=1e-5)
        same_predictions(peer, [ours, theirs], X, y, tmp_path, capsys)


def same_predictions(peer, models, X, y, tmp_path, capsys):
    """Check that both programs predict the same with each model: values, labels, and the line with the accuracy."""
    data, output = write_rows(tmp_path / "rows", X, y), tmp_path / "out"
    for path in models:
        model, theirs = read_model(path), peer.load_model(str(path))
        labels, (accuracy, error, correlation), values = peer.predict(y.astype(float), X, theirs, "-q")
        found = scores(model, X)
        np.testing.assert_array_equal(found[:, : len(values[0])], np.array(values))
        np.testing.assert_array_equal(decide(model, found), labels)
        if model.type in (0, 6, 7):
            _, _, expected = peer.predict(y.astype(float), X, theirs, "-b 1 -q")
            np.testing.assert_allclose(probabilities(model, found), expected, rtol=1e-12)
        capsys.readouterr()
        assert main(["predict", data, str(path), str(output)]) == 0
        out = capsys.readouterr().out
        if model.type in REGRESSIONS:
            assert float(out.split("Mean squared error = ")[1].split()[0]) == pytest.approx(error, rel=1e-5)
            assert float(out.split("coefficient = ")[1].split()[0]) == pytest.approx(correlation, rel=1e-4)
        else:
            right = int(np.sum(labels == y))
            assert out == f"Accuracy = {accuracy:g}% ({right}/{y.size})\n"
        np.testing.assert_array_equal(np.loadtxt(output), labels)


@pytest.mark.parametrize("solver_type", [*CLASSIFIERS, *REGRESSIONS, 21])
def test_liblinears_models_predict_the_same_here(solver_type, tmp_path, capsys):
    peer = liblinear()
    for kind in ("targets",) if solver_type in REGRESSIONS else ("signs", "two", "many"):
        X, y = make_rows(kind)
        wider = make_rows(kind, d=20, seed=1)
        for bias in ("",) if solver_type == 21 else ("", " -B 1", " -B 0", " -B 0.3"):
            path = tmp_path / "m"
            peer.save_model(str(path), peer.train(y.astype(float), X, f"-s {solver_type}{bias} -q"))
            same_predictions(peer, [path], X, y, tmp_path, capsys)
            same_predictions(peer, [path], *wider, tmp_path, capsys)  # features that the model has not seen


def test_ties_fall_the_same_way(tmp_path, capsys):
    """A row without a known feature scores zero: the second of two labels, the first of many."""
    peer = liblinear()
    for kind in ("signs", "two", "many"):
        X, y = make_rows(kind)
        path = tmp_path / "m"
        peer.save_model(str(path), peer.train(y.astype(float), X, "-q"))
        X.data[X.indptr[3] : X.indptr[4]] = 0.0
        same_predictions(peer, [path], X, y, tmp_path, capsys)
        model = read_model(path)
        assert decide(model, scores(model, X))[3] == model.labels[1 if kind != "many" else 0]


REAL = {  # C, rows taken, types; benchmarks/liblinear_interop.py takes them all
    "a9a.xz": (0.1, 4000, CLASSIFIERS),
    "mushrooms.xz": (1.0, 4000, CLASSIFIERS),
    "news20.multiclass.xz": (0.1, 400, (1, 4)),
    "abalone_scale.bz2": (1.0, 4177, REGRESSIONS),
}


@pytest.mark.parametrize("name", REAL)
def test_real_data(name, tmp_path, capsys):
    peer, path = liblinear(), real_data(name)
    C, count, types = REAL[name]
    with (lzma if path.suffix == ".xz" else bz2).open(path) as file:
        (tmp_path / "d").write_bytes(b"".join(islice(file, count)))
    X, y = load_svmlight(tmp_path / "d", zero_based=False)
    for solver_type in types:
        line = f"-s {solver_type} -c {C} -e {1e-3 if X.shape[1] > 1000 else 1e-5} -q"
        ours, theirs = tmp_path / "ours", tmp_path / "theirs"
        assert main(["train", *line.split(), "--gap", "1e-6", str(tmp_path / "d"), str(ours)]) == 0
        peer.save_model(str(theirs), peer.train(y, X, line))
        assert ours.read_text().split("\nw\n")[0] == theirs.read_text().split("\nw\n")[0]
        some = slice(0, 200)
        same_predictions(peer, [ours, theirs], X[some], y[some], tmp_path, capsys)
        found, expected = read_model(ours), read_model(theirs)
        if X.shape[1] < 1000:
            values = [liblinear_primal(model, X, y, C=C) for model in (found, expected)]
            assert values[0] <= values[1] * (1.0 + 2e-6), line
            # LIBLINEAR's stop leaves it above the optimum where it is capped, and for L1 squared hinge
            loose = solver_type in (*CAPPED, 5)
            assert values[0] == pytest.approx(values[1], rel=2e-2 if loose else 1e-4), line


def test_defaults_are_liblinears():
    assert Settings() == Settings(type=1, C=1.0, p=0.1, nu=0.5, bias=-1.0)
