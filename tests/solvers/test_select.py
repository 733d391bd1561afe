"""``solver="auto"``: which phases it plans, and that handing over loses nothing."""

import warnings

import numpy as np
import pytest
from problems import classification
from scipy import sparse

from hingeline import Hinge, LinearSVC, Logistic, SquaredEpsilonInsensitive, SquaredHinge, solve
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.solvers import select, trend
from hingeline.solvers.newton import directions, newton
from hingeline.solvers.stop import Stop


def phases(X, C, solver="auto", loss=Hinge, tol=1e-3, gap_tol=None, **how):
    y, stop = np.resize([-1.0, 1.0], X.shape[0]).astype(np.float32), Stop(tol=tol, gap_tol=gap_tol)
    return select.plan(make_problem(read_data(X), y, None, loss(C)), solver, stop, **how)


def narrow(n=5000, d=60):
    return np.random.default_rng(0).normal(size=(n, d))


def scattered(n, d, per_row):
    """Return sparse rows of about as many entries each."""
    rng = np.random.default_rng(0)
    at = rng.integers(d, size=n * per_row)
    return sparse.csr_array((rng.random(at.size), (np.repeat(np.arange(n), per_row), at)), shape=(n, d))


def test_small_problems_go_to_rounding():
    first, last = phases(narrow(50, 4), 1.0)
    assert (first.engine, first.stop.tol) == ("newton", 0.0)
    assert (last.engine, last.stop.tol) == ("hybrid", 1e-3)


def test_many_features_are_the_hybrids():
    X = scattered(3000, 5000, 50)
    assert [p.engine for p in phases(X, 1.0)] == ["hybrid"]


@pytest.mark.parametrize(("loss", "engine"), [(Hinge, "newton"), (SquaredHinge, "newton_cg"), (Logistic, "newton_cg")])
def test_a_few_thousand_features_may_be_newtons_by_products(loss, engine):
    X = scattered(9000, 2100, 4)
    first, second, last = phases(X, 0.1, loss=loss)
    assert [first.engine, second.engine, last.engine] == ["hybrid", engine, "hybrid"]
    assert second.budget.most < np.inf  # a guess that is exceeded by far ends it


@pytest.mark.parametrize("loss", [Hinge, SquaredHinge])
@pytest.mark.parametrize("exceeded", [1e-9, 1e9])
def test_products_that_are_too_many_lose_nothing(monkeypatch, loss, exceeded):
    X, y = classification(4000, 40, seed=6)
    for module in (select, directions):
        monkeypatch.setattr(module, "LARGEST_FACTOR", 20)
    monkeypatch.setattr(select, "LARGEST_SAMPLED_FACTOR", 20)
    monkeypatch.setattr(select, "MOST", 1e-9)
    monkeypatch.setattr(select, "CLEARLY", 1e9)
    monkeypatch.setattr(select, "HOPELESS", 1e9)
    monkeypatch.setattr(select, "EXCEEDED", exceeded)
    s = solve(X, y, loss(1.0), gap_tol=1e-4, random_state=0)
    engine = "newton" if loss is Hinge else "newton_cg"
    assert s.solver == (f"hybrid+{engine}+hybrid" if exceeded < 1.0 else f"hybrid+{engine}")
    assert s.stop_reason == "gap_tol"
    alone = solve(X, y, loss(1.0), solver="hybrid", gap_tol=1e-4, random_state=0)
    assert s.certificate.primal == pytest.approx(alone.certificate.primal, rel=2e-4)


def test_a_factor_backs_the_products_of_some_hundred_columns():
    X = scattered(20_000, 700, 100)
    easy, hard = phases(X, 1e-3, loss=SquaredHinge), phases(X, 100.0, loss=SquaredHinge)
    assert [p.engine for p in easy] == ["hybrid", "newton_cg", "newton", "hybrid"]
    assert [p.engine for p in hard] == ["newton_cg", "newton", "hybrid"]  # sweeps would be hopeless
    assert 1.0 < hard[0].budget.products < 100.0


def blurred(n=4000, d=600):
    """Return columns that are nearly dependent, as neighbouring pixels are, and labels."""
    rng = np.random.default_rng(3)
    X = np.cumsum(rng.normal(size=(n, d)), axis=1) / np.sqrt(d)
    return X, np.where(X[:, ::50].sum(axis=1) + rng.normal(size=n) > 0.0, 1.0, -1.0)


def test_a_factor_goes_on_from_where_products_became_expensive(monkeypatch):
    X, y = blurred()
    starts = []

    class Watched(newton.Smoothed):
        def __init__(self, *args):
            super().__init__(*args)
            starts.append(self.primal)

    monkeypatch.setattr(newton, "Smoothed", Watched)
    s = solve(X, y, SquaredHinge(10.0), gap_tol=1e-6, random_state=0)
    assert s.solver == "newton_cg+newton"
    assert s.stop_reason == "gap_tol"
    reached = s.history["objective"][s.history["phase"] == 0]
    assert reached.size >= 1
    assert starts == pytest.approx([reached[-1]], rel=1e-9)
    alone = solve(X, y, SquaredHinge(10.0), solver="newton", gap_tol=1e-6)
    assert s.certificate.primal == pytest.approx(alone.certificate.primal, rel=2e-6)


