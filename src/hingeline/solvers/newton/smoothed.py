"""The smoothed problem of Newton's method at one point: residual, direction, and the step to the next point.

The coordinator's side: it holds w and what has the size of w, and asks the shards for everything else.
"""

from __future__ import annotations

from math import inf, isfinite

import numpy as np

from ...kernels.double_double import move, product_of
from ...kernels.types import Vector
from ..driver import Run
from ..shards.interface import Responses, Shards
from ..shards.line import Line
from ..shards.precise import PreciseRows
from ..stop import Stop
from .directions import Curved, Directions, is_tiny
from .regulariser import Regulariser
from .triangular import solved_by_rows

LINE_ACCURACY = 1e-3
SMOOTH_LINE_ACCURACY = 0.1  # if the loss has no kinks, whole steps are good enough in the end
ROUGH_LINE_ACCURACY = 0.3  # squared losses: an exact search may stop at one kink after the other, so it is not exact
ROUGH_SEARCHES = range(4, 12)
FAR_HIGHER = 1e6  # times the objective
DEPENDENT = 1e12  # condition number from which a Hessian cannot tell columns from dependent ones
UNSEEN = 1e-14  # decrease, relative to the terms it is summed from, that rounding hides from a line search
SHARES = (1.0, 1e-3, 1e-6, 1e-9, 1e-12, 0.0)  # fractions of a step to try if P rises a lot along all of it
ROUGH, ROUGH_STEPS = 1e-3, 3  # fraction of the objective, above the decrease and below the distance; steps in a row
INNER = 0.1  # residual, as a fraction of the violation, at which a sub-problem counts as solved
SMALLEST_DECREMENT = 1e-16  # promised decrease over |w|^2 below which it is lost in rounding
IDLE_STEPS = 10
CLEAR_GAP = 1e-6  # relative; above it training goes on even if the violation is at its rounding floor
NO_DECREASE = 1e-13  # decrease over the objective: too small to show
DEPENDENT_GAP = 1e-9  # relative gap aimed at, with dual variables other than the slopes, if columns are dependent
LARGEST_QR = 1_000_000  # most values of the rows for which their triangular factor replaces the Hessian
WORTH_A_LOOK = 10.0  # times the requested gap: a step that promised no more may have a good certificate


