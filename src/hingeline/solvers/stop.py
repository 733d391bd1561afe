"""When a run may end: the stop rule, and the stop reason that is reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import nan

from ..kernels.losses import Loss
from ..solution import Certificate

GOOD_GAP = 1e-3  # a run that rounding ended at a larger gap has not converged: it has stalled

ENOUGH = 1e-3  # times tol: the relative gap that is enough for solver="auto", whatever the violation
ENOUGH_FOR_SCORES = 0.1  # the same, for models that are only scored: scores within 0.001 of those of exact models
NEAR_FOR_SCORES = 20.0  # times tol: for these models, the gap over |w|^2/2 that is enough as well

NO_TIME = 1e-9  # seconds: a problem whose turn comes after the time is up returns its start


@dataclass(frozen=True)
class Stop:
    """When to end: ``tol`` on the violation, or ``gap_tol`` on the relative gap if given; and the caps.

    A run with ``tol`` also ends at a relative gap of ``enough``, unless that is 0, or once w is certainly ``near`` the
    exact w*, at P - D <= near |w|^2/2: P is strongly convex, so |w - w*|^2/2 <= P - D.
    """

    tol: float = 1e-3
    gap_tol: float | None = None
    max_iter: int | None = None
    max_time: float | None = None
    enough: float = 0.0
    near: float = 0.0

    def or_enough(self, loss: Loss) -> Stop:
        """Return the rule of solver="auto" for a loss: a gap this small is enough, whatever violation is left.

        At small C, the violations that are left then make no visible difference. That is not so in a regression, whose
        objective may depend mostly on the intercept.
        """
        if self.gap_tol is not None or loss.is_regression:
            return self
        return replace(self, enough=max(self.enough, ENOUGH * self.tol))

    def for_scores(self, loss: Loss) -> Stop:
        """Return the rule of solver="auto" for a model that is only scored and then dropped.

        If most of P is the loss, w may still be far from w* at a small gap. If |w|^2/2 is a large part of P, as it is
        for text, a larger gap is enough. Probabilities need the length of w too, not only its direction.
        """
        if self.gap_tol is not None or loss.is_regression:
            return self
        near = 0.0 if loss.gives_probabilities else NEAR_FOR_SCORES * self.tol
        return replace(self, enough=ENOUGH_FOR_SCORES * self.tol, near=near)

    def gap_allowed(self, gap: float, dual: float, half_square: Callable[[], float]) -> float:
        """Return the P - D at which a run may end, if it is ``gap`` now; ``half_square()`` is |w|^2/2."""
        allowed = self.gap_asked * (dual + gap)
        if allowed < gap <= self.near * (dual + gap):  # |w|^2/2 is at most P: at a larger gap there is no need to ask
            return max(allowed, self.near * half_square())
        return allowed

    @property
    def gap_asked(self) -> float:
        """The relative gap at which a run may end; 0 if it ends by ``tol`` alone."""
        return self.enough if self.gap_tol is None else self.gap_tol

    @property
    def goes_by_gap(self) -> bool:
        """Whether only the gap matters: it was asked for, or the model is only scored."""
        return self.gap_tol is not None or self.near > 0.0

    @property
    def rule(self) -> str:
        """Which of the two rules applies: the stop reason when it is met."""
        return "tol" if self.gap_tol is None else "gap_tol"

    def multiple(self, violation: float, gap: float, dual: float) -> float:
        """Return the violation or ``gap`` (P - D) as a multiple of what the rule allows; NaN if it allows 0."""
        multiples, gap_asked = [], self.gap_asked * dual
        if self.gap_tol is None and self.tol > 0.0:
            multiples.append(violation / self.tol)
        if gap_asked > 0.0:
            multiples.append(gap / gap_asked)
        return min(multiples, default=nan)

    def met(self, certificate: Certificate) -> bool:
        """Tell whether a certificate meets the rule. NaN meets none."""
        return self.met_by(certificate) is not None

    def met_by(self, certificate: Certificate) -> str | None:
        """Return the rule that a certificate meets, which is the stop reason; None if it meets none."""
        if self.gap_tol is None and certificate.violation < self.tol:
            return "tol"
        asked = self.gap_asked
        return "gap_tol" if (asked > 0.0 or self.gap_tol is not None) and certificate.gap <= asked else None

    def settled(self, certificate: Certificate) -> bool:
        """Tell whether a certificate meets the rule and has a good gap, as required of an engine that cannot go on."""
        return self.met(certificate) and (self.gap_tol is not None or certificate.gap <= GOOD_GAP)

    def after(self, seconds: float) -> Stop:
        """Return the rule with its time reduced by ``seconds``."""
        return self if self.max_time is None else replace(self, max_time=max(self.max_time - seconds, NO_TIME))

    def outcome(self, reason: str, certificate: Certificate) -> tuple[str, bool]:
        """Return why a run ended, and whether it has converged.

        If the rule is met, that is the reason, whatever kept the engine from going on. But an engine that could not go
        on and leaves a large gap has stalled, even if the violation looks small: the run has not converged.
        """
        if reason in ("rounding", "stalled"):
            if self.settled(certificate):
                reason = self.met_by(certificate) or self.rule
            elif not certificate.gap <= GOOD_GAP:
                reason = "stalled"
        return reason, reason in ("tol", "gap_tol", "rounding")
