"""Folds, cross validation and the search for C, as functions; tests/cli/test_train.py runs them as commands."""

import ctypes
from dataclasses import replace

import numpy as np
import pytest
from svmlight_files import liblinear, make_rows

from hingeline.liblinear import fit as fit_module
from hingeline.liblinear import search
from hingeline.liblinear.fit import fit
from hingeline.liblinear.predict import decide, scores
from hingeline.liblinear.settings import Settings


def test_folds():
    said = []
    folds = search.folds_of(23, 5, 7, said.append)
    assert sorted(np.concatenate(folds)) == list(range(23))
    assert [fold.size for fold in folds] == [4, 5, 4, 5, 5]
    assert not said
    assert [fold.size for fold in search.folds_of(3, 5, 7, said.append)] == [1, 1, 1]
    assert "# folds > # data" in said[0]
    one, same, other = (np.concatenate(search.folds_of(50, 2, seed, said.append)) for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


def test_the_first_C_is_liblinears():
    X, y = make_rows("signs")
    largest = float(np.max(X.multiply(X).sum(axis=1)))
    for solver_type, factor in ((0, 1.0), (2, 2.0)):
        expected = 2.0 ** np.floor(np.log2(1.0 / (factor * y.size * largest)))
        assert search.first_C(X, y, Settings(type=solver_type)) == expected
    with_bias = search.first_C(X, y, Settings(type=2, bias=100.0))
    assert with_bias == 2.0 ** np.floor(np.log2(1.0 / (2.0 * y.size * (largest + 1e4))))


def test_a_row_is_predicted_by_a_model_that_has_not_seen_it():
    X, y = make_rows("many", n=30)
    settings, called = Settings(type=3, seed=4), []
    tally = search.cross_validate(X, y, settings, 3, pytest.fail, lambda: called.append(1))
    right = 0
    for held_out in search.folds_of(30, 3, 4, pytest.fail):
        others = np.setdiff1d(np.arange(30), held_out)
        model = fit(X[others], y[others], settings).model
        right += int(np.sum(decide(model, scores(model, X[held_out])) == y[held_out]))
    assert (tally.rows, tally.correct, len(called)) == (30, right, 3)


def test_folds_share_the_time():
    X, y = make_rows("signs")
    said, told = [], []
    search.cross_validate(X, y, Settings(max_time=1e-9), 3, said.append)
    assert said == ["WARNING: the models of 3 of 3 folds ended before they converged"]
    tried = []
    search.search(X, y, Settings(type=2, max_time=1e-9), 3, None, None, told.append, said.append, tried=tried)
    assert len(tried) == 1
    assert said[1:] == [said[0], "WARNING: the time was up before all parameters were tried"]
    at_end = search._with_time_left(Settings(max_time=60.0), search.now() - 20.0)
    assert 39.0 < at_end.max_time <= 40.0


def test_models_that_the_time_has_cut_off_are_not_compared(monkeypatch):
    X, y = make_rows("signs")
    said, told, tried, fits = [], [], [], []

    def left(settings, begun):  # the time is up in the fourth fit, that of the first fold at the second C
        fits.append(settings)
        return replace(settings, max_time=1e-9 if len(fits) >= 4 else 60.0)

    monkeypatch.setattr(search, "_with_time_left", left)
    monkeypatch.setattr(search, "_is_over", lambda settings, begun: len(fits) >= 4)
    found = search.search(X, y, Settings(type=2, max_time=60.0), 3, 0.25, None, told.append, said.append, tried=tried)
    assert tried == [found]
    assert found.C == 0.25
    assert len(told) == 1
    assert said == ["WARNING: the time was up before all parameters were tried"]


def test_the_search_doubles_C_and_returns_the_best():
    X, y = make_rows("signs", n=40)
    settings, said = Settings(type=1, seed=1), []
    found = search.search(X, y, settings, 4, 0.25, None, said.append, pytest.fail)
    rates = [float(line.split("rate=")[1]) for line in said if "rate=" in line]
    exponents = [float(line.split("log2c=")[1].split()[0]) for line in said if "log2c=" in line]
    assert exponents == [-2.0 + k for k in range(len(exponents))]
    assert found.score == pytest.approx(max(rates) / 100.0, rel=1e-5)
    assert found.C == 2.0 ** exponents[rates.index(max(rates))]
    tally = search.cross_validate(X, y, replace(settings, C=found.C), 4, pytest.fail)
    assert tally.accuracy == pytest.approx(max(rates), rel=1e-5)


@pytest.mark.parametrize("number", [0, 2, 11])
def test_about_as_many_values_of_C_as_liblinear(number, capfd):
    """A fold whose weights meet LIBLINEAR's rule keeps them, and five doublings without a change are the end."""
    peer = liblinear()
    X, y = make_rows("targets", n=60, d=4) if number == 11 else make_rows("signs", n=300)
    said = []
    search.search(X, y, Settings(type=number, seed=1), 5, None, None, said.append, pytest.fail)
    peer.train(y.astype(float), X, f"-C -s {number}")
    ctypes.CDLL(None).fflush(None)
    theirs = [line for line in capfd.readouterr().out.splitlines() if line.startswith("log2c")]
    ours = [line for line in said if line.startswith("log2c")]
    assert ours[0].split("rate")[0] == theirs[0].split("rate")[0]  # the same first C
    assert abs(len(ours) - len(theirs)) <= max(3, 0.1 * len(theirs))  # the folds are others


@pytest.fixture
def reads(monkeypatch):
    """Return a list that grows with each reading of rows."""
    found, original = [], fit_module.read_data
    monkeypatch.setattr(fit_module, "read_data", lambda *args: found.append(args) or original(*args))
    return found


def test_cross_validation_reads_once(reads):
    X, y = make_rows("many")
    assert search.cross_validate(X, y, Settings(), 4, pytest.fail).rows == y.size
    assert len(reads) == 1


def test_a_search_for_C_and_p_reads_once(reads):
    X, y = make_rows("targets", n=20, d=4)
    search.search(X, y, Settings(type=11), 2, 2.0**15, 0.2, str, pytest.fail)
    assert len(reads) == 1