class Smoothed:
    """The smoothed problem of ``shards`` at w: responses, residual w - Z' alpha, objective.

    If the intercept is ``free``, w is without its weight there (regulariser.py).
    """

    def __init__(self, shards: Shards, run: Run, w: Vector, delta: float, free: bool = False) -> None:
        self.shards, self.run = shards, run
        self.regulariser = Regulariser.of(shards, free)
        self.is_smooth = shards.loss.is_smooth
        self.delta = 0.0 if self.is_smooth else delta
        self.is_tiny = is_tiny(shards)
        self._directions = Directions(shards, run, self.regulariser)
        self._searched = 0
        self._precise: PreciseRows | None = None  # made when rounding of the scores turns out to matter
        self._rough_steps = 0  # in a row
        self._is_new = False  # whether a stage has just begun
        self._idle, self._nearest = 0, inf  # precise steps of this stage since w came closer to Z' alpha, and how close
        self._low = np.empty(0)  # the low-order part of w, if scores are precise
        self._proposed_weights: Vector | None = None  # Z' a of the dual variables that the last step proposed
        self.w, self._highest = w, 0.0
        self._locate(*shards.begin(w, self.delta))

    def _locate(self, responses: Responses, v: Vector) -> None:
        """Store the responses, and what follows from w and v = Z' alpha."""
        self.v = v
        self.violation, self.band_size, self.moved, losses, self.gap, band = responses  # the gap as far as w = v holds
        u = self.regulariser.part(self.w)
        self.length = float(u @ u)
        self.primal = 0.5 * self.length + losses
        self._highest = max(self._highest, self.primal)
        self.residual = u - v if self._precise is None else self._precise.residual(u, self.regulariser.part(self._low))
        self.distance = self.regulariser.squared(self.residual)
        self.error = self.regulariser.error(self.residual, self.scale * band)

    def next_stage(self, factor: float) -> None:
        """Centre the smoothing at the current alpha and change its width.

        Margins are updated step by step. A free intercept may move far on the way and leave rounding errors in them.
        """
        self.delta *= factor
        self._idle, self._nearest, self._is_new = 0, inf, True
        found = self.shards.recentre(self.delta)
        if self.regulariser.is_free and self._highest > FAR_HIGHER * self.primal:
            self._place()
            self._highest = self.primal
            found = self.shards.respond(0.0, afresh=True)
        self._locate(*found)

    def _place(self) -> None:
        """Compute the margins at w afresh."""
        if self._precise is None:
            self.shards.place(self.w)
        else:
            self._precise.place(self.w, self._low)

    def is_within(self, stop: Stop, times: float = 1.0) -> bool:
        """Tell whether the model would meet ``times`` the requested tolerance if w were equal to Z' alpha."""
        if stop.gap_tol is None and self.violation < times * stop.tol:
            return True
        gap = self.gap / times
        return gap <= stop.gap_allowed(gap, self.primal - gap, lambda: 0.5 * self.length)

    @property
    def is_precise(self) -> bool:
        """Whether scores are computed in twice the precision: w is a better model than Z' alpha then."""
        return self._precise is not None

    @property
    def goes_by_gap(self) -> bool:
        """Whether P(w) - D(alpha) decides which point is best, with w as the model rather than Z' alpha.

        That gap is known after each step, and falls sooner: rounding and unsolved sub-problems leave an error in
        Z' alpha that C multiplies. The gap at Z' alpha would also take two rounds on a cluster.
        """
        return not self.is_smooth and self.run.stop.goes_by_gap

    @property
    def is_solved(self) -> bool:
        """Whether w is optimal for the smoothed problem, as far as the next stage needs it.

        If scores are precise, the residual matters only for the gap.
        """
        return self.is_near if self.is_precise else self.error <= INNER * self.violation

    @property
    def may_pass(self) -> bool:
        """Whether a stage may end before it is solved: not if the scores had to be precise, since alpha is far off."""
        return not self.is_precise or 0.5 * self.distance <= self.gap

    def is_exhausted(self, decrement: float) -> bool:
        """Tell whether rounding allows no more, after a step that promised ``decrement``."""
        return self._idle >= IDLE_STEPS if self.is_precise else decrement <= SMALLEST_DECREMENT * self.length

    @property
    def is_near(self) -> bool:
        """Whether w is so close to Z' alpha that their distance hardly matters for the gap."""
        return 0.5 * self.distance <= INNER**2 * max(self.gap, CLEAR_GAP * self.primal)

    @property
    def is_finite(self) -> bool:
        """Whether w, the objective and the gap are finite."""
        return isfinite(self.primal) and isfinite(self.gap) and isfinite(self.distance)

    @property
    def scale(self) -> float:
        """Curvature of a row over C_i times its entry in the band."""
        return self.shards.loss.curvature_scale / (self.delta or 1.0)

    def _accuracy(self) -> float:
        """Return the fraction of the slope that the next line search may leave."""
        searched, self._searched = self._searched, self._searched + 1
        if self.is_smooth and not self.shards.loss.slope_has_kinks:
            return SMOOTH_LINE_ACCURACY
        return ROUGH_LINE_ACCURACY if self.is_smooth and searched in ROUGH_SEARCHES else LINE_ACCURACY

    @property
    def curved(self) -> Curved:
        """What the search for a direction needs to know."""
        is_flat = self.regulariser.is_free and self.band_size == 0
        return Curved(self.residual, self.scale, self.delta, self.band_size, self.moved, is_flat)

    def step(self) -> float:
        """Go to the minimum along Newton's direction; returns twice the decrease that it promised.

        That is 0, and nothing moves, if rounding leaves no descent direction.
        """
        if self._is_rough and not self.is_precise and self.shards.n_rows * self.shards.n_weights <= LARGEST_QR:
            self._precise, self._low = self.shards.precise(), np.zeros_like(self.w)
        accuracy = self._accuracy()
        if self._precise is not None:
            return self._step_precisely(self._precise, accuracy)
        at = self.curved
        at_once = (self.w, self.v, accuracy, self._directions.damping, self.regulariser.is_free)
        done = None if at.is_flat else self.shards.whole_step(*at_once)
        if done is not None:
            decrement, tau, self._directions.condition, responses = done
            before = self.primal
            self._directions.damp(tau)
            self._locate(responses, self.v)
            self._count_rough(decrement, before)
            return decrement
        p, left = self._predicted() or self._directions.find(self.curved)
        self._proposed_weights = None
        if not at.is_descent(p):
            return 0.0
        decrement = -float(self.residual @ p)
        line, afresh = self._line(p, decrement, accuracy), self.is_smooth  # a smooth loss: all rows respond anyway
        if self._is_worth_proposing(decrement):
            taus = self.shards.first_taus
            values = self.shards.project(p, taus)
            self._propose(p, left)
            tau = self.shards.step_to_minimum(line, taus, values)
            responses, v = self.shards.respond(tau, afresh)
        else:
            tau, responses, v = self.shards.move(p, line, afresh)
        self._directions.damp(tau)
        self.w += tau * p
        self._locate(responses, v if self.is_smooth else self.v + v)
        return decrement

    def _predicted(self) -> tuple[Vector, Vector | None] | None:
        """Return the direction to the minimum of a new stage if the same variables stay free; None if there is none.

        A narrower smoothing takes most of them to their bounds until w has moved, which the direction from here does
        not foresee.
        """
        is_new, self._is_new, at = self._is_new, False, self.curved
        extension = self.shards.extend() if is_new else None
        if extension is None or extension.n_rows == 0:
            return None
        moved, size = at.moved + extension.moved, at.band_size + extension.n_rows
        ahead = at._replace(residual=at.residual - extension.v, band_size=size, moved=moved, is_flat=False)
        p, left = self._directions.find(ahead)
        if at.is_descent(p):
            return p, left
        self._locate(*self.shards.respond(0.0, afresh=True))
        return None

    def _step_precisely(self, rows: PreciseRows, accuracy: float) -> float:
        """Do what ``step`` does, using the rows of the band and scores in twice the precision.

        A Hessian squares its rows, so it cannot tell columns apart that differ by a millionth. The rows can.
        """
        self._proposed_weights = None
        self._directions.forget()
        solved = None if self.band_size == 0 else solved_by_rows(rows, -self.residual, self.regulariser.is_free)
        if solved is None:
            p, left = self._directions.find(self.curved)
            low = np.zeros_like(p)
        else:
            (p, low), left = solved, None
        decrement = -product_of(self.residual, p, low)
        if not 0.0 < decrement < inf:
            return 0.0
        taus, tau = self.shards.first_taus, 1.0
        values = rows.project(p, low, taus)
        if self._is_worth_proposing(decrement):
            self._propose(p, left)
        if left is not None or decrement > UNSEEN * rows.size_along_line():
            tau = self.shards.step_to_minimum(self._line(p, decrement, accuracy), taus, values)
        self._directions.damp(tau)
        w, w_low, highest = self.w.copy(), self._low.copy(), 2.0 * self.primal + self.gap
        for share in SHARES:
            self.w[:], self._low[:] = w, w_low
            move(self.w, self._low, share * tau, p, low)
            self._place()
            self._locate(*self.shards.respond(0.0, afresh=True))
            if self.primal <= highest:
                break
        nearer = self.distance < 0.5 * self._nearest
        self._idle, self._nearest = (0, self.distance) if nearer else (self._idle + 1, self._nearest)
        return decrement

    def _line(self, p: Vector, decrement: float, accuracy: float) -> Line:
        u = self.regulariser.part(p)
        return Line(-decrement, float(self.w @ u), float(u @ u), accuracy)

    def _is_worth_proposing(self, decrement: float) -> bool:
        """Tell whether Newton's equation may propose better dual variables than the responses are."""
        return (self.is_smooth or self.is_precise) and self._is_worth_a_look(decrement)

    def _propose(self, p: Vector, left: Vector | None) -> None:
        """Have the shards propose dual variables for w + p."""
        self.shards.propose(1.0)
        proposed = self.regulariser.part(self.w + p)
        self._proposed_weights = proposed if left is None else proposed - left

    @property
    def _is_rough(self) -> bool:
        """Whether the Hessian tells too little about the rows, or their scores are too inaccurate."""
        return self._directions.condition > DEPENDENT or self._rough_steps >= ROUGH_STEPS

    def _count_rough(self, decrement: float, before: float) -> None:
        """Count steps of a small problem that promise or gain almost nothing although w is far from Z' alpha.

        That is a sign of rounding.
        """
        small = ROUGH * self.primal
        idle = decrement < small or abs(before - self.primal) <= UNSEEN * self.primal
        is_rough = self.is_tiny and idle and small < 0.5 * self.distance
        self._rough_steps = self._rough_steps + 1 if is_rough else 0

    def _is_worth_a_look(self, decrement: float) -> bool:
        """Tell, by what a step promises, whether w may meet the requested gap."""
        return decrement <= WORTH_A_LOOK * self._gap_asked * self.primal

    @property
    def _gap_asked(self) -> float:
        """The requested relative gap; 0 if slopes are as good as any dual variables.

        They are not if columns are nearly dependent: rounding in the scores makes the slopes miss w by far.
        """
        asked = self.run.stop.gap_asked
        return max(asked, DEPENDENT_GAP) if self._is_doubtful else asked

    @property
    def _is_doubtful(self) -> bool:
        """Whether slopes may miss w by far, because columns are nearly dependent or scores are inaccurate."""
        return self.is_precise or self._directions.condition > DEPENDENT

    @property
    def is_certified_by_proposals(self) -> bool:
        """Whether only the proposed dual variables, and no slopes, may certify the last step."""
        return self._is_doubtful and self._proposed_weights is not None

    def may_propose(self, decrement: float) -> bool:
        """Tell whether w is good enough, by what its last step promised, and the slopes alone are not."""
        if self._proposed_weights is None or not self._is_worth_a_look(decrement):
            return False
        return self.gap + 0.5 * self.distance > self._gap_asked * self.primal

    def gap_of_proposal(self) -> float:
        """Return the gap at w with the dual variables that Newton's equation proposed.

        The equation says w + p = Z'(alpha - S Zp), if p is exact. If the step was cut short, or few rows have changed
        sides, these variables leave a much smaller gap than the slopes at the new w.
        """
        assert self._proposed_weights is not None
        _, gap, excess = self.shards.compare()
        apart = self.regulariser.part(self.w) - self._proposed_weights
        if excess is not None:
            apart += excess
        return gap + 0.5 * self.regulariser.squared(apart)
