"""When a run may end: the stop rule, and what is made of the reason that ended it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan

from ..solution import Certificate

GOOD_GAP = 1e-3  # a run that rounding ended at a larger gap than this has not converged: it has stalled

NO_TIME = 1e-9  # seconds: a problem whose turn comes after the time is up returns its start


@dataclass(frozen=True)
class Stop:
    """When to end: ``tol`` on the violation, or ``gap_tol`` on the relative gap if given; and the caps."""

    tol: float = 1e-3
    gap_tol: float | None = None
    max_iter: int | None = None
    max_time: float | None = None

    @property
    def rule(self) -> str:
        """Which of the two rules holds: the reason to give when it is met."""
        return "tol" if self.gap_tol is None else "gap_tol"

    def multiple(self, violation: float, gap: float, dual: float) -> float:
        """Return what the rule judges as a multiple of what it asks for, P - D being ``gap``; NaN if it asks for 0."""
        seen, asked = (violation, self.tol) if self.gap_tol is None else (gap, self.gap_tol * dual)
        return seen / asked if asked > 0.0 else nan

    def met(self, certificate: Certificate) -> bool:
        """Tell whether a certificate meets the rule. NaN meets none."""
        return certificate.violation < self.tol if self.gap_tol is None else certificate.gap <= self.gap_tol

    def settled(self, certificate: Certificate) -> bool:
        """Tell whether a certificate meets the rule and its gap is good: what an engine that cannot go on must show."""
        return self.met(certificate) and (self.gap_tol is not None or certificate.gap <= GOOD_GAP)

    def after(self, seconds: float) -> Stop:
        """Return the rule with what is left of its time after so many seconds."""
        return self if self.max_time is None else replace(self, max_time=max(self.max_time - seconds, NO_TIME))

    def outcome(self, reason: str, certificate: Certificate) -> tuple[str, bool]:
        """Return why a run ended, and whether it has converged.

        Whatever kept it from going on, if the rule is met that is the reason. But an engine that could not go on and
        has left a large gap has stalled, even if the violation looks small: the run has not converged.
        """
        if reason in ("rounding", "stalled"):
            if self.settled(certificate):
                reason = self.rule
            elif not certificate.gap <= GOOD_GAP:
                reason = "stalled"
        return reason, reason in ("tol", "gap_tol", "rounding")
