"""A sample of the rows: a problem of its own, evenly spread, of about the same objective."""

import numpy as np
import pytest
from problems import LOSSES, classification, csr, every_layout

from hingeline import Hinge, Logistic, SquaredEpsilonInsensitive, SquaredHinge, solve
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.kernels.losses import missing, primal_term
from hingeline.solvers.newton import newton
from hingeline.solvers.shards.sample import losses_at_zero, sample_of, take_rows


@pytest.mark.parametrize("layout", range(len(list(every_layout(np.eye(3))))))
def test_rows_taken_are_the_rows_chosen(layout):
    X, _ = classification(n=30, d=7, density=0.5, ones=True)
    X[4] = 0.0
    _, matrix = list(every_layout(X))[layout]
    rows = read_data(matrix, bias=0.5).rows
    chosen = np.array([1, 4, 5, 29])
    taken = take_rows(rows, chosen)
    assert type(taken) is type(rows)
    assert taken.bias == rows.bias
    for ours, theirs in zip(taken[:-1], rows[:-1], strict=True):
        assert ours.dtype == theirs.dtype
        assert not ours.flags.writeable  # another type to numba, hence another compilation
    again = taken.X if hasattr(taken, "X") else csr_of(taken, X.shape[1])
    np.testing.assert_array_equal(again, X[chosen])


def csr_of(rows, n_columns):
    dense = np.zeros((rows.indptr.size - 1, n_columns))
    for i in range(len(dense)):
        inside = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
        dense[i, rows.indices[inside]] = getattr(rows, "data", np.ones(rows.indices.size))[inside]
    return dense


def test_every_stretch_of_the_rows_is_sampled_and_the_weight_is_kept():
    X, y = classification(n=1000, d=3)
    weights = np.random.default_rng(0).random(1000)
    problem = make_problem(read_data(X, 0.0), y.astype(np.float32), weights, LOSSES["hinge"](2.0))
    sample = sample_of(problem, 8)
    assert sample.data.n_rows == 125
    for group in range(125):
        assert (X[8 * group : 8 * group + 8] == sample.data.rows.X[group]).all(axis=1).sum() == 1
    np.testing.assert_allclose(sample.C.sum(), problem.C.sum())


@pytest.mark.parametrize("loss", sorted(LOSSES))
@pytest.mark.parametrize("sorted_rows", [False, True])
def test_a_start_from_a_sample_ends_at_the_same_optimum(loss, sorted_rows, monkeypatch):
    X, y = classification(n=4000, d=4)
    if sorted_rows:
        order = np.argsort(y, kind="stable")
        X, y = X[order], y[order]
    assert newton.LEAST_STEP <= 4000 // (newton.SAMPLED_PER_WEIGHT * 5)  # these rows are enough for a sample
    sampled = solve(csr(X), y, LOSSES[loss](3.0), solver="newton", tol=1e-9)
    monkeypatch.setattr(newton, "LEAST_STEP", 1000)
    plain = solve(csr(X), y, LOSSES[loss](3.0), solver="newton", tol=1e-9)
    assert sampled.converged
    assert sampled.certificate.gap < 1e-8
    np.testing.assert_allclose(sampled.w, plain.w, rtol=1e-6)
    assert sampled.n_iter <= plain.n_iter + 1  # the last digits may cost one


def test_a_sample_without_weight_is_no_start():
    X, y = classification(n=4000, d=4)
    weights = np.zeros(4000)
    problem = make_problem(read_data(X, 0.0), y.astype(np.float32), np.ones(4000), LOSSES["hinge"](1.0))
    step = min(newton.SAMPLE_STEP, 4000 // (newton.SAMPLED_PER_WEIGHT * 5))
    in_sample = {tuple(row) for row in sample_of(problem, step).data.rows.X}
    weights[[i for i in range(4000) if tuple(X[i]) not in in_sample][:50]] = 1.0
    solution = solve(X, y, LOSSES["hinge"](1.0), solver="newton", sample_weight=weights, tol=1e-6)
    assert solution.converged
    assert solution.certificate.gap < 1e-5


def test_a_sample_that_has_missed_what_matters_is_no_start(monkeypatch):
    """Where the sample has none of a rare class, its solution is worse than zero on all rows."""
    rng = np.random.default_rng(5)
    y, X = np.full(4000, -1.0), rng.normal(size=(4000, 6))
    data = read_data(X, 0.0)
    problem = make_problem(data, y.astype(np.float32), np.ones(4000), Logistic(100.0))
    step = newton.sample_step(problem.loss, 4000, 7)
    in_sample = {tuple(row) for row in sample_of(problem, step).data.rows.X}
    y[[i for i in range(4000) if tuple(X[i]) not in in_sample][:7]] = 1.0
    X[:, 0] = np.where(y > 0.0, 1e4, 30.0 + X[:, 0])
    starts = []
    whole = newton.Smoothed

    def smoothed(shards, run, w, *how):
        starts.append(w.copy())
        return whole(shards, run, w, *how)

    monkeypatch.setattr(newton, "Smoothed", smoothed)
    solution = solve(X, y, Logistic(100.0), solver="newton", tol=1e-6)
    assert solution.converged
    assert len(starts) == 3  # the sample, all rows from its solution, and all rows again
    assert starts[1].any()
    assert not starts[2].any()


@pytest.mark.parametrize("weights", [None, np.arange(4000.0)])
@pytest.mark.parametrize("loss", [Hinge(2.0), SquaredHinge(2.0), Logistic(2.0), SquaredEpsilonInsensitive(2.0, 0.1)])
def test_the_losses_at_zero_are_those_of_no_weights(loss, weights):
    X, y = classification(4000, 4, seed=1)
    problem = make_problem(read_data(X, 1.0), y.astype(np.float32), weights, loss)
    m = missing(loss, y.astype(np.float64), 0.0)
    expected = sum(2.0 * primal_term(loss, m[i], 1.0) * (1.0 if weights is None else weights[i]) for i in range(4000))
    assert losses_at_zero(problem) == pytest.approx(expected, rel=1e-9)
