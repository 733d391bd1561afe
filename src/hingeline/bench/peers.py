"""Time to equal quality: hingeline's engines and other solvers, each in its own process, on the same data and C.

Quality is relative suboptimality (P(w) - D) / D. P is the primal value of the weights that a solver returns, computed
here, and D is a certified lower bound of the optimum, computed once by hingeline. hingeline's engines stop when their
certified gap reaches the target. Others have no such rule: they are run with smaller and smaller values of their own
tolerance, and the first run that is good enough counts, as if its user had known which tolerance to choose. With more
than two classes, P, D and seconds are sums over one binary problem per class.

Where no other solver runs, hingeline's own certificate is the only bound that is needed.

With ``own_gap``, quality is (P(w) - D(w)) / P(w): the relative duality gap that a solver's own weights certify, with
D(w) from ``Task.own_bound``. Nothing has to be known of the optimum then. hingeline's engines certify as before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import groupby
from math import inf, nan
from pathlib import Path
from statistics import median
from threading import Lock
from typing import Any

from .datasets import Dataset
from .process import run_job
from .solvers import make_solver
from .store import Record, Store

OPTIMUM_TIME = 3.0  # times the deadline, for the optimum that all solvers are compared with
OPTIMUM_GAP = 0.01  # of the tightest target: how far apart the bounds of that optimum may be
BELOW_OPTIMUM = -1e-9  # suboptimality that no weights have: a solver with another objective
SKIPPED = {"event": "skipped"}
LEAST_DEADLINE = 2.0  # seconds, however fast the first solver was
GIVEN_UP = ("deadline", "capped")  # a solver with such a cell is not likely to do better at a larger C
FAR_FROM_OPTIMUM = 0.1  # a solver that is as far at its tightest tolerance has another objective


@dataclass(frozen=True)
class Settings:
    """What every solver has to do."""

    loss: str = "hinge"
    targets: tuple[float, ...] = (1e-3, 1e-5)
    deadline: float = 120.0
    repeat: int = 1
    intercept: bool = False
    skip_late: bool = False  # a solver that was late (or capped) at some C does not run at larger ones
    penalty: str = "l2"
    jobs: int = 1  # processes at a time
    times: float = inf  # what a solver may take, in multiples of the first solver's seconds
    own_gap: bool = False  # quality is the gap that a solver's own weights certify

    def __post_init__(self) -> None:
        """Refuse what has no meaning."""
        if self.own_gap and self.penalty != "l1":
            raise ValueError("own_gap=True needs penalty='l1'.")

    @property
    def optimum_gap(self) -> float:
        """Relative gap of the optimum that all solvers are compared with."""
        return OPTIMUM_GAP * min(self.targets)

    @property
    def name(self) -> str:
        """Which problem: the name of its result files."""
        problem = f"peers-{self.loss}" + "-l1" * (self.penalty == "l1") + "-intercept" * self.intercept
        return problem + "-own-gap" * self.own_gap


@dataclass(frozen=True)
class Optimum:
    """Certified bounds of the optimum."""

    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """Relative distance of the bounds."""
        return (self.primal - self.dual) / self.primal

    def suboptimality(self, objective: float) -> float:
        """Return how far weights are from the optimum, relatively: infinite if no bound was found in time."""
        return (objective - self.dual) / self.dual if self.dual > 0.0 else inf


UNKNOWN = Optimum(inf, 0.0)


@dataclass(frozen=True)
class Cell:
    """What one solver did for one target.

    Attributes
    ----------
    status : str
        "ok"; "deadline"; "capped" (a limit of iterations that cannot be lifted); "missed" (the tightest tolerance was
        not good enough); "other objective?"; "unsupported"; "failed"; "skipped" (late or capped at a smaller C, so not
        run).
    seconds, suboptimality, tolerance : float
        Of the run that met the target, else of the best one; NaN if there was none.
    own_gap : bool
        Whether target and suboptimality are gaps that the solver's own weights certify. No optimum is known then, so
        optimum_gap is NaN.
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
    own_gap: bool = False


