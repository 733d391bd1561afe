"""``solver="auto"``: which engine for which problem, by a cost model that is written down here.

Hardness is kappa = mean(C_i) mean(|x_i|^2), which does not change when X is scaled and C with it. Measured on data sets
from 5e4 to 2e7 non-zeros, to within a factor of two or three:

======================================  ===========================================================================
hybrid: sweeps of l steps to tol 0.01   6 + 2 kappa^0.85, times log10(1/tol)/2
one step                                45 ns + 2.2 ns a non-zero
newton: iterations                      20 + 18 log10(1 + kappa); squared hinge: 5 + 3 log10(1 + kappa)
one iteration                           30 ns a row, 3 ns a non-zero (passes), 0.14 ns a pair of non-zeros of a row
                                        (Gram matrix of the band), 0.05 d^3 ns (Cholesky)
======================================  ===========================================================================

Where the model says that one engine is clearly cheaper, it starts; a hybrid that has spent what Newton's method would
have cost hands its dual variables over to it, so a wrong guess costs at most about twice the better engine. Budgets are
counted in steps, not in seconds: results do not depend on the machine's load.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, log10

import numpy as np

from ..kernels.losses import SquaredHinge
from ..problem import Problem
from .driver import Stop
from .newton import LARGEST_FACTOR

SMALL = 100_000  # rows times columns; solved to rounding, which costs nothing and forgets the order of the rows
OUT_OF_CORE = "out_of_core"  # for data that does not fit in memory
CLEARLY = 3.0  # a factor between two estimates that may each be wrong
OPENING = 0.25  # share of Newton's cost that sweeps may take where neither is clearly cheaper


@dataclass(frozen=True)
class Phase:
    """An engine, when it is done, and the steps after which the next phase takes over.

    Where rounding ends an engine short of its goal, the next one takes over as well.
    """

    engine: str
    stop: Stop
    max_steps: float = inf


def plan(problem: Problem, solver: str, stop: Stop) -> list[Phase]:
    """Return the phases of a run. Coordinate descent comes last where Newton's method is not sure to end it."""
    data, last = problem.data, Phase("hybrid", stop)
    if data.blocks is not None and solver in ("auto", "hybrid"):
        return [Phase(OUT_OF_CORE, stop)]
    if solver == "newton":
        return [Phase("newton", stop), last]
    if solver != "auto":
        return [Phase(solver, stop)]
    if data.n_rows * data.n_features <= SMALL:
        return [Phase("newton", replace(stop, tol=0.0, gap_tol=None)), last]
    if data.n_features >= LARGEST_FACTOR:
        return [last]
    step, sweeps, newton = estimates(problem, stop)
    hybrid = step * sweeps * problem.n_variables
    if hybrid > CLEARLY * newton:
        return [Phase("newton", stop), last]
    share = 1.0 if hybrid * CLEARLY < newton else OPENING
    opening = Phase("hybrid", stop, max(share * newton / step, 2.0 * problem.n_variables))
    return [opening, Phase("newton", stop), last]


def estimates(problem: Problem, stop: Stop) -> tuple[float, float, float]:
    """Return the seconds of a step, the sweeps of the hybrid, and the seconds of Newton's method."""
    data = problem.data
    d = data.n_features + 1
    per_row = data.n_stored / data.n_rows
    kappa = float(np.mean(problem.C)) * float(data.q.mean())
    tol = 0.01 if stop.gap_tol is not None else stop.tol
    sweeps = (6.0 + 2.0 * kappa**0.85) * max(1.0, log10(1.0 / tol) / 2.0)
    smooth = isinstance(problem.loss, SquaredHinge)
    iterations = 5.0 + 3.0 * log10(1.0 + kappa) if smooth else 20.0 + 18.0 * log10(1.0 + kappa)
    iteration = data.n_rows * (30e-9 + 3e-9 * per_row + 0.14e-9 * per_row**2) + 0.05e-9 * d**3
    return 45e-9 + 2.2e-9 * per_row, sweeps, iterations * iteration
