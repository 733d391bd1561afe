"""``solver="auto"`` on a cluster: chooses the method by a cost model that counts steps, rounds and bytes.

Seconds of computing are those of the single-machine model (solvers/select.py), divided among the workers. Rounds are
added: calling all workers and receiving their answers takes ``LATENCY``, and ``BANDWIDTH`` is that of one connection,
packing included. With n rows of s values, d weights, K workers:

=================  ====================================================  ==========================================
method             rounds                                                bytes per round, from and to each worker
=================  ====================================================  ==========================================
newton             2.7 per iteration (search; responses with the Gram    8 d, and 4 d^2 for the Gram matrix
                   matrix; a second search now and then),
                   15 + 8 log10(1 + kappa) iterations, less than half
                   of that after a sample
newton_cg          16 per iteration (products), 5 + 3 log10(1 + kappa)   16 d
newton, by         34 per iteration                                      16 d
products
cocoa              16 per sweep, as many sweeps as on one machine        16 d
one_worker         1                                                     all rows but those of one worker, once
=================  ====================================================  ==========================================

``one_worker`` gathers all rows on one worker, which trains as a single machine would: for problems that are small
enough for one worker, that is faster than any number of rounds. Rows that were gathered stay there for the next
problem (another class, another C). A worker never gathers more than a fifth of its memory. If there are many features,
it is preferred unless rounds are clearly faster.

Few features: Newton's method, whose iterations do not depend on the number of workers. Many features and a smooth loss:
Newton-CG. Many features and a loss with kinks: CoCoA+, as long as its trend promises to finish sooner than Newton's
method by products, which otherwise goes on from its dual variables.
"""

from __future__ import annotations

from math import log10
from typing import NamedTuple

from ..data.problem import Problem
from ..solvers.engines import AUTO, COCOA, NEWTON, NEWTON_CG
from ..solvers.newton.directions import LARGEST_FACTOR
from ..solvers.newton.newton import sample_step
from ..solvers.select import DENSE, EXCEEDED, FEWEST_SWEEPS, SAMPLED_SHARE, SPARSE, Phase
from ..solvers.stop import Stop
from ..solvers.trend import Budget
from .spec import Summary

ONE_WORKER = "one_worker"
LATENCY, BANDWIDTH = 2e-3, 5e8  # seconds of a round, bytes per second
ROUNDS_BY_FACTOR, ROUNDS_BY_CG, ROUNDS_BY_PRODUCTS = 2.7, 16.0, 34.0  # per iteration of Newton's method
COCOA_ROUNDS, COCOA_SWEEPS = 16.0, 1.1  # rounds per sweep; sweeps over those of one machine
CLEARLY = 1.5  # ratio of estimates from which rounds are preferred to one worker, for many features
GATHERED_SHARE = 0.2  # of a worker's memory
LARGEST_GATHERED = 1 << 31  # bytes, if its memory is not known
BYTES_PER_VALUE, BYTES_PER_DENSE_VALUE, BYTES_PER_ROW = 12, 8, 32


class Cluster(NamedTuple):
    """What the model knows about workers: their number, the smallest memory (0: unknown), who has gathered rows."""

    n_workers: int
    memory: int = 0
    has_gathered: bool = False


class Estimate(NamedTuple):
    """Seconds that a method is likely to take, its rounds, and the bytes that go to and from a worker."""

    seconds: float
    rounds: float
    bytes: float


