"""Histories of all engines: an objective and a lower bound that meet, at no cost."""

import numpy as np
import pytest
from problems import ENGINES, EVERY_LOSS, SMOOTH_ENGINES, classification, regression

from hingeline import LinearSVC, LogisticRegression, OneClassSVM, solve

X, Y = classification(80, 6, seed=3)
XR, YR = regression(80, 6, seed=3)
XM, YM = classification(90, 6, seed=5, n_classes=4)
OTHERS = {
    "crammer-singer": (LinearSVC(multi_class="crammer_singer", C=10.0, tol=1e-6), XM, YM),
    "two-of-crammer-singer": (LinearSVC(multi_class="crammer_singer", tol=1e-6), X, Y),
    "one-class": (OneClassSVM(tol=1e-6), X, None),
    "multinomial": (LogisticRegression(), XM, YM),
    "unpenalised": (LogisticRegression(C=np.inf), XM, YM),
    "l1": (LinearSVC(penalty="l1", tol=1e-6), X, Y),
    "free": (LinearSVC(fit_intercept="free"), X, Y),
}


def check(history, certificate, solver):
    """The lower bound rises to the objective, and the last record is the certificate."""
    _, primal, dual, gap = certificate
    last = history[-1]
    assert (last["objective"], last["lower_bound"], last["gap"]) == (primal, dual, gap)
    assert np.isfinite(history["objective"]).all()
    lower = history["lower_bound"][np.isfinite(history["lower_bound"])]
    size = max(abs(primal), abs(dual))
    assert (lower <= primal + 1e-9 * size).all()
    assert (np.diff(lower[:-1]) >= 0.0).all()
    if len(history) > 4:
        apart = history["objective"] - history["lower_bound"]
        assert apart[-1] < 0.1 * np.nanmax(apart)
    names = solver.split("+")
    assert (np.diff(history["phase"]) >= 0).all()
    assert set(history["phase"].tolist()) <= set(range(len(names)))


@pytest.mark.parametrize("solver", [*ENGINES, *SMOOTH_ENGINES, "auto"])
@pytest.mark.parametrize("name", EVERY_LOSS)
def test_bounds_meet(name, solver):
    loss = EVERY_LOSS[name](1.0)
    if solver in SMOOTH_ENGINES and not loss.is_smooth:
        pytest.skip("needs a loss with a derivative")
    X_, y = (XR, YR) if loss.is_regression else (X, Y)
    seen = []
    s = solve(X_, y, loss, solver=solver, tol=1e-6, random_state=0, callback=seen.append)
    check(s.history, s.certificate, s.solver)
    assert [p.objective for p in seen[:-1]] == s.history["objective"][:-1].tolist()
    assert [p.lower_bound for p in seen[:-1]] == s.history["lower_bound"][:-1].tolist()


@pytest.mark.parametrize("name", OTHERS)
def test_bounds_of_other_problems_meet(name):
    model, X_, y = OTHERS[name]
    model.fit(X_, y)
    certificate = (model.kkt_violation_, model.objective_, model.dual_objective_, model.duality_gap_)
    check(model.history_, certificate, model.solver_)


def test_phases_say_which_engine_was_at_work():
    rng = np.random.default_rng(0)
    X_ = rng.normal(size=(400, 20))
    y = np.where(X_[:, 0] + rng.normal(size=400) > 0.0, 1, -1)
    s = solve(X_, y, EVERY_LOSS["squared_hinge"](10.0), solver="hybrid", tol=1e-6, random_state=0)
    assert s.solver == "hybrid+newton"
    assert set(s.history["phase"].tolist()) == {0, 1}
