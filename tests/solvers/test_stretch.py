"""The best multiple of w as the model, where a run goes by its gap."""

import numpy as np
import pytest
from scipy import sparse

from hingeline import Hinge, LinearSVC, LinearSVCCV, Logistic, SquaredHinge, solve
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.runtime.pace import Pace
from hingeline.solvers import driver, stretch, train
from hingeline.solvers.state import new_state

LOSSES = {Hinge: lambda m: np.maximum(0.0, m), SquaredHinge: lambda m: np.maximum(0.0, m) ** 2}


def text(n=1500, d=4000, seed=0):
    """Return sparse rows with more columns than Newton's method is for, and noisy labels."""
    rng = np.random.default_rng(seed)
    X = sparse.random(n, d, 0.01, format="csr", random_state=rng, data_rvs=lambda k: rng.random(k) + 0.1)
    scores = X @ rng.normal(size=d)
    return X, np.where(scores + 0.5 * scores.std() * rng.normal(size=n) > 0.0, 1.0, -1.0)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_best_of_all_factors(loss, weighted):
    X, y = text(200, 60)
    rng = np.random.default_rng(1)
    weights = rng.integers(0, 3, 200).astype(float) if weighted else None
    problem = make_problem(read_data(X, 1.0), y.astype(np.float32), weights, loss(2.0))
    state = new_state(problem, seed=0)
    state.w[:] = rng.normal(size=61)
    w = state.w.copy()
    C = 2.0 * (np.ones(200) if weights is None else weights)
    f = X @ w[:-1] + w[-1]
    expected = [0.5 * s * s * w @ w + C @ LOSSES[loss](1.0 - s * y * f) for s in stretch.FACTORS]
    stretched = stretch.Stretch(state)
    assert stretched.objective(Pace()) == pytest.approx(min(expected))
    stretched.take()
    assert state.is_primal
    np.testing.assert_allclose(state.w, stretch.FACTORS[np.argmin(expected)] * w)
    stretched.undo()
    assert not state.is_primal
    assert (state.w == w).all()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(3))
def test_the_model_is_a_multiple_of_w_and_certified(loss, seed):
    X, y = text(seed=seed)
    stretched = solve(X, y, loss(1000.0), gap_tol=1e-3, random_state=0, bias=1.0)
    assert stretched.solver == "hybrid"
    v = X.T @ (stretched.alpha * y)
    factor = (stretched.w @ v) / (v @ v)
    assert 1.0 < factor < 1.5
    np.testing.assert_allclose(stretched.w, factor * v, atol=1e-9 * np.abs(v).max())
    w = np.append(stretched.w, stretched.intercept)
    f = X @ stretched.w + stretched.intercept
    primal = 0.5 * w @ w + 1000.0 * LOSSES[loss](1.0 - y * f).sum()
    assert stretched.certificate.primal == pytest.approx(primal, rel=1e-10)
    assert stretched.certificate.gap <= 1e-3
    exact = solve(X, y, loss(1000.0), gap_tol=1e-7, random_state=0, bias=1.0)
    assert stretched.certificate.dual <= exact.certificate.primal * (1.0 + 1e-9)


def test_at_large_C_it_takes_clearly_fewer_sweeps(monkeypatch):
    """Over some problems together: for a single one, it may not matter."""
    problems = [text(seed=seed) for seed in range(6)]
    how = {"gap_tol": 1e-3, "random_state": 0}
    stretched = sum(solve(X, y, Hinge(1000.0), **how).n_steps for X, y in problems)
    monkeypatch.setattr(train, "_may_stretch", lambda state: False)
    plain = sum(solve(X, y, Hinge(1000.0), **how).n_steps for X, y in problems)
    assert stretched < 0.95 * plain


def test_a_multiple_that_its_certificate_refutes_is_undone(monkeypatch):
    X, y = text()
    taken, undone = [], []

    class Boastful(stretch.Stretch):
        def objective(self, pace):
            super().objective(pace)
            return 0.0  # far below what is possible

        def take(self):
            taken.append(self._state.w.copy())
            super().take()

        def undo(self):
            super().undo()
            undone.append(self._state.w.copy())

    monkeypatch.setattr(train, "Stretch", Boastful)
    s = solve(X, y, Hinge(1000.0), gap_tol=1e-5, random_state=0)
    assert len(undone) >= 1
    for before, after in zip(taken, undone, strict=False):
        assert (before == after).all()
    assert s.stop_reason == "gap_tol"
    assert s.certificate.gap <= 1e-5


@pytest.mark.parametrize(
    ("solver", "loss", "how"),
    [("hybrid", Hinge(100.0), {}), ("auto", Logistic(100.0), {}), ("auto", Hinge(100.0), {"free_intercept": True})],
)
def test_where_it_is_not_wanted(monkeypatch, solver, loss, how):
    """A named engine returns the weights of its dual variables; probabilities depend on the length of w."""
    monkeypatch.setattr(driver.Run, "_try_stretch", lambda *_: pytest.fail("a multiple of w was tried"))
    X, y = text(300, 400)
    solve(X, y, loss, solver=solver, gap_tol=1e-3, random_state=0, **how)


def test_estimators_predict_the_same_classes(monkeypatch):
    X, y = text()
    how = {"loss": "hinge", "fit_intercept": False, "random_state": 0}
    model = LinearSVC(C=1000.0, gap_tol=1e-3, **how).fit(X, y)
    tight = LinearSVC(C=1000.0, gap_tol=1e-8, **how).fit(X, y)
    assert (model.predict(X) == tight.predict(X)).mean() > 0.999
    stretched = LinearSVCCV(Cs=[10.0, 1000.0], cv=3, **how).fit(X, y)
    monkeypatch.setattr(train, "_may_stretch", lambda state: False)
    plain = LinearSVCCV(Cs=[10.0, 1000.0], cv=3, **how).fit(X, y)
    np.testing.assert_allclose(stretched.scores_, plain.scores_, atol=0.01)
