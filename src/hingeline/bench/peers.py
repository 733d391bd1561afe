"""Time to equal quality: hingeline's engines and other solvers, each in its own process, on the same data and C.

Quality is relative suboptimality (P(w) - D) / D. P is the primal value of the weights that a solver returns, computed
here, and D is a certified lower bound of the optimum, computed once by hingeline. hingeline's engines stop when their
certified gap reaches the target. Others have no such rule: they are run with smaller and smaller values of their own
tolerance, and the first run that is good enough counts, as if its user had known which tolerance to choose. With more
than two classes, P, D and seconds are sums over one binary problem per class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import groupby
from math import inf, nan
from pathlib import Path
from statistics import median
from typing import Any

from .datasets import Dataset
from .process import run_job
from .solvers import make_solver
from .store import Record, Store

OPTIMUM_TIME = 3.0  # times the deadline, for the optimum that all solvers are compared with
OPTIMUM_GAP = 0.01  # of the tightest target: how far apart the bounds of that optimum may be
BELOW_OPTIMUM = -1e-9  # suboptimality that no weights have: a solver with another objective
SKIPPED = {"event": "skipped"}
FAR_FROM_OPTIMUM = 0.1  # a solver that is as far at its tightest tolerance has another objective


@dataclass(frozen=True)
class Settings:
    """What every solver has to do."""

    loss: str = "hinge"
    targets: tuple[float, ...] = (1e-3, 1e-5)
    deadline: float = 120.0
    repeat: int = 1
    intercept: bool = False
    skip_late: bool = False  # a solver that was late at some C does not run at larger ones
    penalty: str = "l2"
    jobs: int = 1  # processes at a time

    @property
    def optimum_gap(self) -> float:
        """Relative gap of the optimum that all solvers are compared with."""
        return OPTIMUM_GAP * min(self.targets)

    @property
    def name(self) -> str:
        """Which problem: the name of its result files."""
        return f"peers-{self.loss}" + "-l1" * (self.penalty == "l1") + "-intercept" * self.intercept


@dataclass(frozen=True)
class Optimum:
    """Certified bounds of the optimum."""

    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """Relative distance of the bounds."""
        return (self.primal - self.dual) / self.primal


@dataclass(frozen=True)
class Cell:
    """What one solver did for one target.

    Attributes
    ----------
    status : str
        "ok"; "deadline"; "capped" (a limit of iterations that cannot be lifted); "missed" (the tightest tolerance was
        not good enough); "other objective?"; "unsupported"; "failed"; "skipped" (late at a smaller C, so not run).
    seconds, suboptimality, tolerance : float
        Of the run that met the target, else of the best one; NaN if there was none.
    """

    dataset: str
    C: float
    loss: str
    solver: str
    target: float
    status: str
    seconds: float
    suboptimality: float
    tolerance: float
    deadline: float
    optimum_gap: float
    version: str = ""
    note: str = ""
    intercept: bool = False
    penalty: str = "l2"


class PeerBench:
    """The experiment; results are kept in ``out`` and not made again."""

    def __init__(self, settings: Settings, out: Path) -> None:
        self.settings, self.out = settings, out
        problem, older = ("source", "C", "loss", "intercept", "penalty"), {"intercept": False, "penalty": "l2"}
        self.runs = Store(out / "peers.jsonl", (*problem, "solver", "targets", "repeat"), older)
        self.optima = Store(out / "optima.jsonl", (*problem, "gap"), older | {"gap": 1e-7})
        self._late_from: dict[tuple[str, str], float] = {}  # the C at which a solver was late, by data set and solver

    def cells(self, dataset: Dataset, C: float, solvers: Sequence[str]) -> Iterator[list[Cell]]:
        """Yield the cells of each solver in turn, one per target."""
        optimum = self._optimum(dataset, C)
        for solver in solvers:
            yield self._cells_of(dataset, C, solver, optimum)

    def run_ahead(self, datasets: Sequence[Dataset], Cs: Sequence[float], solvers: Sequence[str]) -> Iterator[None]:
        """Do what ``cells`` would do, several processes at a time, and keep it; yield once for each cell that is done.

        A solver takes one C of a data set after the other, so that it is known at which it was late, and its cells are
        counted when it is done with all of them. Optima go first: no solver then waits for one that has not begun.
        """
        for dataset in datasets:
            dataset.parsed(self.out / "data")
        with ThreadPoolExecutor(self.settings.jobs) as pool:
            optima = {(dataset, C): pool.submit(self._optimum, dataset, C) for dataset in datasets for C in sorted(Cs)}
            chains = [pool.submit(self._chain, d, sorted(Cs), solver, optima) for solver in solvers for d in datasets]
            try:
                for chain in as_completed(chains):
                    yield from chain.result()
            finally:
                pool.shutdown(cancel_futures=True)

    def _chain(
        self,
        dataset: Dataset,
        Cs: Sequence[float],
        solver: str,
        optima: Mapping[tuple[Dataset, float], Future[Optimum]],
    ) -> list[None]:
        for C in Cs:
            self._cells_of(dataset, C, solver, optima[dataset, C].result())
        return [None] * len(Cs)

    def _job(self, dataset: Dataset, C: float) -> Record:
        s, data = self.settings, str(dataset.parsed(self.out / "data"))
        problem = {"loss": s.loss, "intercept": s.intercept, "penalty": s.penalty}
        return {"source": dataset.source, "data": data, "C": C, **problem}

    def _cells_of(self, dataset: Dataset, C: float, solver: str, optimum: Optimum) -> list[Cell]:
        s, job = self.settings, self._job(dataset, C)
        if s.skip_late and self._late_from.get((dataset.name, solver), inf) < C:
            record = job | {"dataset": dataset.name, "solver": solver, "deadline": s.deadline, "events": [SKIPPED]}
        else:
            record = self._record(dataset, job, solver, optimum)
        found = [judge(record, optimum, target) for target in s.targets]
        if any(cell.status == "deadline" for cell in found):
            self._late_from.setdefault((dataset.name, solver), C)
        return found

    def _optimum(self, dataset: Dataset, C: float) -> Optimum:
        """Return the best bounds that hingeline certifies within the time."""
        job = self._job(dataset, C) | {"gap": self.settings.optimum_gap}
        deadline = OPTIMUM_TIME * self.settings.deadline
        key = {name: job[name] for name in self.optima.key}
        record = self.optima.find(deadline, **key)
        if record is None:
            events = run_job(job | {"kind": "optimum", "deadline": deadline})
            bounds = [event for event in events if event["event"] == "optimum"]
            if not bounds:
                raise ValueError(f"{dataset.name}, C {job['C']:g}: no bound of the optimum ({events[-1:]}).")
            optimum = Optimum(min(e["primal"] for e in bounds), max(e["dual"] for e in bounds))
            finished = events[-1]["event"] == "optimum" and not events[-1]["timed_out"]
            record = key | {"primal": optimum.primal, "dual": optimum.dual, "deadline": deadline, "finished": finished}
            self.optima.add(record)
        return Optimum(record["primal"], record["dual"])

    def _record(self, dataset: Dataset, job: Record, solver: str, optimum: Optimum) -> Record:
        s = self.settings
        job = job | {"solver": solver, "targets": list(s.targets), "repeat": s.repeat}
        key = {name: job[name] for name in self.runs.key}
        record = self.runs.find(s.deadline, **key)
        if record is None:
            events = run_job(job | {"kind": "ladder", "deadline": s.deadline, "dual": optimum.dual})
            late = any(event["event"] == "killed" or event.get("timed_out") for event in events)
            record = key | {"dataset": dataset.name, "deadline": s.deadline, "finished": not late, "events": events}
            self.runs.add(record)
        return record


def judge(record: Record, optimum: Optimum, target: float) -> Cell:
    """Return the cell for one target from what happened in a solver's process."""
    events: list[dict[str, Any]] = record["events"]
    rungs = [_Rung.of(list(runs), optimum) for _, runs in groupby(_runs(events), key=lambda run: run["tolerance"])]
    met = _first_that_meets(record["solver"], rungs, target)
    shown = met or min(rungs, key=lambda rung: rung.suboptimality, default=_Rung(nan, nan, nan))
    last = events[-1] if events else {"event": "failed", "message": "nothing happened"}
    if any(rung.suboptimality < BELOW_OPTIMUM for rung in rungs) or (
        last["event"] == "exhausted" and shown.suboptimality > FAR_FROM_OPTIMUM
    ):
        status = "other objective?"
    elif met and met.seconds <= record["deadline"]:
        status = "ok"
    else:
        status = _why_not(last)
    return Cell(
        dataset=record["dataset"],
        C=record["C"],
        loss=record["loss"],
        solver=record["solver"],
        target=target,
        status=status,
        seconds=shown.seconds,
        suboptimality=shown.suboptimality,
        tolerance=shown.tolerance,
        deadline=record["deadline"],
        optimum_gap=optimum.gap,
        version=next((event.get("version", "") for event in events if event["event"] == "ready"), ""),
        note=last.get("message", "") if status in ("unsupported", "failed") else "",
        intercept=record.get("intercept", False),
        penalty=record.get("penalty", "l2"),
    )


