"""``solver="auto"``: chooses the engine for a problem by the cost model below.

Hardness is kappa = mean(C_i) mean(|x_i|^2), which does not change when X is scaled and C with it. Measured on data sets
from 2e5 to 2e7 non-zeros, to within a factor of two or three:

======================================  ===========================================================================
hybrid: sweeps of l steps to tol 0.01   6 + 4 kappa^0.85 (squared hinge: 3 + 8 kappa^0.85), times log10(1/tol)/2
one step                                45 ns + 2.2 ns per non-zero, 60 ns more if X does not fit the caches (dense
                                        rows: twice as much)
newton: iterations                      15 + 8 log10(1 + kappa), to a gap two thirds of that; squared hinge:
                                        5 + 3 log10(1 + kappa); less than half of that if a sample goes first (to a
                                        gap, a quarter); start-up costs 1.5 more
one iteration                           40 ns per row, 1.6 ns per non-zero (passes), 0.03 ns (squared hinge: 0.1 ns)
                                        per pair of non-zeros of a row (Gram matrix), 0.02 d^3 ns (Cholesky)
the same by conjugate gradients         30 products (squared hinge: 8), each  5 ns per row and 0.8 ns per non-zero
dense rows                              25 ns; per value: step 0.5 ns, pass 0.3 ns, product 0.25 ns, pair 0.005
                                        (0.01) ns
======================================  ===========================================================================

Conjugate gradients are for 2,000 features and more (smooth losses: 500) with at least four rows per feature. The number
of products is a guess: if it is exceeded by far, sweeps take over again. Below 2,000 features a dense factor takes over
instead, as soon as an iteration takes so many products that a factor would soon be cheaper: their number grows from
iteration to iteration if columns are nearly dependent (mnist20k: 2, 5, 8, 14, ...), and hardly if they are not.

The logistic and the squared epsilon-insensitive loss use Newton's method if there are fewer than 500 features: a
handful of iterations is enough at any C. All rows are in the band then. If their Gram matrix costs more than 35
products, newton_cg is used, whose preconditioner takes a sample of the rows and is nearly exact. A pair of values in
that matrix: 0.1 ns; dense rows 0.19 ns, 0.05 ns from 100 columns on (BLAS).

No formula of shape and C tells a hard problem from an easy one. So if a few sweeps are cheap compared with Newton's
method, they go first, whatever the model says, and their trend is extrapolated (trend.py). They go on while the trend
promises to finish sooner than Newton's method would, and hand over their dual variables when it does not. Over the
hinge, two sweeps tell whether rows can be separated: how many sweeps it takes at large C goes with what is left of the
objective then (a9a 0.5 of that at w = 0, w8a 0.16, mnist20k 0.04, mushrooms 0.01). If the model's number of sweeps,
times (what is left / 0.35)^1.5, costs four times as much as Newton's method, it takes over at once. Budgets are counted
in steps, not in seconds, so results do not depend on the load of the computer.

An engine that the user has named gets a hundred times the cost of Newton's method. If its trend promises no end within
the same again, or if it stalls, Newton's method finishes the run (and ``Solution.solver`` names both).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import log10
from typing import NamedTuple

import numpy as np

from ..data.matrix import Data
from ..data.problem import Problem
from ..kernels.rows import DenseRows
from .engines import AUTO, ENGINES, HYBRID, NEWTON, NEWTON_CG, OUT_OF_CORE
from .newton.directions import LARGEST_FACTOR
from .newton.newton import sample_step
from .newton.newton_cg import LARGEST_FACTOR as LARGEST_SAMPLED_FACTOR
from .newton.newton_cg import sampled_rows
from .stop import Stop
from .trend import Budget
from .weighted_gram import NARROW

SMALL = 100_000  # rows times columns up to which Newton's method is used, whatever the model says
TINY = 10_000  # rows times columns up to which problems are solved to rounding: cheap, and independent of row order
CLEARLY = 1.5  # a ratio of estimates from which the more expensive engine is not tried, unless a trial is cheap
HOPELESS = 6.0  # the same for sweeps over a smooth loss, however cheap a trial is
BY_GAP, BY_GAP_SAMPLED = 0.65, 0.35  # fraction of the iterations over the hinge if its gap decides; after a sample
WORTH_A_FACTOR = 0.35  # of a factor's cost: if the products of an iteration cost more, it is time for factors
OPENING = 0.25  # fraction of Newton's cost that sweeps may take before they are reviewed, and between two reviews
CHEAP = 0.3  # fraction of Newton's cost up to which a first trial of sweeps goes ahead, whatever the model says
TRIAL = 0.5  # the same if a gap over the hinge decides: sweeps are fast if rows can be separated
ORDINARY, STEEPNESS = 0.35, 1.5  # objective over that of w = 0 for which the sweeps' model holds; power of others
FAR_LONGER = 4.0  # times Newton's cost: what sweeps are given up for when two of them have shown the objective
FEWEST_SWEEPS = 5.0  # of an opening: what it takes to see a trend
MOST = 1.5  # times Newton's cost: the most that sweeps may take, however promising they are
EXCEEDED = 3.0  # times the estimated cost of conjugate gradients: the most they may take
ROWS_PER_WEIGHT = 4  # with fewer, and more weights than a dense factor is made for, sweeps win
PATIENCE, LEAST_PATIENCE = 100.0, 1e6  # budget of an engine that the user named: times Newton's cost; in steps
MOST_PATIENCE = 2.0  # times that budget, while its trend promises an end
WARM_HOPE = 0.3  # factor on the sweeps' budget if the run has a start
IN_CACHE = 3_000_000  # stored values
SAMPLED_SHARE = 0.45  # fraction of the iterations left if a sample of the rows goes first
READS_PER_ITERATION = 2.5  # of the files by Newton's method: direction, responses, sometimes a new stage
SPARED_PRODUCTS = 35  # products per iteration that a factor of all rows saves, compared with a factor of a sample


class Costs(NamedTuple):
    """Seconds per row of an iteration; per value of a step, a pass, a product; and per pair in a Gram matrix."""

    row: float
    step: float
    passes: float
    product: float
    pair: float
    smooth_pair: float


SPARSE = Costs(40e-9, 2.2e-9, 1.6e-9, 0.8e-9, 0.03e-9, 0.1e-9)
DENSE = Costs(25e-9, 0.5e-9, 0.3e-9, 0.25e-9, 0.005e-9, 0.01e-9)


@dataclass(frozen=True)
class Phase:
    """An engine, its stop rule, and its budget before the next phase takes over.

    The next phase also takes over if rounding ends an engine short of its goal: from where it stopped, or ``afresh``.
    """

    engine: str
    stop: Stop
    budget: Budget = field(default_factory=Budget)
    afresh: bool = False


def plan(problem: Problem, solver: str, stop: Stop, warm: bool = False, finish: bool = True) -> list[Phase]:
    """Return the phases of a run. Coordinate ascent comes last if Newton's method may not finish.

    ``warm`` says that there is a start: then the quick part of the sweeps' work is already done. ``finish`` says that
    Newton's method may finish a run for which the sweeps of an engine that the user has named would take very long.
    """
    data = problem.data
    last = Phase(HYBRID if data.blocks is None else OUT_OF_CORE, stop)
    if solver == NEWTON:
        return [Phase(NEWTON, stop), last]
    if solver == NEWTON_CG:
        by_factor = [Phase(NEWTON, stop)] if data.n_features < LARGEST_FACTOR else []
        return [Phase(NEWTON_CG, stop), *by_factor, last]
    if solver != AUTO:
        named = last if solver == HYBRID else Phase(solver, stop)
        return _plan_to_finish(problem, stop, named) if finish else [named]
    if data.blocks is not None:
        return _plan_out_of_core(problem, stop, last)
    if data.n_rows * data.n_features <= SMALL:
        return [Phase(NEWTON, to_rounding(stop) if is_for_rounding(data, stop) else stop), last]
    if data.n_features >= LARGEST_FACTOR and data.n_rows < ROWS_PER_WEIGHT * data.n_features:
        return [last]
    if problem.loss.few_newton_steps and data.n_features < LARGEST_SAMPLED_FACTOR:
        return [Phase(NEWTON if is_cheap_to_factor(data) else NEWTON_CG, stop), last]
    step, sweeps, newton = estimates(problem, stop)
    rival, fewest = newton / step, FEWEST_SWEEPS * problem.n_variables
    smooth, by_sweeps = problem.loss.is_smooth, step * sweeps * problem.n_variables
    rest = [Phase(NEWTON, stop), last]
    if by_products(problem):
        budget = Budget(review=EXCEEDED * rival, most=EXCEEDED * rival)
        if not smooth:
            rest = [Phase(NEWTON, stop, budget), last]
        elif data.n_features >= LARGEST_FACTOR:
            rest = [Phase(NEWTON_CG, stop, budget), last]
        else:
            products = WORTH_A_FACTOR * factor_cost(problem) / product_cost(problem)
            rest.insert(0, Phase(NEWTON_CG, stop, replace(budget, products=products)))
    cheap = TRIAL if stop.goes_by_gap and not smooth else CHEAP
    if step * fewest > cheap * newton and by_sweeps > CLEARLY * newton:
        return rest
    if smooth and by_sweeps > HOPELESS * newton:
        return rest
    hope = WARM_HOPE if warm else 1.0
    opening = Budget(max(hope * OPENING * rival, fewest), hope * rival, hope * MOST * rival)
    if not (smooth or warm or problem.loss.is_regression):
        opening = replace(opening, hopeless=hopeless_objective(problem, newton / by_sweeps))
    return [replace(last, budget=opening), *rest]


def hopeless_objective(problem: Problem, ratio: float) -> float:
    """Return the objective after two sweeps from which on they will take far longer than Newton's method.

    ``ratio`` is that of Newton's cost to the sweeps'. The model is right if rows are as mixed as in a9a (ORDINARY).
    """
    untrained = float(np.mean(problem.C)) * problem.data.n_rows
    return ORDINARY * untrained * (FAR_LONGER * ratio) ** (1.0 / STEEPNESS)


def _plan_to_finish(problem: Problem, stop: Stop, named: Phase) -> list[Phase]:
    """Return the phases for a coordinate engine that the user has named: it gets a large but finite budget."""
    data = problem.data
    if data.n_features >= LARGEST_FACTOR or problem.n_variables == 0:
        return [named]
    step, _, cost = estimates(problem, stop)
    if data.blocks is not None:
        cost = step * READS_PER_ITERATION * newton_iterations(problem, stop) * problem.n_variables
    patience = max(LEAST_PATIENCE, PATIENCE * cost / step)
    given = Budget(review=patience, rival=patience, most=MOST_PATIENCE * patience)
    newton = Phase(NEWTON, to_rounding(stop) if is_for_rounding(data, stop) else stop)
    return [replace(named, budget=given), newton, replace(newton, afresh=True), named]


def plan_free(problem: Problem, solver: str, stop: Stop) -> list[Phase]:
    """Return the phases of a run whose intercept is not regularised: those of Newton's method, if there are any."""
    return [phase for phase in plan(problem, solver, stop, finish=False) if ENGINES[phase.engine].begins_near]


