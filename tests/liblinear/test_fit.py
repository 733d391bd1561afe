"""Models of every type: their shape, and that they solve the problem that the settings name."""

from dataclasses import replace

import numpy as np
import pytest
from other_problems import liblinear_primal, one_class_primal
from svmlight_files import CLASSIFIERS, REGRESSIONS, make_rows

from hingeline.liblinear.fit import fit
from hingeline.liblinear.settings import Settings
from hingeline.liblinear.starts import Starts

GAP = 1e-7


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
    model, solutions = fit(X, y, settings, warn=pytest.fail)
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
    model, (s,) = fit(X, y, Settings(type=solver_type, C=0.5, p=0.2, gap=GAP))
    assert (model.labels, model.w.shape) == (None, (12, 1))
    value = liblinear_primal(model, X, y, C=0.5, p=0.2)
    assert s.certificate.primal == pytest.approx(value, rel=1e-9)
    assert_minimal(model, lambda m: liblinear_primal(m, X, y, C=0.5, p=0.2), value, np.random.default_rng(0))


def test_one_class():
    X, _ = make_rows("signs")
    model, (s,) = fit(X, np.zeros(80), Settings(type=21, nu=0.3, gap=1e-6))
    value = one_class_primal(X.toarray(), model.w[:, 0], model.rho, 0.3, np.ones(80))
    assert s.certificate.primal == pytest.approx(value, rel=1e-9, abs=1e-9)
    assert (model.labels, model.w.shape) == (None, (12, 1))


@pytest.mark.parametrize("solver_type", [0, 2, 11])
def test_a_free_bias_costs_nothing(solver_type):
    X, y = make_rows("targets" if solver_type == 11 else "signs")
    settings = Settings(type=solver_type, bias=1.0, free_bias=True, gap=1e-6)
    model, (s,) = fit(X, y, settings)
    assert s.certificate.primal == pytest.approx(liblinear_primal(model, X, y, free=True), rel=1e-9)


def test_machines_start_from_where_they_were_and_are_reported():
    X, y = make_rows("many")
    settings, starts, told = Settings(type=3, solver="hybrid", tolerance=1e-5), Starts(), []
    cold = fit(X, y, settings, starts=starts, report=lambda k, progress: told.append((k, progress is None)))
    assert {k for k, _ in told} == {0, 1, 2}
    assert [k for k, ended in told if ended] == [0, 1, 2]
    warm = fit(X, y, settings, starts=starts)
    assert sum(s.n_steps for s in warm.solutions) < 0.5 * sum(s.n_steps for s in cold.solutions)
    np.testing.assert_allclose(warm.model.w, cold.model.w, atol=1e-3)


def test_time_for_all_machines_together():
    X, y = make_rows("many")
    trained = fit(X, y, Settings(type=3, solver="hybrid", tolerance=1e-9, max_time=1e-9))
    assert [s.stop_reason for s in trained.solutions] == ["max_time"] * 3
    assert np.isfinite(trained.model.w).all()


def test_one_label_alone():
    X, _ = make_rows("signs")
    with pytest.raises(ValueError, match="needs two classes"):
        fit(X, np.ones(80), Settings(type=4))
    model = fit(X, np.ones(80), Settings(type=1)).model
    assert model.labels == (1,)


def test_weights_of_labels_that_are_not_there_are_warned_of():
    X, y = make_rows("signs")
    said = []
    fit(X, y, Settings(type=1, weights=((99, 2.0),)), warn=said.append)
    assert said == ["WARNING: class label 99 specified in weight is not found"]
