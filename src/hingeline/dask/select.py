"""Which method on a cluster."""

from __future__ import annotations

from ..data.problem import Problem
from ..solvers.engines import AUTO, ENGINES, NEWTON, NEWTON_CG
from ..solvers.newton.directions import LARGEST_FACTOR
from ..solvers.select import Phase
from ..solvers.stop import Stop
from .spec import Summary


def plan(summary: Summary, problem: Problem, solver: str, stop: Stop, n_hosts: int, free: bool) -> list[Phase]:
    """Return the phases of a run."""
    if solver == AUTO:
        many = problem.data.n_features >= LARGEST_FACTOR
        solver = NEWTON_CG if many and problem.loss.is_smooth else NEWTON
    return [Phase(ENGINES[solver].name, stop)]
