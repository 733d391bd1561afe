"""Crammer and Singer's classifier: its dual variables are exactly feasible, so that its certificate is true."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from other_problems import assert_feasible_examples, exact_crammer_singer

from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.kernels.losses import Hinge
from hingeline.runtime.pace import Pace
from hingeline.solvers.multiclass.crammer_singer import train_crammer_singer
from hingeline.solvers.multiclass.dual_state import dual_state
from hingeline.solvers.multiclass.example_passes import make_feasible
from hingeline.solvers.multiclass.example_steps import threshold
from hingeline.solvers.stop import Stop

SEEDS = st.integers(0, 2**32 - 1)


@st.composite
def problems(draw):
    """Rows of very different scales, any C, weights."""
    rng = np.random.default_rng(draw(SEEDS))
    n, d, k = draw(st.integers(3, 20)), draw(st.integers(1, 5)), draw(st.integers(3, 5))
    X = rng.normal(size=(n, d))
    X *= 10.0 ** rng.uniform(*draw(st.sampled_from([(0.0, 0.0), (-5.0, 3.0), (0.0, 6.0)])), size=(n, 1))
    y = np.append(np.arange(k), rng.integers(k, size=n))[:n] % k if n >= k else np.arange(n)
    weights = draw(st.sampled_from([None, rng.exponential(size=n), 10.0 ** rng.uniform(-4.0, 4.0, size=n)]))
    return X, y.astype(np.uint32), k, weights, 10.0 ** draw(st.floats(-8.0, 4.0))


@given(problem=problems(), solver=st.sampled_from(["auto", "baseline", "avsf", "hybrid"]), sweeps=st.integers(1, 60))
@settings(max_examples=25)
def test_the_certificate_is_that_of_a_feasible_point(problem, solver, sweeps):
    X, y, k, weights, C = problem
    s = train_crammer_singer(read_data(X), y, k, weights, C, solver, Stop(tol=1e-9, max_iter=sweeps), seed=0)
    bounds = C * (np.ones(len(y)) if weights is None else weights)
    assert_feasible_examples(s.alpha, y, bounds)
    primal, dual = exact_crammer_singer(X, y, bounds, s.w, s.alpha)
    lengths = np.linalg.norm(X, axis=1)  # sum_i alpha_i x_i is rounded, and a row's score with it
    rounding = 1e-9 * float(primal) + 1e-14 * bounds.sum() * lengths.max() * (np.abs(s.alpha).sum(axis=1) @ lengths)
    assert s.certificate.primal == pytest.approx(float(primal), abs=rounding)
    assert s.certificate.dual == pytest.approx(float(dual), abs=rounding)
    assert dual <= primal


@given(seed=SEEDS, k=st.integers(3, 8), kind=st.sampled_from(["rounded", "any", "at bound", "beyond", "denormal"]))
@settings(max_examples=200)
def test_any_variables_are_made_feasible_and_stay_so(seed, k, kind):
    rng = np.random.default_rng(seed)
    n = 6
    y, C = rng.integers(k, size=n).astype(np.uint32), 10.0 ** rng.uniform(-8.0, 8.0, size=n)
    if kind == "denormal":
        C *= 1e-307
    off = np.arange(k) != y[:, None]
    alpha = np.where(off, -rng.dirichlet(np.full(k, 0.3), size=n) * C[:, None] / 10.0 ** rng.uniform(0, 9, (n, 1)), 0.0)
    if kind == "at bound":
        alpha *= C[:, None] / np.abs(alpha).sum(axis=1, keepdims=True)
    alpha[~off] = -alpha.sum(axis=1)
    if kind == "beyond":
        alpha *= rng.exponential(size=(n, k)) * 3.0
    if kind == "any":
        alpha = rng.normal(size=(n, k)) * C[:, None]
    before = alpha.copy()
    make_feasible(alpha, C, y, 0, n)
    assert_feasible_examples(alpha, y, C)
    if kind in ("rounded", "at bound"):  # nothing but rounding had to be mended
        sizes = np.abs(before).max(axis=1, keepdims=True)
        assert (np.abs(alpha - before) <= 4.0 * k * np.finfo(float).eps * sizes).all()
    again = alpha.copy()
    make_feasible(again, C, y, 0, n)
    np.testing.assert_array_equal(again, alpha)


@pytest.mark.parametrize("total", [1e-30, 1e-12, 1.0, 1e6])
def test_a_threshold_is_exceeded_even_if_the_total_is_tiny(total):
    D = np.array([1e3, 1e3, 1.0, -4.0])
    beta, above = threshold(D, total)
    excess = np.maximum(D - beta, 0.0)
    assert above == np.count_nonzero(excess)
    assert excess.sum() == pytest.approx(total, rel=1e-12)


@pytest.mark.parametrize("solver", ["auto", "hybrid"])
def test_rows_of_zeros_alone(solver):
    X, y = np.zeros((6, 2)), np.arange(6, dtype=np.uint32) % 3
    X[0], weights = 1.0, np.array([0.0, 1.0, 1.0, 2.0, 1.0, 1.0])  # the only other row does not count
    s = train_crammer_singer(read_data(X), y, 3, weights, 1.0, solver, Stop(), seed=0)
    assert not s.w.any()
    assert s.certificate.primal == s.certificate.dual == 6.0


def test_variables_that_certify_nothing_are_replaced():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), (np.arange(12) % 3).astype(np.uint32)
    state = dual_state(make_problem(read_data(X), y, None, Hinge(1e3)), 3, None)
    alpha = np.full((12, 3), -100.0)
    alpha[np.arange(12), y] = 200.0
    state.take(alpha, 0.1 * rng.normal(size=state.examples.w.size))
    certificate = state.refresh(Pace())
    assert certificate.dual == pytest.approx(0.0, abs=1e-9 * certificate.primal)
    assert certificate.gap == pytest.approx(1.0)