def _plan_out_of_core(problem: Problem, stop: Stop, last: Phase) -> list[Phase]:
    """Return the phases for rows in files: reading dominates the cost, and a sweep reads every row at most once."""
    newton = Phase(NEWTON, stop)
    if problem.data.n_features >= LARGEST_FACTOR:
        return [last]
    _, sweeps, _ = estimates(problem, stop)
    reads = READS_PER_ITERATION * newton_iterations(problem, stop)
    if sweeps > CLEARLY * reads or (problem.loss.few_newton_steps and problem.data.n_features < LARGEST_SAMPLED_FACTOR):
        return [newton, last]
    rival = reads * problem.n_variables
    opening = Budget(max(OPENING * rival, FEWEST_SWEEPS * problem.n_variables), rival, MOST * rival)
    return [replace(last, budget=opening), newton, last]


def is_for_rounding(data: Data, stop: Stop) -> bool:
    """Tell whether a problem is so small that it is solved to rounding, whatever its ``tol``."""
    return stop.gap_tol is None and data.n_rows * data.n_features <= TINY


def to_rounding(stop: Stop) -> Stop:
    """Return the rule of a run that goes on until rounding leaves nothing to gain."""
    return replace(stop, tol=0.0, enough=0.0)


def is_for_newton(problem: Problem) -> bool:
    """Tell whether there are few enough features for Newton's method with a dense factor."""
    return problem.data.n_features < LARGEST_FACTOR


