"""The process that one solver runs in: a job as JSON on standard input, one line of JSON per event on standard output.

``python -m hingeline.bench.worker`` is started by ``process``, which kills it if a run takes too long. Lines written
before that are not lost.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Generator, Iterator
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any, NamedTuple

from hingeline.runtime.training_clock import now

from .capture import redirect
from .datasets import read_arrays
from .process import SETUP_SECONDS
from .solvers import Solver, Unsupported, make_solver, solve_task
from .task import Tasks

SHORT_SECONDS = 0.05  # a single run that is shorter than this cannot be timed well
ENOUGH_SECONDS = 0.2  # of short runs in all, whose median is good
MOST_RUNS = 50
Event = dict[str, Any]


class Bounds(NamedTuple):
    """Certified bounds of an optimum."""

    primal: float
    dual: float


def main() -> None:
    """Read the job, do it, and write what happens."""
    job = json.load(sys.stdin)
    results = redirect()
    warnings.simplefilter("ignore")  # solvers warn of loose tolerances, which are meant here
    for event in events(job):
        print(json.dumps(event), file=results, flush=True)


def events(job: dict[str, Any]) -> Iterator[Event]:
    """Yield the events of a job, including the reason of a failure."""
    try:
        tasks = Tasks(*read_arrays(Path(job["data"])), job["C"], job["loss"], job["intercept"], job["penalty"])
        yield from (optimum if job["kind"] == "optimum" else ladder)(tasks, job)
    except Unsupported as error:
        yield {"event": "unsupported", "message": str(error)}
    except MemoryError:
        yield {"event": "unsupported", "message": "not enough memory"}
    except Exception as error:  # whatever a peer raises is a result too
        yield {"event": "failed", "message": f"{type(error).__name__}: {error}"}


def optimum(tasks: Tasks, job: dict[str, Any]) -> Iterator[Event]:
    """Yield better and better bounds of the optimum until they meet; of several classes, the sums.

    Each engine starts from the solution of the last one. Classes that are not trained yet have the bounds of w = 0.
    """
    make_solver("auto").warm_up(tasks[0])
    yield {"event": "ready"}
    done, left, timed_out = Bounds(0.0, 0.0), float(job["deadline"]), False
    for k, task in enumerate(tasks):
        best, alpha, share = Bounds(tasks.untrained, 0.0), None, left / (len(tasks) - k)
        rest = Bounds((len(tasks) - k - 1) * tasks.untrained, 0.0)
        for engine in ("auto",) if task.penalty == "l1" else ("auto", "newton", "hybrid"):
            began = now()
            try:
                s = solve_task(task, engine, gap_tol=job["gap"], max_time=share, alpha0=alpha, random_state=0)
            except Unsupported:
                continue
            seconds = now() - began
            alpha, share, left = s.alpha, share - seconds, left - seconds
            best = Bounds(min(best.primal, s.certificate.primal), max(best.dual, s.certificate.dual))
            ended = s.certificate.gap <= job["gap"]
            timed_out |= share <= 0.0 and not ended
            primal, dual = (sum(values) for values in zip(done, best, rest, strict=True))
            yield {"event": "optimum", "primal": primal, "dual": dual, "timed_out": timed_out}
            if ended or share <= 0.0:
                break
        done = Bounds(done.primal + best.primal, done.dual + best.dual)


def ladder(tasks: Tasks, job: dict[str, Any]) -> Iterator[Event]:
    """Yield one run per tolerance, from loose to tight, until the tightest target is met.

    If a run is the first to meet a target, it is repeated with other seeds.
    """
    solver = make_solver(job["solver"])
    if not solver.knows(tasks.loss, tasks.penalty):
        with_penalty = " with an L1 penalty" if tasks.penalty == "l1" else ""
        raise Unsupported(f"has no {tasks.loss.replace('_', ' ')} loss{with_penalty}")
    solver.warm_up(tasks[0])
    solver.prepare(tasks[0])
    yield {"event": "ready", "version": version_of(solver.package)}
    waiting = sorted(job["targets"], reverse=True)
    for rung, tolerance in enumerate(solver.ladder(job["targets"])):
        run = yield from _run(solver, tasks, tolerance, job, seed=0)
        if rung == 0 and not solver.certifies and _meets(solver, run, waiting[0], job["dual"]):
            # The first run on these rows finds cold memory; later rungs do not, nor do engines after their warm-up.
            run = yield from _run(solver, tasks, tolerance, job, seed=0)
        yield run
        met = [target for target in waiting if _meets(solver, run, target, job["dual"])]
        waiting = [target for target in waiting if target not in met]
        if met:
            yield from _repeat(solver, tasks, run, job)
        if not waiting or run["capped"] or run["timed_out"]:
            return
    yield {"event": "exhausted"}


def _repeat(solver: Solver, tasks: Tasks, first: Event, job: dict[str, Any]) -> Iterator[Event]:
    """Yield further runs with the tolerance of the first: as many as were asked for, and more if they are short."""
    short, total, seed = first["seconds"] < SHORT_SECONDS, first["seconds"], 1
    while seed < job["repeat"] or (short and total < ENOUGH_SECONDS and seed < MOST_RUNS):
        run = yield from _run(solver, tasks, first["tolerance"], job, seed)
        yield run
        total, seed = total + run["seconds"], seed + 1


def _run(
    solver: Solver, tasks: Tasks, tolerance: float, job: dict[str, Any], seed: int
) -> Generator[Event, None, Event]:
    """Return one run: all classes one after another, with the sums of their seconds and objectives.

    Yields how long the next step may take. Classes that the deadline leaves untrained count with w = 0, and with a
    bound of 0 if each solver is judged by its own gap.
    """
    deadline, seconds, capped, timed_out = job["deadline"], 0.0, False, False
    values, bounds = list[float](), list[float]()
    solver.begin()
    for task in tasks:
        if len(tasks) > 1:
            yield {"event": "limit", "seconds": SETUP_SECONDS}
            solver.prepare(task)
        yield {"event": "limit", "seconds": deadline - seconds}
        began = now()
        solver.run(tolerance, deadline - seconds, seed)
        seconds += now() - began
        w = solver.weights()
        values.append(task.objective(w))
        if job["own_gap"]:
            bounds.append(task.own_bound(w))
        capped |= bool(solver.capped)
        timed_out = bool(solver.timed_out or seconds >= deadline)
        if timed_out:
            break
    objective = sum(values) + (len(tasks) - len(values)) * tasks.untrained
    gap = {}
    if job["own_gap"]:
        own = 1.0 - sum(bounds) / objective
        gap["gap"] = min(own, tolerance) if solver.certifies and not timed_out else own
    return {
        "event": "run",
        "tolerance": tolerance,
        "seconds": seconds,
        "objective": objective,
        **gap,
        "capped": capped,
        "timed_out": timed_out,
    }


def _meets(solver: Solver, run: Event, target: float, dual: float) -> bool:
    """Tell whether a run meets a target; a solver that certifies must have been asked for this target."""
    if solver.certifies:
        return bool(run["tolerance"] == target and not run["timed_out"])
    if "gap" in run:
        return bool(run["gap"] <= target)
    return bool(run["objective"] - dual <= target * dual)


def version_of(module: str) -> str:
    """Return the version of a module or of its distribution, empty if neither has one."""
    if stated := getattr(sys.modules.get(module), "__version__", ""):
        return str(stated)
    names = packages_distributions().get(module.partition(".")[0], [])
    return version(names[0]) if names else ""


if __name__ == "__main__":
    main()