@dataclass(frozen=True)
class _Rung:
    """The runs at one tolerance: median seconds, quality of the first."""

    tolerance: float
    seconds: float
    suboptimality: float
    timed_out: bool = False

    @classmethod
    def of(cls, runs: list[dict[str, Any]], optimum: Optimum) -> _Rung:
        above = runs[0]["objective"] - optimum.dual
        suboptimality = above / optimum.dual if optimum.dual > 0.0 else inf  # no bound was found in time
        seconds = median(run["seconds"] for run in runs)
        return cls(runs[0]["tolerance"], seconds, suboptimality, runs[0]["timed_out"])


def _runs(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for event in events if event["event"] == "run"]


def _first_that_meets(solver: str, rungs: list[_Rung], target: float) -> _Rung | None:
    """Return the loosest rung that meets the target; a solver that certifies must have been asked for this target."""
    if make_solver(solver).certifies:
        return next((rung for rung in rungs if rung.tolerance == target and not rung.timed_out), None)
    return next((rung for rung in rungs if rung.suboptimality <= target), None)


def _why_not(last: dict[str, Any]) -> str:
    """Return why a target was not met, from the last thing that happened."""
    if last["event"] in ("unsupported", "failed", "skipped"):
        return str(last["event"])
    if last["event"] == "run" and last["capped"]:
        return "capped"
    return "missed" if last["event"] == "exhausted" else "deadline"