def estimates(summary: Summary, problem: Problem, stop: Stop, cluster: Cluster) -> dict[str, Estimate]:
    """Return what each method that can train the problem is likely to cost."""
    n, d, K, smooth = summary.n_rows, problem.data.n_features + 1, cluster.n_workers, problem.loss.is_smooth
    per_row = summary.n_stored / n
    cost = DENSE if summary.dense else SPARSE
    kappa = summary.sum_C / n * summary.sum_q / n
    digits = 1.0 if stop.gap_tol is not None else max(1.0, log10(1.0 / stop.tol) / 2.0)
    step = 105e-9 + cost.step * per_row
    sweeps = (3.0 + 8.0 * kappa**0.85 if smooth else 6.0 + 4.0 * kappa**0.85) * digits
    iterations = 5.0 + 3.0 * log10(1.0 + kappa) if smooth else (15.0 + 8.0 * log10(1.0 + kappa)) * digits
    product = n * (5e-9 + cost.product * per_row)
    pair = cost.smooth_pair if smooth else cost.pair
    passes = n * (cost.row + cost.passes * per_row + pair * per_row**2)

    def by(computing: float, rounds: float, bytes_per_round: float) -> Estimate:
        moved = rounds * bytes_per_round
        return Estimate(computing / K + rounds * LATENCY + moved / BANDWIDTH, rounds, moved)

    found, alone = {}, sweeps * n * step
    if d <= LARGEST_FACTOR:
        if sample_step(problem.loss, n, d) > 1:
            iterations *= SAMPLED_SHARE
        factor = 0.02e-9 * d**3  # on the client
        rounds = ROUNDS_BY_FACTOR * iterations
        found[NEWTON] = by(iterations * (passes + K * factor), rounds, 8.0 * d + 4.0 * d * d / 3.0)
        alone = min(alone, iterations * (passes + factor))
    else:
        rounds = ROUNDS_BY_PRODUCTS * iterations
        found[NEWTON] = by(rounds * product, rounds, 16.0 * d)
    if smooth:
        rounds = ROUNDS_BY_CG * iterations
        found[NEWTON_CG] = by(rounds * product, rounds, 16.0 * d)
        alone = min(alone, rounds * product)
    more = COCOA_SWEEPS if K > 1 else 1.0
    found[COCOA] = by(more * sweeps * n * step, COCOA_ROUNDS * more * sweeps, 16.0 * d)
    per_value = BYTES_PER_DENSE_VALUE if summary.dense else BYTES_PER_VALUE
    size = per_value * summary.n_stored + BYTES_PER_ROW * n
    if size <= (GATHERED_SHARE * cluster.memory if cluster.memory else LARGEST_GATHERED):
        moved = 12.0 * n if cluster.has_gathered else size * (K - 1) / K
        found[ONE_WORKER] = Estimate(alone + 2.0 * LATENCY + moved / BANDWIDTH, 1.0, moved)
    return found


def choose(summary: Summary, problem: Problem, solver: str, stop: Stop, cluster: Cluster, free: bool) -> str:
    """Return the method: the one that the user has named, or the one likely to be fastest."""
    if solver != AUTO:
        return solver
    costs = estimates(summary, problem, stop, cluster)
    if free:
        costs.pop(COCOA)  # it cannot leave the intercept out of the regulariser
    if problem.data.n_features >= LARGEST_FACTOR and not problem.loss.is_smooth and not free:
        costs.pop(NEWTON)  # it follows if the rounds of ascent promise no end
    best = min(costs, key=lambda name: costs[name].seconds)
    many = problem.data.n_features >= LARGEST_FACTOR
    if many and ONE_WORKER in costs and costs[ONE_WORKER].seconds <= CLEARLY * costs[best].seconds:
        return ONE_WORKER
    return best


def plan(summary: Summary, problem: Problem, method: str, stop: Stop, cluster: Cluster, free: bool) -> list[Phase]:
    """Return the phases of a method that works in rounds."""
    costs = estimates(summary, problem, stop, cluster)
    newton = Phase(NEWTON_CG if problem.loss.is_smooth and problem.data.n_features >= LARGEST_FACTOR else NEWTON, stop)
    if method == COCOA:
        per_row = summary.n_stored / summary.n_rows
        seconds_of_visit = (105e-9 + (DENSE if summary.dense else SPARSE).step * per_row) / cluster.n_workers
        rival = EXCEEDED * costs[newton.engine].seconds / seconds_of_visit
        opening = Budget(max(rival / 4.0, 2.0 * FEWEST_SWEEPS * summary.n_variables), rival, 2.0 * rival)
        return [Phase(COCOA, stop, opening), newton, Phase(COCOA, stop)]
    if free:
        return [Phase(method, stop)]
    return [Phase(method, stop), Phase(COCOA, stop)]
