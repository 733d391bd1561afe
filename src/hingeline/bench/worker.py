"""The process that one solver runs in: a task as JSON on standard input, a line of JSON for each thing that happened.

``python -m hingeline.bench.worker`` is started by ``process``, which kills it where a run takes too long. Lines written
before that are not lost.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from importlib.metadata import packages_distributions, version
from pathlib import Path
from time import perf_counter
from typing import Any

from .capture import redirect
from .datasets import read_arrays
from .solvers import Solver, Task, Unsupported, make_solver, solve_task

OPTIMUM_GAP = 1e-7  # of the certified optimum that all are measured against
Event = dict[str, Any]


def main() -> None:
    """Read the job, do it, and write what happens."""
    job = json.load(sys.stdin)
    results = redirect()
    warnings.simplefilter("ignore")  # a solver's complaint about a loose tolerance is no news here
    for event in events(job):
        print(json.dumps(event), file=results, flush=True)


def events(job: dict[str, Any]) -> Iterator[Event]:
    """Yield what happens in a job, the reason of a failure included."""
    try:
        X, y = read_arrays(Path(job["data"]))
        task = Task(X, y, job["C"], job["loss"])
        yield from (optimum if job["kind"] == "optimum" else ladder)(task, job)
    except Unsupported as error:
        yield {"event": "unsupported", "message": str(error)}
    except MemoryError:
        yield {"event": "unsupported", "message": "not enough memory"}
    except Exception as error:  # whatever a peer raises is a result too
        yield {"event": "failed", "message": f"{type(error).__name__}: {error}"}


def optimum(task: Task, job: dict[str, Any]) -> Iterator[Event]:
    """Yield better and better bounds of the optimum until they meet, each engine going on where the last one ended."""
    yield {"event": "ready"}
    alpha, left = None, job["deadline"]
    for engine in ("auto", "newton", "hybrid"):
        began = perf_counter()
        try:
            s = solve_task(task, engine, gap_tol=OPTIMUM_GAP, max_time=left, alpha0=alpha, random_state=0)
        except Unsupported:
            continue
        alpha, left = s.alpha, left - (perf_counter() - began)
        bounds = {"primal": s.certificate.primal, "dual": s.certificate.dual}
        yield {"event": "optimum", **bounds, "timed_out": left <= 0.0}
        if s.certificate.gap <= OPTIMUM_GAP or left <= 0.0:
            return


def ladder(task: Task, job: dict[str, Any]) -> Iterator[Event]:
    """Yield a run for each tolerance, from loose to tight, until the tightest target is met.

    A run that meets a target that no looser one has met is repeated, with other seeds.
    """
    solver = make_solver(job["solver"])
    if task.loss not in solver.losses:
        raise Unsupported(f"has no {task.loss.replace('_', ' ')} loss")
    solver.warm_up(task)
    solver.prepare(task)
    yield {"event": "ready", "version": version_of(solver.package)}
    waiting = sorted(job["targets"], reverse=True)
    for rung, tolerance in enumerate(solver.ladder(job["targets"])):
        run = _run(solver, task, tolerance, job["deadline"], seed=0)
        if rung == 0 and not solver.certifies and _meets(solver, run, waiting[0], job["dual"]):
            # The first run on these rows finds cold memory; later rungs do not, nor do engines after their warm-up.
            run = _run(solver, task, tolerance, job["deadline"], seed=0)
        yield run
        met = [target for target in waiting if _meets(solver, run, target, job["dual"])]
        waiting = [target for target in waiting if target not in met]
        if met:
            for seed in range(1, job["repeat"]):
                yield _run(solver, task, tolerance, job["deadline"], seed)
        if not waiting or run["capped"] or run["timed_out"]:
            return
    yield {"event": "exhausted"}


def _run(solver: Solver, task: Task, tolerance: float, max_time: float, seed: int) -> Event:
    began = perf_counter()
    solver.run(tolerance, max_time, seed)
    seconds = perf_counter() - began
    value = task.objective(solver.weights())
    return {
        "event": "run",
        "tolerance": tolerance,
        "seconds": seconds,
        "objective": value,
        "capped": solver.capped,
        "timed_out": solver.timed_out or seconds > max_time,
    }


def _meets(solver: Solver, run: Event, target: float, dual: float) -> bool:
    """Tell whether a run answers a target: where the solver certifies its results, only the one that was asked to."""
    if solver.certifies:
        return bool(run["tolerance"] == target and not run["timed_out"])
    return bool(run["objective"] - dual <= target * dual)


def version_of(module: str) -> str:
    """Return the version of a module or of its distribution, empty where neither tells."""
    if stated := getattr(sys.modules.get(module), "__version__", ""):
        return str(stated)
    names = packages_distributions().get(module.partition(".")[0], [])
    return version(names[0]) if names else ""


if __name__ == "__main__":
    main()