class PeerBench:
    """The experiment; results are kept in ``out`` and not made again."""

    def __init__(self, settings: Settings, out: Path) -> None:
        self.settings, self.out = settings, out
        problem, older = ("source", "C", "loss", "intercept", "penalty"), {"intercept": False, "penalty": "l2"}
        run = (*problem, "own_gap", "solver", "targets", "repeat")
        self.runs = Store(out / "peers.jsonl", run, older | {"own_gap": False})
        self.optima = Store(out / "optima.jsonl", (*problem, "gap"), older | {"gap": 1e-7})
        self._given_up: dict[tuple[str, str], float] = {}  # from which C on, by data set and solver
        self._finding = defaultdict[tuple[str, float], Lock](Lock)  # held while an optimum is being found

    def cells(self, dataset: Dataset, C: float, solvers: Sequence[str]) -> Iterator[list[Cell]]:
        """Yield the cells of each solver in turn, one per target."""
        runs_peer = any(not make_solver(name).certifies and not self._is_given_up(dataset, C, name) for name in solvers)
        deadline = self.settings.deadline
        for solver in solvers:
            found = self._cells_of(dataset, C, solver, deadline, bounded=runs_peer)
            if solver == solvers[0]:
                deadline = self._deadline_after(found)
            yield found

    def run_ahead(self, datasets: Sequence[Dataset], Cs: Sequence[float], solvers: Sequence[str]) -> Iterator[None]:
        """Do what ``cells`` would do, several processes at a time, and keep it; yield once for each cell that is done.

        A solver takes one C of a data set after the other, so that it is known at which it was late, and its cells are
        counted when it is done with all of them. The first solver goes first if its seconds decide how long the others
        may take.
        """
        for dataset in datasets:
            dataset.parsed(self.out / "data")
        with ThreadPoolExecutor(self.settings.jobs) as pool:
            first = [pool.submit(self._chain, d, sorted(Cs), solvers[0]) for d in datasets]
            others = [
                pool.submit(self._chain, d, sorted(Cs), solver, deadlines)
                for solver in solvers[1:]
                for d, deadlines in zip(datasets, first, strict=True)
            ]
            try:
                for chain in as_completed([*first, *others]):
                    yield from [None] * len(chain.result())
            finally:
                pool.shutdown(cancel_futures=True)

    def _chain(
        self, dataset: Dataset, Cs: Sequence[float], solver: str, first: Future[list[float]] | None = None
    ) -> list[float]:
        """Run a solver at one C after the other; returns how long others may take, as the ``first`` one has told."""
        deadlines = [self.settings.deadline] * len(Cs) if first is None else first.result()
        found = [self._cells_of(dataset, C, solver, d) for C, d in zip(Cs, deadlines, strict=True)]
        return [self._deadline_after(cells) for cells in found]

    def _deadline_after(self, found: list[Cell]) -> float:
        """Return the deadline of the other solvers, now that the first one is done."""
        seconds = max((cell.seconds for cell in found if cell.status == "ok"), default=inf)
        return min(self.settings.deadline, max(LEAST_DEADLINE, self.settings.times * seconds))

    def _is_given_up(self, dataset: Dataset, C: float, solver: str) -> bool:
        return self.settings.skip_late and self._given_up.get((dataset.name, solver), inf) < C

    def _job(self, dataset: Dataset, C: float) -> Record:
        s, data = self.settings, str(dataset.parsed(self.out / "data"))
        problem = {"loss": s.loss, "intercept": s.intercept, "penalty": s.penalty}
        return {"source": dataset.source, "data": data, "C": C, **problem, "own_gap": s.own_gap}

    def _cells_of(self, dataset: Dataset, C: float, solver: str, deadline: float, bounded: bool = False) -> list[Cell]:
        """Return a solver's cells, one per target; ``bounded`` asks for the optimum though it certifies its own."""
        s, job = self.settings, self._job(dataset, C)
        certifies = make_solver(solver).certifies
        if self._is_given_up(dataset, C, solver):
            record = job | {"dataset": dataset.name, "solver": solver, "deadline": deadline, "events": [SKIPPED]}
            optimum = UNKNOWN
        else:
            is_needed = (bounded or not certifies) and not s.own_gap
            optimum = self._optimum(dataset, C) if is_needed else UNKNOWN
            record = self._record(dataset, job, solver, deadline, optimum)
            if optimum is UNKNOWN and not s.own_gap:
                optimum = certified(record)
        found = [judge(record, optimum, target) for target in s.targets]
        if any(cell.status in GIVEN_UP for cell in found):
            self._given_up.setdefault((dataset.name, solver), C)
        return found

    def _optimum(self, dataset: Dataset, C: float) -> Optimum:
        """Return the best bounds that hingeline certifies within the time."""
        job = self._job(dataset, C) | {"gap": self.settings.optimum_gap}
        deadline = OPTIMUM_TIME * self.settings.deadline
        key = {name: job[name] for name in self.optima.key}
        with self._finding[dataset.name, C]:
            record = self.optima.find(deadline, **key)
            if record is None:
                events = run_job(job | {"kind": "optimum", "deadline": deadline})
                bounds = [event for event in events if event["event"] == "optimum"]
                if not bounds:
                    raise ValueError(f"{dataset.name}, C {job['C']:g}: no bound of the optimum ({events[-1:]}).")
                best = {"primal": min(e["primal"] for e in bounds), "dual": max(e["dual"] for e in bounds)}
                finished = events[-1]["event"] == "optimum" and not events[-1]["timed_out"]
                record = key | best | {"deadline": deadline, "finished": finished}
                self.optima.add(record)
        return Optimum(record["primal"], record["dual"])

    def _record(self, dataset: Dataset, job: Record, solver: str, deadline: float, optimum: Optimum) -> Record:
        s = self.settings
        job = job | {"solver": solver, "targets": list(s.targets), "repeat": s.repeat}
        key = {name: job[name] for name in self.runs.key}
        record = self.runs.find(deadline, **key)
        if record is None:
            events = run_job(job | {"kind": "ladder", "deadline": deadline, "dual": optimum.dual})
            late = any(event["event"] == "killed" or event.get("timed_out") for event in events)
            record = key | {"dataset": dataset.name, "deadline": deadline, "finished": not late, "events": events}
            self.runs.add(record)
        return record


