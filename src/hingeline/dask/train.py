"""From rows on a cluster to a model: the single-machine training, with shards that are partitions on their workers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import Any, TypeVar
from weakref import finalize

import numpy as np
from distributed import Future

from ..kernels.losses import Loss, checked_loss
from ..kernels.random import seeded
from ..runtime.pace import Pace
from ..solution import HISTORY, Certificate, Progress, Snapshot, Solution, Traffic
from ..solvers.certificate import refresh, rounding_floor
from ..solvers.clock import Clock, Ended
from ..solvers.driver import Run
from ..solvers.engines import NEWTON
from ..solvers.newton.directions import LARGEST_FACTOR
from ..solvers.select import Phase
from ..solvers.solve import checked_stop
from ..solvers.state import Near, State
from ..solvers.stop import GOOD_GAP, Stop
from ..solvers.train import Training
from .costs import Costs
from .partitions import Partitions
from .rounds import LOST, Hosts
from .select import ONE_WORKER, choose, plan
from .shards import DaskShards
from .spec import Fold, Spec
from .target import Target

T = TypeVar("T")

SOLVERS = ("auto", "newton", "newton_cg", "cocoa", "one_worker")
ROUNDS = np.dtype([*HISTORY.descr, ("computing", "f8"), ("communicating", "f8"), ("bytes", "i8")])
MOST_LOSSES = 100  # times that rows were lost and read again, before training gives up
WIDTH = inf  # how far margins may have moved from a start: unknown


@dataclass(frozen=True)
class Trained:
    """A model trained on a cluster; attributes as those of ``Solution``, but for these.

    Attributes
    ----------
    history : structured ndarray
        One record per iteration; seconds computing, seconds communicating and bytes are counted from the beginning.
    alpha : list of Future
        Dual variables: one array per partition, on the workers.
    """

    w: np.ndarray
    intercept: float
    alpha: list[Future[Any]]
    certificate: Certificate
    history: np.ndarray
    n_iter: int
    n_steps: int
    seconds: float
    solver: str
    converged: bool
    stop_reason: str


_hosts: dict[int, Hosts] = {}


def hosts_of(partitions: Partitions) -> Hosts:
    """Return the hosts of partitions; they stay as long as the partitions do."""
    key = id(partitions)
    if key not in _hosts:
        _hosts[key] = Hosts(partitions)
        finalize(partitions, _hosts.pop, key, None)
    return _hosts[key]


def train(
    partitions: Partitions,
    target: Target,
    loss: Loss,
    *,
    class_weight: tuple[float, float] | None = None,
    bias: float = 0.0,
    free: bool = False,
    solver: str = "auto",
    tol: float = 1e-3,
    gap_tol: float | None = None,
    max_iter: int | None = None,
    max_time: float | None = None,
    w0: np.ndarray | None = None,
    fold: Fold | None = None,
    callback: Callable[[Progress], Any] | None = None,
    seed: int = 0,
) -> Trained:
    """Solve one binary problem, or one regression, on the rows of ``partitions``.

    Parameters
    ----------
    target : Binary or Targets
        What y means.
    class_weight : tuple of two floats, optional
        Weights of the rows that are not of the positive class and of those that are; they multiply C.
    bias : float
        Value of the constant feature; ``free`` leaves its weight out of the regulariser.
    w0 : ndarray of shape (n_features + 1,), optional
        Where to start; the last entry is the weight of the constant feature.
    fold : Fold, optional
        Which rows take part.
    callback : callable, optional
        Called after each iteration; a true return value ends training.
    seed : int
        For the order in which dual ascent visits rows.

    Other parameters are those of ``hingeline.solve``.
    """
    loss = checked_loss(loss)
    if solver not in SOLVERS:
        raise ValueError(f"On Dask, solver must be one of {SOLVERS}; got {solver!r}.")
    stop = checked_stop(tol, gap_tol, max_iter, max_time)
    spec = Spec(target, loss, class_weight, float(bias or free), fold)
    hosts = hosts_of(partitions)
    try:
        return _Fit(hosts, spec, solver, stop, free, w0, callback, seed).trained()
    except BaseException:
        _hosts.pop(id(partitions), None)
        hosts.cancel()
        raise


def until_found(ask: Callable[[], T]) -> T:
    """Ask again as long as hosts are lost meanwhile."""
    for _ in range(MOST_LOSSES):
        try:
            return ask()
        except Ended as end:
            if end.reason != LOST:
                raise
    raise RuntimeError(f"Workers were lost {MOST_LOSSES} times: training gives up.")


class _Fit:
    """One training: the problem is opened on the workers, trained, and closed."""

    def __init__(
        self,
        hosts: Hosts,
        spec: Spec,
        solver: str,
        stop: Stop,
        free: bool,
        w0: np.ndarray | None,
        callback: Callable[[Progress], Any] | None,
        seed: int,
    ) -> None:
        self._hosts, self._spec, self._stop, self._free, self._callback = hosts, spec, stop, free, callback
        self._seed = seed
        self._clock = Clock(stop.max_time, None)
        hosts.costs = Costs()
        self._costs: dict[int, tuple[float, float, int]] = {}
        w = np.zeros(hosts.n_features + 1) if w0 is None else np.array(w0, dtype=np.float64)
        self._name, summary = until_found(lambda: hosts.open(spec, w))
        problem = summary.problem(self._spec, hosts.n_features)
        shards = DaskShards(hosts, self._name, summary, self._spec, self._clock.check)
        cluster = hosts.cluster(spec.bias)
        self._method = choose(summary, problem, solver, stop, cluster, free)
        shards.uses_gram = self._method == NEWTON and shards.n_weights <= LARGEST_FACTOR
        shards.is_at_zero = not w.any() and summary.smallest_q > 0.0
        self._level = 0.0
        if free and spec.loss.is_regression and self._method != ONE_WORKER:  # one worker finds its own origin
            self._level = until_found(shards.best_level)
            until_found(lambda: shards.measure_from(self._level))
            w[-1] -= self._level / spec.bias
            summary = shards.summary
        near = None if w0 is None else Near(w, WIDTH)
        started = np.zeros_like(w)
        self._state = State(shards, problem, np.empty(0), started, seeded(seed), 0.0, free, near)
        self._phases = plan(summary, problem, self._method, stop, cluster, free) if self._method != ONE_WORKER else []
        self._run = ClusterRun(
            stop,
            self._clock,
            certify=lambda pace: refresh(self._state, self._clock.n_steps),
            floor=lambda: rounding_floor(self._state),
            callback=self._report,
            take=self._snapshot,
        )

    def trained(self) -> Trained:
        """Train, and return the model."""
        if self._method == ONE_WORKER:
            return self._finished(self._solved_by_one())
        solution = DaskTraining(self._phases, self._state, self._run).solution()
        if self._free and solution.stop_reason == "tol" and solution.certificate.gap > GOOD_GAP:
            solution = self._better(solution)
        return self._finished(solution)

    def _solved_by_one(self) -> Solution:
        """Let one worker gather the rows and train; if it is lost, another one."""
        solution = until_found(
            lambda: self._hosts.solve_whole(
                self._name, self._stop.after(self._clock.seconds), self._free, self._seed, self._report
            )
        )
        last = max(self._costs, default=0)
        for record in solution.history:  # what the client has not seen on the way
            if record["sweep"] > last:
                values = (record[name].item() for name in ("sweep", "steps", "seconds", "violation", "gap"))
                self._report(Progress(*values))
        return solution

    def _finished(self, solution: Solution) -> Trained:
        """Return the model with the costs of its rounds; the dual variables stay on the workers."""
        alpha, costs = self._hosts.alpha(self._name), self._hosts.costs
        history = np.zeros(len(solution.history), dtype=ROUNDS)
        for name in HISTORY.names or ():
            history[name] = solution.history[name]
        for record in history:
            record["computing"], record["communicating"], record["bytes"] = self._costs.get(
                int(record["sweep"]), (float(record["seconds"]), costs.communicating, costs.bytes)
            )
        return Trained(
            w=solution.w,
            intercept=float(solution.intercept) + self._level,
            alpha=alpha,
            certificate=solution.certificate,
            history=history,
            n_iter=solution.n_iter,
            n_steps=solution.n_steps,
            seconds=self._clock.seconds,
            solver=solution.solver,
            converged=solution.converged,
            stop_reason=solution.stop_reason,
        )

    def _better(self, solution: Solution) -> Solution:
        """Continue until the gap is good: the violation of the rows says little about a free intercept."""
        goal = replace(self._stop, gap_tol=GOOD_GAP)
        self._state.near, self._state.resumed = Near(self._state.w.copy(), WIDTH), True
        self._run.stop = goal
        phases = [replace(phase, stop=goal) for phase in self._phases]
        found = DaskTraining(phases, self._state, self._run).solution()
        if found.converged:
            reason, converged = self._stop.outcome("rounding", found.certificate)
            found = replace(found, stop_reason=reason, converged=converged)
        return found

    def _report(self, progress: Progress) -> Any:
        """Store the cost of rounds, and pass the progress on."""
        spent = self._hosts.costs
        costs = (spent.computing, spent.communicating, spent.bytes)
        self._costs[progress.n_iter] = costs
        return False if self._callback is None else self._callback(progress._replace(traffic=Traffic(*costs)))

    def _snapshot(self) -> Snapshot:
        return Snapshot(self._state.w[:-1].copy(), self._state.intercept)


class ClusterRun(Run):
    """A run whose rows may be lost: its engine then continues, and there is nothing to certify yet."""

    def certificate_after(self, reason: str, pace: Pace) -> Certificate:  # noqa: D102
        if reason == LOST:
            raise Ended(LOST)
        return super().certificate_after(reason, pace)


class DaskTraining(Training):
    """Training that continues from w after rows were lost with their worker and read again."""

    def solution(self) -> Solution:  # noqa: D102
        return self._despite_losses(super().solution)

    def _run_phase(self, phase: Phase, goes_on: bool) -> tuple[str, Certificate]:
        run_phase = super()._run_phase
        found = self._despite_losses(lambda: run_phase(phase, goes_on))
        self._state.resumed = False
        return found

    def _despite_losses(self, work: Callable[[], T]) -> T:
        """Do something, and if rows are lost meanwhile, do it again from the current w."""
        state, shards = self._state, self._state.shards
        assert isinstance(shards, DaskShards)

        def attempt() -> T:
            try:
                return work()
            except Ended as end:
                near = shards.where_it_was() if end.reason == LOST else None
                if near is not None:
                    state.near, state.resumed = near, True
                    state.move_to(near.w, is_primal=False)
                raise

        return until_found(attempt)
