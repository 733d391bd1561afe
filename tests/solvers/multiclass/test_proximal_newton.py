"""Newton's method for Crammer and Singer's classifier: its parts against NumPy, and problems that sweeps find hard."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from other_problems import assert_feasible_examples, crammer_singer_primal, exact_crammer_singer
from problems import csr

from hingeline import LinearSVC
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.kernels.losses import Hinge
from hingeline.runtime.pace import Pace
from hingeline.solvers.clock import Clock
from hingeline.solvers.driver import Run
from hingeline.solvers.finish import ended
from hingeline.solvers.multiclass import proximal_newton as method
from hingeline.solvers.multiclass.crammer_singer import train_crammer_singer
from hingeline.solvers.multiclass.dual_state import dual_state
from hingeline.solvers.multiclass.newton_system import WIDE, hessian
from hingeline.solvers.multiclass.proximal_newton import SmoothedProblem, proximal_newton
from hingeline.solvers.multiclass.smoothed_examples import Responses, along_line, respond
from hingeline.solvers.stop import Stop

SEEDS = st.integers(0, 2**32 - 1)


def some_responses(n=30, k=4, seed=0, C=2.0):
    """Return responses at random scores, smoothed around random feasible variables."""
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n).astype(np.uint32)
    abar = -rng.dirichlet(np.ones(k), size=n) * rng.uniform(0.0, C, size=(n, 1))
    abar[np.arange(n), y] = 0.0
    abar[np.arange(n), y] = -abar.sum(axis=1)
    C = np.where(np.arange(n) == 3, 0.0, C)  # does not respond
    responses = Responses(C, rng.uniform(0.1, 3.0, size=n), y, 2.0 * rng.normal(size=(n, k)), abar, np.zeros((n, k)))
    return responses, rng.normal(size=(n, k))


def projected(v, total):
    """Return the projection of v onto the simplex with this total, by sorting."""
    u = np.sort(v)[::-1]
    tau = (np.cumsum(u) - total) / np.arange(1, v.size + 1)
    return np.maximum(v - tau[np.flatnonzero(u > tau)[-1]], 0.0)


def test_responses_are_projections():
    responses, t = some_responses()
    before = responses.G.copy()
    violation, losses, gap, smooth, moved = respond(responses, t, 0.5, 0, 30)
    np.testing.assert_allclose(responses.G, before + 0.5 * t)
    values, sizes = np.zeros(30), np.zeros(30)
    for i in np.flatnonzero(responses.C):
        own = np.arange(4) == responses.y[i]
        G, upper = responses.G[i], responses.C[i] * own
        p = projected(upper - responses.abar[i] + responses.stiffness[i] * G, responses.C[i])
        np.testing.assert_allclose(responses.alpha[i], upper - p, atol=1e-12)
        sizes[i] = np.sum((responses.alpha[i] - responses.abar[i]) ** 2) / responses.stiffness[i]
        values[i] = p @ G - responses.C[i] * G[own][0] - 0.5 * sizes[i]
    assert not responses.alpha[3].any()
    assert (smooth, moved) == pytest.approx((values.sum(), sizes.sum()))
    assert violation > 0.0
    assert losses > smooth
    assert gap > 0.0


def test_derivatives_along_a_line():
    responses, t = some_responses(seed=1)
    first, second = along_line(responses, t, 0.3, 0, 30)
    scores, h = responses.G.copy(), 1e-5
    values = []
    for tau in (0.3 - h, 0.3, 0.3 + h):
        responses.G[:] = scores
        values.append(respond(responses, t, tau, 0, 30)[3])
    assert first == pytest.approx((values[2] - values[0]) / (2 * h), rel=1e-6)
    assert second == pytest.approx((values[2] - 2 * values[1] + values[0]) / h**2, rel=1e-3)


@pytest.mark.parametrize("layout", ["narrow", "wide", "csr", "csr without intercept"])
def test_hessian(layout):
    responses, t = some_responses(seed=2)
    respond(responses, t, 0.0, 0, 30)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, WIDE + 5 if layout == "wide" else 5)) * (rng.random((30, 1)) < 0.8)
    if layout.startswith("csr"):
        X[rng.random(X.shape) < 0.5] = 0.0
    bias = 0.0 if layout.endswith("intercept") else 0.5
    data = read_data(csr(X) if layout.startswith("csr") else X, bias)
    with_bias = np.column_stack([X, np.full(30, bias)])
    d = with_bias.shape[1]
    expected = np.eye(4 * d)
    for i in np.flatnonzero(responses.C):
        upper = responses.C[i] * (np.arange(4) == responses.y[i])
        inside = (responses.alpha[i] < upper).astype(float)
        J = responses.stiffness[i] * (np.diag(inside) - np.outer(inside, inside) / inside.sum())
        expected += np.kron(J, np.outer(with_bias[i], with_bias[i]))
    np.testing.assert_allclose(np.tril(hessian(data.rows, responses, d, Pace())), np.tril(expected), atol=1e-12)


@st.composite
def problems(draw):
    """Problems of few rows and columns of every kind that sweeps find hard."""
    rng = np.random.default_rng(draw(SEEDS))
    n, d = draw(st.integers(3, 50)), draw(st.integers(1, 10))
    k = draw(st.integers(3, 5))
    X = rng.normal(size=(n, d))
    kind = draw(st.sampled_from(["normal", "integers", "offset", "constant column", "rows of all scales", "copies"]))
    if kind == "integers":
        X = np.round(3.0 * X)
    elif kind == "offset":
        X += 100.0
    elif kind == "constant column":
        X[:, 0] = 1e3
    elif kind == "rows of all scales":
        X *= 10.0 ** rng.uniform(-5.0, 3.0, size=(n, 1))
    elif kind == "copies":
        X = X[rng.integers(max(1, n // 3), size=n)]
    y = np.append(np.arange(k), rng.integers(k, size=n))[:n]
    weights = draw(st.sampled_from([None, 10.0 ** rng.uniform(-2.0, 2.0, size=n)]))
    return X, y.astype(np.uint32), k, weights, 10.0 ** draw(st.floats(-2.0, 6.0))


@given(problem=problems(), bias=st.sampled_from([0.0, 1.0]), sparse=st.booleans())
@settings(max_examples=30)
def test_hard_problems_end_with_a_true_certificate(problem, bias, sparse):
    X, y, k, weights, C = problem
    data = read_data(csr(X) if sparse else X, bias)
    s = train_crammer_singer(data, y, k, weights, C, "auto", Stop(max_iter=5000), seed=0)
    assert s.converged
    assert s.certificate.gap < 1e-3
    bounds = C * (np.ones(len(y)) if weights is None else weights)
    assert_feasible_examples(s.alpha, y, bounds)
    with_bias = np.column_stack([X, np.full(len(X), bias)])
    W = np.column_stack([s.w, s.intercept if bias else np.zeros(k)])
    primal, dual = map(float, exact_crammer_singer(with_bias, y, bounds, W, s.alpha))
    assert s.certificate.primal == pytest.approx(primal, rel=1e-6)
    assert s.certificate.dual == pytest.approx(dual, abs=1e-6 * primal)
    assert dual <= primal


def test_directions_by_products(monkeypatch):
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(30, 4)), rng.integers(3, size=30).astype(np.uint32)
    state = dual_state(make_problem(read_data(X, 1.0), y, None, Hinge(2.0)), 3, None)
    run = Run(Stop(), Clock(None, None), certify=state.refresh, floor=state.floor)
    smoothed = SmoothedProblem(state, run)
    smoothed.step()
    monkeypatch.setattr(method, "CG_ACCURACY", 1e-12)
    assert np.abs(smoothed._residual).max() > 1e-6
    np.testing.assert_allclose(smoothed._direction_by_products(), smoothed._direction(), atol=1e-9)


@pytest.mark.parametrize("largest", [0, 2000])
def test_newton_alone_finds_what_sweeps_find(largest, monkeypatch):
    monkeypatch.setattr(method, "LARGEST_SYSTEM", largest)
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 4)), rng.integers(4, size=60).astype(np.uint32)
    by_sweeps = train_crammer_singer(read_data(X), y, 4, None, 0.5, "hybrid", Stop(tol=1e-9), seed=0)
    problem = make_problem(read_data(X), y, None, Hinge(0.5))
    state = dual_state(problem, 4, None)
    run = Run(Stop(gap_tol=1e-10), Clock(None, None), certify=state.refresh, floor=state.floor)
    assert ended(lambda: proximal_newton(state, run)) == "gap_tol"
    assert run.certificate.gap <= 1e-10
    w, b = state.snapshot()[:2]
    np.testing.assert_allclose(w, by_sweeps.w, atol=1e-5)
    assert run.certificate.primal == pytest.approx(crammer_singer_primal(X, y, w, b, 0.5), rel=1e-12)


def test_an_offset_is_no_obstacle():
    rng = np.random.default_rng(0)
    X, y = 100.0 + rng.normal(size=(20, 5)), np.append(np.arange(4), rng.integers(4, size=16))
    model = LinearSVC(multi_class="crammer_singer", random_state=0, max_iter=500).fit(X, y)
    assert model.converged_
    assert model.solver_ == "hybrid+newton"
    assert model.duality_gap_ < 1e-8


@pytest.mark.parametrize("solver", ["baseline", "avsf", "hybrid"])
def test_engines_by_name_end_too(solver):
    rng = np.random.default_rng(0)
    X, y = 100.0 + rng.normal(size=(20, 5)), np.append(np.arange(4), rng.integers(4, size=16))
    model = LinearSVC(multi_class="crammer_singer", solver=solver, random_state=0, max_iter=5000).fit(X, y)
    assert model.converged_
    assert model.solver_ == f"{solver}+newton"
    assert model.duality_gap_ < 1e-3


@pytest.mark.parametrize("seed", range(4))
def test_scores_whose_terms_cancel_are_certified(seed):
    """Start and end of something as seconds since 1970: dual variables fit the weights nevertheless."""
    rng = np.random.default_rng(seed)
    start, duration = 1.7e9 + rng.uniform(0.0, 3e7, 20), rng.exponential(1e3, 20)
    X = np.column_stack([start, start + duration, duration, rng.normal(size=20)])[:, : 1 + seed]
    model = LinearSVC(multi_class="crammer_singer", C=10.0 ** rng.uniform(0, 4), random_state=0)
    model.fit(X, rng.integers(3, size=20))
    assert model.converged_
    assert model.duality_gap_ < 1e-3
