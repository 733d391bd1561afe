"""Sweeps with Newton's method as their finish, for the problems that have no plan of phases (train.py).

Sweeps are cheap and usually sufficient. They go on as long as their trend promises to finish sooner than Newton's
method would; an engine that the user asked for by name gets ``PATIENCE`` times as long. The result is certified: the
exact violation must be below tol, and the gap must be small too, which may take some more sweeps at large C. If sweeps
do not get there, Newton's method goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..runtime.pace import Pace
from ..solution import Certificate
from .clock import NEXT_PHASE
from .driver import SWEEP, Run
from .engines import AUTO, HYBRID, NEWTON
from .finish import ended
from .rounding import NEAR_FLOOR
from .stop import GOOD_GAP, Stop
from .trend import Budget

REVIEWED_SWEEPS = 20  # sweeps after which their trend is compared with the cost of Newton's method
PATIENCE = 10.0
UNFINISHED = ("tol", "rounding", "stalled", NEXT_PHASE)  # stop reasons after which there may be more to gain


@dataclass(frozen=True)
class Handover:
    """Two engines for one problem.

    Attributes
    ----------
    sweep, newton : the engines; each continues from where the other stopped
    n_rows : number of visits in a sweep
    newton_cost : cost of Newton's method, in visits
    """

    sweep: Callable[[], None]
    newton: Callable[[], None]
    n_rows: int
    newton_cost: float

    def run(self, run: Run, goal: Stop, solver: str) -> tuple[str, Certificate, str]:
        """Train until ``goal`` is reached or nothing is left to gain; returns why, the certificate, and the engines."""
        engine = HYBRID if solver == AUTO else solver
        most = self.newton_cost if solver == AUTO else PATIENCE * self.newton_cost
        stop, budget = run.stop, Budget(review=REVIEWED_SWEEPS * (SWEEP + self.n_rows), rival=most, most=most)
        run.begin_phase(goal, budget)
        reason, certificate = self._phase(run, self.sweep)
        if reason == "tol" and goal.met(certificate) and not certificate.gap <= GOOD_GAP:
            run.begin_phase(replace(goal, gap_tol=GOOD_GAP), budget)
            reason, certificate = self._phase(run, self.sweep)
            reason = "tol" if reason == "gap_tol" else reason
        if reason in UNFINISHED and not self._is_done(run, goal, certificate):
            run.begin_phase(goal, Budget())
            run.engine = 1
            reason, certificate = self._phase(run, self.newton)
            engine = f"{engine}+{NEWTON}"
        run.begin_phase(stop, Budget())
        if reason in UNFINISHED:
            reason = self._true_reason(run, stop, certificate)
        return reason, certificate, engine

    def _phase(self, run: Run, engine: Callable[[], None]) -> tuple[str, Certificate]:
        reason = ended(engine)
        return reason, run.certificate_after(reason, Pace(run.clock.check_cancelled))

    def _is_done(self, run: Run, goal: Stop, certificate: Certificate) -> bool:
        """Tell whether nothing is left to do. At large C the gap may be large even if the violation is small."""
        is_small = goal.met(certificate) or certificate.violation <= NEAR_FLOOR * run.floor()
        return is_small and certificate.gap <= GOOD_GAP

    def _true_reason(self, run: Run, stop: Stop, certificate: Certificate) -> str:
        """Return why training ends, now that no engine can do more."""
        if stop.met(certificate) and certificate.gap <= GOOD_GAP:
            return stop.rule
        is_rounding = certificate.gap <= GOOD_GAP or certificate.violation <= NEAR_FLOOR * run.floor()
        return "rounding" if is_rounding else "stalled"
