"""Models of every type: their shape, and that they solve the problem that the settings name."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from other_problems import liblinear_primal, one_class_primal
from svmlight_files import CLASSIFIERS, REGRESSIONS, make_rows

from hingeline.io.models.solver_types import SOLVER_TYPES, Task
from hingeline.io.records.checkpoint import Starts
from hingeline.liblinear.fit import TRAINERS, fit, fit_data, read
from hingeline.liblinear.settings import Settings
from hingeline.liblinear.training import Training

GAP = 1e-7


def test_every_type_is_trained():
    assert set(TRAINERS) == set(get_args(Task)) == {known.task for known in SOLVER_TYPES.values()}


def assert_minimal(model, value_of, value, rng):
    """Nowhere near the weights is the objective lower by more than the gap allows."""
    w = model.w.copy()
    for size in (1e-4, 1e-2):
        for _ in range(10):
            assert value_of(replace(model, w=w + size * rng.normal(size=w.shape))) >= value * (1.0 - 2.0 * GAP)


@pytest.mark.parametrize("kind", ["signs", "many"])
@pytest.mark.parametrize("solver_type", CLASSIFIERS)
def test_classifiers(solver_type, kind):
    X, y = make_rows(kind)
    weights = ((1, 2.0),) if kind == "signs" else ((5, 3.0), (9, 0.5))
    settings = Settings(type=solver_type, C=0.5, bias=2.0, weights=weights, gap=GAP)
    model, solutions, _ = fit(X, y, settings, warn=pytest.fail)
    assert model.labels == ((1, -1) if kind == "signs" else tuple(dict.fromkeys(y.tolist())))
    assert (model.type, model.n_features, model.bias) == (solver_type, 12, 2.0)
    vectors = len(model.labels) if solver_type == 4 or kind == "many" else 1
    assert model.w.shape == (13, vectors)
    assert len(solutions) == (1 if solver_type == 4 else vectors)
    assert all(s.converged for s in solutions)

    def value_of(model):
        return liblinear_primal(model, X, y, C=0.5, weights=weights)

    value = value_of(model)
    assert sum(s.certificate.primal for s in solutions) == pytest.approx(value, rel=1e-9)
    assert sum(s.certificate.dual for s in solutions) >= value * (1.0 - 1.1 * GAP)
    assert_minimal(model, value_of, value, np.random.default_rng(0))


@pytest.mark.parametrize("solver_type", REGRESSIONS)
def test_regressions(solver_type):
    X, y = make_rows("targets")
    model, (s,), _ = fit(X, y, Settings(type=solver_type, C=0.5, p=0.2, gap=GAP))
    assert (model.labels, model.w.shape) == (None, (12, 1))
    value = liblinear_primal(model, X, y, C=0.5, p=0.2)
    assert s.certificate.primal == pytest.approx(value, rel=1e-9)
    assert_minimal(model, lambda m: liblinear_primal(m, X, y, C=0.5, p=0.2), value, np.random.default_rng(0))


def test_one_class():
    X, _ = make_rows("signs")
    model, (s,), _ = fit(X, np.zeros(80), Settings(type=21, nu=0.3, gap=1e-6))
    value = one_class_primal(X.toarray(), model.w[:, 0], model.rho, 0.3, np.ones(80))
    assert s.certificate.primal == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert (model.labels, model.w.shape) == (None, (12, 1))


@pytest.mark.parametrize("solver_type", [0, 2, 11])
def test_a_free_bias_costs_nothing(solver_type):
    X, y = make_rows("targets" if solver_type == 11 else "signs")
    settings = Settings(type=solver_type, bias=1.0, free_bias=True, gap=1e-6)
    model, (s,), _ = fit(X, y, settings)
    assert s.certificate.primal == pytest.approx(liblinear_primal(model, X, y, free=True), rel=1e-9)


def test_problems_start_from_where_they_were_and_are_reported():
    X, y = make_rows("many")
    settings, starts, told = Settings(type=3, solver="hybrid", tolerance=1e-5), Starts(), []
    cold = fit(X, y, settings, starts=starts, report=lambda k, progress: told.append((k, progress is None)))
    assert {k for k, _ in told} == {0, 1, 2}
    assert [k for k, ended in told if ended] == [0, 1, 2]
    warm = fit(X, y, settings, starts=starts)
    assert sum(s.n_steps for s in warm.solutions) < 0.5 * sum(s.n_steps for s in cold.solutions)
    np.testing.assert_allclose(warm.model.w, cold.model.w, atol=1e-3)


def test_time_for_all_problems_together():
    X, y = make_rows("many")
    trained = fit(X, y, Settings(type=3, solver="hybrid", tolerance=1e-9, max_time=1e-9))
    assert [s.stop_reason for s in trained.solutions] == ["max_time"] * 3
    assert np.isfinite(trained.model.w).all()


def test_one_label_alone():
    X, _ = make_rows("signs")
    with pytest.raises(ValueError, match="needs at least two classes"):
        fit(X, np.ones(80), Settings(type=4))
    model = fit(X, np.ones(80), Settings(type=1)).model
    assert model.labels == (1,)


def test_weights_of_labels_that_are_not_there_are_warned_of():
    X, y = make_rows("signs")
    said = []
    fit(X, y, Settings(type=1, weights=((99, 2.0),)), warn=said.append)
    assert said == ["WARNING: class label 99 specified in weight is not found"]


def some_rows(kind):
    """Return rows, labels and a mask that changes the order in which labels occur; "many" loses a class."""
    X, y = make_rows(kind, n=60)
    included = np.random.default_rng(1).random(y.size) < 0.7
    included[:3] = False
    if kind == "many":
        included &= y != 9
    return X, y, included


@pytest.mark.parametrize("solver_type", SOLVER_TYPES)
@pytest.mark.parametrize("weights", [(), ((7, 3.0), (-2, 0.5))])
def test_some_rows_as_if_there_were_no_others(solver_type, weights):
    known = SOLVER_TYPES[solver_type]
    bias = -1.0 if known.task == "one_class" else 1.0
    for kind in ("signs", "two", "many") if known.is_classifier else ("targets",):
        X, y, included = some_rows(kind)
        X = abs(X) if known.task == "one_class" else X  # rows that surround the origin have the solution 0
        settings = Settings(type=solver_type, gap=1e-10, bias=bias, weights=weights)
        found = fit_data(read(X, settings), y, settings, included=included).model
        expected = fit(X[included], y[included], settings).model
        assert found.labels == expected.labels
        np.testing.assert_allclose(found.w, expected.w, atol=2e-4 * np.abs(expected.w).max())
        assert found.rho == pytest.approx(expected.rho, rel=1e-3)


@pytest.mark.parametrize("solver_type", [number for number, known in SOLVER_TYPES.items() if known.task != "one_class"])
def test_the_tolerance_is_that_of_the_rows_that_count(solver_type, monkeypatch):
    seen = []
    monkeypatch.setattr(Training, "solve", lambda self, k, tol, *rest, **options: seen.append(tol) or 1 / 0)
    X, y, included = some_rows("targets" if SOLVER_TYPES[solver_type].is_regression else "signs")
    settings = Settings(type=solver_type)
    with pytest.raises(ZeroDivisionError):
        fit_data(read(X, settings), y, settings, included=included)
    with pytest.raises(ZeroDivisionError):
        fit(X[included], y[included], settings)
    assert seen[0] == pytest.approx(seen[1], rel=1e-9)