def test_two_sweeps_tell_whether_rows_can_be_separated():
    X = narrow(20_000, 40)
    separable = np.where(X[:, 0] > 0.0, 1.0, -1.0)
    mixed = np.where(X[:, 0] + np.random.default_rng(1).normal(size=len(X)) > 0.0, 1.0, -1.0)
    by_sweeps = solve(X[np.abs(X[:, 0]) > 0.3], separable[np.abs(X[:, 0]) > 0.3], Hinge(100.0), gap_tol=1e-3)
    by_newton = solve(X, mixed, Hinge(100.0), gap_tol=1e-3)
    assert by_newton.solver == "hybrid+newton"
    assert np.count_nonzero(by_newton.history["phase"] == 0) == trend.TOLD
    assert np.count_nonzero(by_sweeps.history["phase"] == 0) > trend.TOLD


@pytest.mark.parametrize("loss", [Hinge, SquaredHinge])
def test_few_features_and_large_C_are_newtons(loss):
    assert phases(narrow(50_000, 10), 1e4, loss=loss, tol=1e-2)[0].engine == "newton"


def test_sweeps_that_are_cheap_beside_newton_are_tried_even_at_large_C():
    first, second, _ = phases(narrow(5000, 500), 1e4)
    assert (first.engine, second.engine) == ("hybrid", "newton")
    assert first.budget.review < 0.5 * first.budget.rival


@pytest.mark.parametrize("loss", [Logistic, SquaredEpsilonInsensitive])
@pytest.mark.parametrize(("n", "d", "engine"), [(20_000, 8, "newton"), (20_000, 90, "newton_cg")])
def test_few_features_of_a_smooth_loss_are_newtons(loss, n, d, engine):
    for C in (1e-4, 1e4):
        assert [p.engine for p in phases(narrow(n, d), C, loss=loss)] == [engine, "hybrid"]


def test_no_sweeps_go_before_what_a_sample_makes_cheap():
    """Columns of different scales, at a large C: one Newton step over all rows costs less than the trial."""
    X = np.random.default_rng(0).random((30_000, 20)) * 10.0 ** np.arange(-1.0, 3.0).repeat(5)
    assert [p.engine for p in phases(X, 100.0, gap_tol=1e-3)] == ["newton", "hybrid"]


def test_easy_problems_open_with_sweeps():
    first, second, last = phases(narrow(), 1e-4)
    assert [first.engine, second.engine, last.engine] == ["hybrid", "newton", "hybrid"]
    assert 2 * 5000 <= first.budget.review <= first.budget.most < np.inf
    assert last.budget.review == np.inf


def test_a_named_engine_is_given_time_and_backed():
    first, *others = phases(narrow(), 1.0, "avsf")
    assert first.engine == "avsf"
    assert first.budget.review >= select.LEAST_PATIENCE
    assert [p.engine for p in others] == ["newton", "newton", "avsf"]
    assert [p.afresh for p in others] == [False, True, False]
    assert [p.engine for p in phases(narrow(), 1.0, "newton")] == ["newton", "hybrid"]
    assert [p.engine for p in phases(narrow(), 1.0, "newton_cg", loss=SquaredHinge)] == [
        "newton_cg",
        "newton",
        "hybrid",
    ]


def test_a_named_engine_is_left_alone_without_a_finish():
    assert [p.engine for p in phases(narrow(), 1.0, "avsf", finish=False)] == ["avsf"]


def test_hardness_does_not_depend_on_scale():
    X = narrow()
    y = np.resize([-1.0, 1.0], X.shape[0]).astype(np.float32)
    stop = Stop(tol=1e-3)
    one = select.estimates(make_problem(read_data(X), y, None, Hinge(1.0)), stop)
    other = select.estimates(make_problem(read_data(8.0 * X), y, None, Hinge(1.0 / 64.0)), stop)
    np.testing.assert_allclose(one, other)


@pytest.mark.parametrize("loss", [Hinge, SquaredHinge])
def test_handing_over_reaches_the_same_optimum(monkeypatch, loss):
    X, y = classification(3000, 40, seed=5)
    for name in ("CLEARLY", "HOPELESS"):  # neither engine is clearly cheaper: sweeps, then Newton
        monkeypatch.setattr(select, name, 1e9)
    monkeypatch.setattr(select, "MOST", 1e-9)
    handed = solve(X, y, loss(1.0), gap_tol=1e-9, random_state=0)
    alone = solve(X, y, loss(1.0), solver="newton", gap_tol=1e-9)
    assert handed.solver == "hybrid+newton"
    assert handed.stop_reason == "gap_tol"
    assert handed.certificate.primal == pytest.approx(alone.certificate.primal, rel=1e-8)


def test_hopeless_scales_end_and_say_how_good_the_model_is():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20)) * 1e3 * np.logspace(-2, 2, 20)
    y = np.sign(rng.normal(size=300))
    model = LinearSVC(loss="hinge", C=1e6, random_state=0, max_time=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.objective_)
    assert model.converged_ == (model.duality_gap_ <= 1e-3)
