"""A sample of the rows as a problem of its own, whose solution is a start for the whole."""

from __future__ import annotations

import numpy as np

from ...data.problem import Data, Problem
from ...kernels.losses import missing, primal_term
from ...kernels.rows import CsrRows, DenseRows, OnesRows, Rows
from .responses import sum_terms

GOLDEN_RATIO = 0.6180339887498949


def step_between(least: int, most: int, problem: Problem, per_weight: int) -> int:
    """Return k where one row in k, at most ``most``, leaves ``per_weight`` rows for each weight; 1 below ``least``."""
    step = min(most, problem.data.n_rows // (per_weight * (problem.data.n_features + 1)))
    return step if step >= least else 1


def objective_at_zero(problem: Problem) -> float:
    """Return the objective at w = 0: a sample whose solution is no better on all rows has missed what matters."""
    C, loss = np.broadcast_to(problem.C, problem.data.n_rows), problem.loss
    if not loss.is_regression:  # all labels miss the same
        return float(C.sum()) * primal_term(loss, missing(loss, 1.0, 0.0), 1.0)
    m = missing(loss, problem.y, 0.0).astype(np.float64)
    return float(sum_terms(loss, C.astype(np.float64), m, np.zeros_like(m), 0, m.size)[0])


def sample_of(problem: Problem, step: int) -> Problem | None:
    """Return the problem of one row in ``step``, its C_i scaled up so that the objective stays about the same.

    None where the rows sampled have no weight.

    One row of every group of ``step`` neighbours, so that sorted data are sampled evenly; which one changes from group
    to group by the golden ratio, so that no period in the data is met.
    """
    groups = np.arange(problem.data.n_rows // step)
    chosen = groups * step + (np.modf(groups * GOLDEN_RATIO)[0] * step).astype(np.intp)
    C = np.broadcast_to(problem.C, problem.data.n_rows)
    share = float(C[chosen].sum()) / float(C.sum())
    if share == 0.0:
        return None
    q = problem.data.q[chosen]
    data = Data(take_rows(problem.data.rows, chosen), chosen.size, problem.data.n_features, problem.data.distinct, q)
    return Problem(data, problem.y[chosen], C[chosen] / share, problem.loss, np.flatnonzero(q > 0.0).astype(np.uint32))


def take_rows(rows: Rows, chosen: np.ndarray) -> Rows:
    """Return a row view of the ``chosen`` rows, copied; its types are those of ``rows``."""
    if isinstance(rows, DenseRows):
        return DenseRows(_read_only(rows.X[chosen]), rows.bias)
    first = rows.indptr[chosen].astype(np.intp)
    lengths = rows.indptr[chosen + 1].astype(np.intp) - first
    indptr = np.concatenate(([0], np.cumsum(lengths)))
    entries = np.arange(indptr[-1]) + np.repeat(first - indptr[:-1], lengths)
    new_indptr, indices = _read_only(indptr.astype(rows.indptr.dtype)), _read_only(rows.indices[entries])
    if isinstance(rows, CsrRows):
        return CsrRows(new_indptr, indices, _read_only(rows.data[entries]), rows.bias)
    return OnesRows(new_indptr, indices, rows.bias)


def _read_only(array: np.ndarray) -> np.ndarray:
    """Return the array with the type that kernels are compiled for."""
    array.flags.writeable = False
    return array
