"""The registry of engines: one record per engine says what it can do.

All code that depends on the engine asks its record. An engine's function is imported when it first runs, so that a
command line can list the names without loading a kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from ..runtime.training_clock import standing_still

if TYPE_CHECKING:
    from .driver import Run
    from .state import State

AUTO = "auto"  # chooses engines by a cost model: select.py
HYBRID, NEWTON, NEWTON_CG, OUT_OF_CORE, COCOA = "hybrid", "newton", "newton_cg", "out_of_core", "cocoa"


@dataclass(frozen=True)
class Engine:
    """What an engine is called and what it can do.

    Attributes
    ----------
    name : str
        The value of ``solver`` that selects it, and the name of its function.
    module : str
        The module that holds the function, within ``hingeline.solvers``.
    stepwise : bool
        Visits one dual variable at a time: visits count as steps, and w follows alpha, up to rounding.
    adapts : bool
        Visits variables more often the more they gain: every variable has a preference.
    shrinks : bool
        Variables at a bound may leave the active set.
    begins_near : bool
        Can start from weights that are not those of alpha (``state.Near``).
    needs_smooth_loss : bool
        Trains only losses that have a derivative everywhere.
    chosen_by_auto : bool
        ``solver="auto"`` may run it on data in memory.
    by_name : bool
        Users may ask for it.
    """

    name: str
    module: str
    stepwise: bool = False
    adapts: bool = False
    shrinks: bool = False
    begins_near: bool = False
    needs_smooth_loss: bool = False
    chosen_by_auto: bool = False
    by_name: bool = True

    def load(self) -> Callable[[State, Run], None]:
        """Import the engine's function, while the clock of training stands still."""
        with standing_still():
            module = import_module(f".{self.module}", __package__)
        function: Callable[[State, Run], None] = getattr(module, self.name)
        return function


ENGINES = {
    engine.name: engine
    for engine in (
        Engine("baseline", "dual.baseline", stepwise=True, shrinks=True),
        Engine("avsf", "dual.avsf", stepwise=True, adapts=True),
        Engine(HYBRID, "dual.hybrid", stepwise=True, adapts=True, shrinks=True, chosen_by_auto=True),
        Engine(NEWTON, "newton.newton", begins_near=True, chosen_by_auto=True),
        Engine(NEWTON_CG, "newton.newton_cg", begins_near=True, needs_smooth_loss=True, chosen_by_auto=True),
        Engine(OUT_OF_CORE, "dual.out_of_core", stepwise=True, adapts=True, shrinks=True, by_name=False),
        Engine(COCOA, "dual.cocoa", stepwise=True, by_name=False),  # on a cluster: dask/train.py
    )
}
NAMES = tuple(engine.name for engine in ENGINES.values() if engine.by_name)
SOLVERS = (AUTO, *NAMES)  # what ``solver`` may be
STEPWISE_SOLVERS = (AUTO, *(name for name in NAMES if ENGINES[name].stepwise))


def check_solver(solver: str) -> None:
    """Raise if there is no such engine."""
    if solver not in SOLVERS:
        raise ValueError(f"solver must be 'auto' or one of {sorted(NAMES)}; got {solver!r}.")


def names_for(smooth: bool) -> tuple[str, ...]:
    """Return the engines that users may choose for a loss that is ``smooth`` or not."""
    return tuple(name for name in NAMES if smooth or not ENGINES[name].needs_smooth_loss)


def stepwise_engine(solver: str, problem: str) -> Engine:
    """Return the engine whose schedule ``solver`` selects, for problems that only stepwise engines can train.

    ``problem`` names the problem in the error that is raised if the engine cannot train it.
    """
    if solver not in STEPWISE_SOLVERS:
        choices = ", ".join(sorted(STEPWISE_SOLVERS))
        raise ValueError(f'solver="{solver}" does not train {problem}: use one of {choices}.')
    return ENGINES[HYBRID if solver == AUTO else solver]


def engines_of(solver: str) -> tuple[Engine, ...]:
    """Return the engines that ``Solution.solver`` names: two for "hybrid+newton"; "exact" finishes, and is none."""
    return tuple(ENGINES[name] for name in solver.split("+") if name in ENGINES)