def is_cheap_to_factor(data: Data) -> bool:
    """Tell whether the Gram matrix of all rows costs less than the products that a sampled one would need."""
    per_row = data.n_stored / data.n_rows
    dense = isinstance(data.rows, DenseRows)
    pair = 0.1e-9 if not dense else 0.19e-9 if data.n_features < NARROW else 0.05e-9
    product = (DENSE if dense else SPARSE).product
    left_out = 1.0 - min(1.0, sampled_rows(data.n_features + 1) / data.n_rows)
    return pair * per_row**2 * left_out < SPARED_PRODUCTS * (5e-9 + product * per_row)


def estimates(problem: Problem, stop: Stop) -> tuple[float, float, float]:
    """Return the seconds of a step, the sweeps of the hybrid, and the seconds of Newton's method."""
    data = problem.data
    n_rows, per_row = data.n_rows, data.n_stored / data.n_rows
    cost = DENSE if isinstance(data.rows, DenseRows) else SPARSE
    kappa, digits = _hardness(problem, stop)
    step = 45e-9 + cost.step * per_row
    if data.n_stored > IN_CACHE:
        step += step if cost is DENSE else 60e-9
    smooth, iterations = problem.loss.is_smooth, newton_iterations(problem, stop)
    sweeps = (3.0 + 8.0 * kappa**0.85 if smooth else 6.0 + 4.0 * kappa**0.85) * digits
    if by_products(problem):
        return step, sweeps, iterations * (8.0 if smooth else 30.0) * product_cost(problem)
    return step, sweeps, (1.5 + iterations) * (n_rows * (cost.row + cost.passes * per_row) + factor_cost(problem))


