"""A sample of the rows as a separate problem, whose solution is a start for all rows."""

from __future__ import annotations

import numpy as np

from ...data.matrix import Data
from ...data.problem import Problem
from ...kernels.losses import missing, primal_term
from ...kernels.rows import CsrRows, DenseRows, OnesRows, Rows
from ...kernels.types import Indices, Vector
from ...runtime.threads import ALONE, Team
from .kernels import copy_entries, sum_losses_at_zero

GOLDEN_RATIO = 0.6180339887498949


def step_between(least: int, most: int, n_rows: int, n_weights: int, per_weight: int) -> int:
    """Return k if one row in k, at most ``most``, leaves ``per_weight`` rows per weight and k >= ``least``; else 1."""
    step = min(most, n_rows // (per_weight * n_weights))
    return step if step >= least else 1


def losses_at_zero(problem: Problem) -> float:
    """Return the losses at w = 0: a sample whose solution is no better than that on all rows is useless."""
    C, loss, n = problem.C_values, problem.loss, problem.data.n_rows
    if not loss.is_regression:  # all labels have the same margin
        return float(C.sum() * (n if C.size == 1 else 1)) * primal_term(loss, missing(loss, 1.0, 0.0), 1.0)
    return float(sum_losses_at_zero(loss, problem.y, C))


def mean_margin_at_zero(problem: Problem) -> float:
    """Return the mean margin at w = 0, or 1 if that is zero: the unit of smoothing widths."""
    if not problem.loss.is_regression:
        return 1.0
    return float(np.abs(missing(problem.loss, problem.y, 0.0)).mean()) or 1.0


def sample_of(problem: Problem, step: int, team: Team = ALONE) -> Problem | None:
    """Return the problem of one row in ``step``; None if the rows sampled have no weight."""
    chosen, data = chosen_rows(problem.data.n_rows, step), problem.data
    rows = take_rows(data.rows, chosen, team)
    return scaled_problem(problem, Data(rows, chosen.size, data.n_features, data.distinct, data.q[chosen]), chosen)


def chosen_rows(n_rows: int, step: int) -> Indices:
    """Return the numbers of one row in ``step``, in order.

    One row of every group of ``step`` neighbours, so that sorted data are sampled evenly. Which one changes from group
    to group by the golden ratio, so that the sample follows no period in the data.
    """
    groups = np.arange(n_rows // step)
    return groups * step + (np.modf(groups * GOLDEN_RATIO)[0] * step).astype(np.intp)


def scaled_problem(problem: Problem, data: Data, chosen: Indices) -> Problem | None:
    """Return the problem of the ``chosen`` rows, its C_i scaled up so that the objective stays about the same.

    None if these rows have no weight.
    """
    C = np.broadcast_to(problem.C, problem.data.n_rows)
    share = float(C[chosen].sum()) / float(C.sum())
    if share == 0.0:
        return None
    kept = np.flatnonzero(data.q > 0.0).astype(np.uint32)
    return Problem(data, problem.y[chosen], C[chosen] / share, problem.loss, kept)


def take_rows(rows: Rows, chosen: Indices, team: Team = ALONE) -> Rows:
    """Return a row view of the ``chosen`` rows, copied; its types are those of ``rows``."""
    if isinstance(rows, DenseRows):
        X = np.empty((chosen.size, rows.X.shape[1]), dtype=rows.X.dtype)
        team.parts(chosen.size, lambda part: np.take(rows.X, chosen[part], axis=0, out=X[part], mode="clip"))
        return DenseRows(_read_only(X), rows.bias)
    lengths = rows.indptr[chosen + 1].astype(np.int64) - rows.indptr[chosen].astype(np.int64)
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(rows.indptr.dtype)
    numbers = chosen.astype(np.uint64)

    def copied(source: Vector) -> Vector:
        out = np.empty(int(indptr[-1]), dtype=source.dtype)
        fixed = (rows.indptr, source, numbers, indptr, out)
        team.parts(chosen.size, lambda part: copy_entries(*fixed, part.start, part.stop))
        return _read_only(out)

    indices = copied(rows.indices)
    if isinstance(rows, CsrRows):
        return CsrRows(_read_only(indptr), indices, copied(rows.data), rows.bias)
    return OnesRows(_read_only(indptr), indices, rows.bias)


def concatenated(parts: list[Rows]) -> Rows:
    """Return sparse row views of several blocks as one."""
    sparse = [rows for rows in parts if not isinstance(rows, DenseRows)]
    lengths = np.concatenate([np.diff(rows.indptr.astype(np.int64)) for rows in sparse])
    indptr = _read_only(np.concatenate(([0], np.cumsum(lengths))).astype(sparse[0].indptr.dtype))
    indices, bias = _read_only(np.concatenate([rows.indices for rows in sparse])), sparse[0].bias
    values = [rows.data for rows in sparse if isinstance(rows, CsrRows)]
    if not values:
        return OnesRows(indptr, indices, bias)
    return CsrRows(indptr, indices, _read_only(np.concatenate(values)), bias)


def _read_only(array: np.ndarray) -> np.ndarray:
    """Return the array with the type that kernels are compiled for."""
    array.flags.writeable = False
    return array
