"""Rows in shards: everything with one entry per row, behind the verbs that engines and certificates use."""

from __future__ import annotations

from collections.abc import Callable

from ...data.problem import Problem
from ...kernels.types import Vector
from ...runtime.pace import do_nothing
from ...runtime.threads import ALONE, Team
from .in_memory import InMemoryShards
from .interface import Shards
from .out_of_core import BlockShards


def shards_of(problem: Problem, alpha: Vector, team: Team = ALONE, between: Callable[[], None] = do_nothing) -> Shards:
    """Return the rows of ``problem`` with dual variables ``alpha``, wherever the rows are stored.

    Rows in memory are shared among the threads of ``team``; ``between`` is called between two slices of work.
    """
    if problem.data.blocks is not None:
        return BlockShards(problem, alpha, between)
    return InMemoryShards(problem, alpha, team, between)


__all__ = ["Shards", "shards_of"]