def product_cost(problem: Problem) -> float:
    """Return the seconds that a product of conjugate gradients takes."""
    data, cost = problem.data, DENSE if isinstance(problem.data.rows, DenseRows) else SPARSE
    return 5e-9 * data.n_rows + cost.product * data.n_stored


def factor_cost(problem: Problem) -> float:
    """Return the seconds that the Gram matrix and its Cholesky factor take in an iteration of Newton's method."""
    data, cost = problem.data, DENSE if isinstance(problem.data.rows, DenseRows) else SPARSE
    pair = cost.smooth_pair if problem.loss.is_smooth else cost.pair
    return data.n_rows * pair * (data.n_stored / data.n_rows) ** 2 + 0.02e-9 * (data.n_features + 1) ** 3


def newton_iterations(problem: Problem, stop: Stop) -> float:
    """Return how many iterations Newton's method is likely to take."""
    data, smooth = problem.data, problem.loss.is_smooth
    kappa, digits = _hardness(problem, stop)
    iterations = 5.0 + 3.0 * log10(1.0 + kappa) if smooth else (15.0 + 8.0 * log10(1.0 + kappa)) * digits
    sampled = not by_products(problem) and sample_step(problem.loss, data.n_rows, data.n_features + 1) > 1
    if stop.goes_by_gap and not smooth:
        iterations *= BY_GAP_SAMPLED if sampled else BY_GAP
    return iterations * (SAMPLED_SHARE if sampled else 1.0)


def _hardness(problem: Problem, stop: Stop) -> tuple[float, float]:
    """Return kappa, and half the number of digits that ``tol`` asks for."""
    digits = 1.0 if stop.gap_tol is not None else max(1.0, log10(1.0 / stop.tol) / 2.0)
    return float(np.mean(problem.C)) * problem.data.mean_q, digits


def by_products(problem: Problem) -> bool:
    """Tell whether Newton's method should use conjugate gradients rather than a dense factor."""
    largest = LARGEST_SAMPLED_FACTOR if problem.loss.is_smooth else LARGEST_FACTOR
    return problem.data.n_features >= largest