def certified(record: Record) -> Optimum:
    """Return the bounds that a solver has certified by itself; its tolerance is a relative gap, (P - D) / P."""
    runs = [run for run in _runs(record["events"]) if not run["timed_out"]]
    if not runs:
        return UNKNOWN
    best = min(runs, key=lambda run: run["tolerance"])
    return Optimum(best["objective"], best["objective"] * (1.0 - best["tolerance"]))


def judge(record: Record, optimum: Optimum, target: float) -> Cell:
    """Return the cell for one target from what happened in a solver's process."""
    events: list[dict[str, Any]] = record["events"]
    rungs = [_Rung.of(list(runs), optimum) for _, runs in groupby(_runs(events), key=lambda run: run["tolerance"])]
    met = _first_that_meets(record["solver"], rungs, target)
    shown = met or min(rungs, key=lambda rung: rung.suboptimality, default=_Rung(nan, nan, nan))
    last = events[-1] if events else {"event": "failed", "message": "nothing happened"}
    own_gap = record.get("own_gap", False)
    if not own_gap and _has_another_objective(rungs, shown, last):
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
        own_gap=own_gap,
    )


@dataclass(frozen=True)
class _Rung:
    """The runs at one tolerance: median seconds, quality of the first (its own gap, if that was computed)."""

    tolerance: float
    seconds: float
    suboptimality: float
    timed_out: bool = False

    @classmethod
    def of(cls, runs: list[dict[str, Any]], optimum: Optimum) -> _Rung:
        first = runs[0]
        quality = first["gap"] if "gap" in first else optimum.suboptimality(first["objective"])
        return cls(first["tolerance"], median(run["seconds"] for run in runs), quality, first["timed_out"])


def _runs(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for event in events if event["event"] == "run"]


def _first_that_meets(solver: str, rungs: list[_Rung], target: float) -> _Rung | None:
    """Return the loosest rung that meets the target; a solver that certifies must have been asked for this target."""
    if make_solver(solver).certifies:
        return next((rung for rung in rungs if rung.tolerance == target and not rung.timed_out), None)
    return next((rung for rung in rungs if rung.suboptimality <= target), None)


def _has_another_objective(rungs: list[_Rung], shown: _Rung, last: dict[str, Any]) -> bool:
    """Tell whether a solver was better than the optimum, or far from it at its tightest tolerance."""
    is_below = any(rung.suboptimality < BELOW_OPTIMUM for rung in rungs)
    return is_below or (last["event"] == "exhausted" and shown.suboptimality > FAR_FROM_OPTIMUM)


def _why_not(last: dict[str, Any]) -> str:
    """Return why a target was not met, from the last thing that happened."""
    if last["event"] in ("unsupported", "failed", "skipped"):
        return str(last["event"])
    if last["event"] == "run" and last["capped"]:
        return "capped"
    return "missed" if last["event"] == "exhausted" else "deadline"
