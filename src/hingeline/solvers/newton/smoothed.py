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
SMOOTH_LINE_ACCURACY = 0.1  # if the loss has no kinks, a whole step is good enough in the end
ROUGH_LINE_ACCURACY = 0.3  # squared losses: exact searches may end at one kink after the other, so these are not
ROUGH_SEARCHES = range(4, 12)
FAR_HIGHER = 1e6  # times the objective
DEPENDENT = 1e12  # condition number from which columns depend on each other as far as a Hessian can tell
UNSEEN = 1e-14  # decrease, over the terms it is the sum of, that a line search cannot see for rounding
SHARES = (1.0, 1e-3, 1e-6, 1e-9, 1e-12, 0.0)  # of a step that a line search was too short for: P rises by far
ROUGH, ROUGH_STEPS = 1e-3, 3  # share of the objective that the decrease is below and the distance above; steps in a row
INNER = 0.1  # residual, as a share of the violation, at which a sub-problem counts as solved
SMALLEST_DECREMENT = 1e-16  # promised decrease over |w|^2: beyond, rounding has it
IDLE_STEPS = 10
CLEAR_GAP = 1e-6  # relative; above it training goes on even if the violation is at its rounding floor
NO_DECREASE = 1e-13  # decrease over the objective: too small to show
DEPENDENT_GAP = 1e-9  # relative gap that dual variables other than the slopes are looked for, for such columns
LARGEST_QR = 1_000_000  # values of the rows that are made triangular instead
WORTH_A_LOOK = 10.0  # times the gap that is asked for: a step that promised no more may have a good certificate


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
        self._idle, self._nearest = 0, inf  # precise steps of this stage since w came nearer to Z' alpha, and how near
        self._low = np.zeros_like(w)  # what w is short of, then
        self._proposed_weights: Vector | None = None  # Z' a of the dual variables that the last step proposed
        self.w, self._highest = w, 0.0
        self._locate(*shards.begin(w, self.delta))

    def _locate(self, responses: Responses, v: Vector) -> None:
        """Take down what the responses are like, and what follows from w and v = Z' alpha."""
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
        """Centre the smoothing at the present alpha and change its width.

        Margins are moved step by step. A free intercept may go far on its way, and leave its rounding in them.
        """
        self.delta *= factor
        self._idle, self._nearest = 0, inf
        if self.regulariser.is_free and self._highest > FAR_HIGHER * self.primal:
            self._place()
            self._highest = self.primal
        self._locate(*self.shards.recentre(self.delta))

    def _place(self) -> None:
        """Compute the margins at w afresh."""
        if self._precise is None:
            self.shards.place(self.w)
        else:
            self._precise.place(self.w, self._low)

    def is_within(self, stop: Stop, times: float = 1.0) -> bool:
        """Tell whether the model would do (or ``times`` as much were asked for), if only w = Z' alpha held."""
        if stop.gap_tol is None and self.violation < times * stop.tol:
            return True
        return self.gap <= times * stop.gap_asked * self.primal

    @property
    def is_precise(self) -> bool:
        """Whether scores are computed in twice the precision: w is a better model than Z' alpha then."""
        return self._precise is not None

    @property
    def goes_by_gap(self) -> bool:
        """Whether P(w) - D(alpha) decides what is the best so far, with w as the model rather than Z' alpha.

        That gap is known after each step. The one at Z' alpha takes two rounds on a cluster, and is larger at first.
        """
        return self.shards.is_remote and not self.is_smooth and self.run.stop.gap_tol is not None

    @property
    def is_solved(self) -> bool:
        """Whether w is optimal for the smoothed problem, as far as the next stage minds.

        If scores are precise, the residual matters for the gap alone.
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
        """Whether w is so near to Z' alpha that it matters little for the gap."""
        return 0.5 * self.distance <= INNER**2 * max(self.gap, CLEAR_GAP * self.primal)

    @property
    def is_finite(self) -> bool:
        """Whether w, the objective and the gap are numbers that a model can have."""
        return isfinite(self.primal) and isfinite(self.gap) and isfinite(self.distance)

    @property
    def scale(self) -> float:
        """Curvature of a row over its entry in the band."""
        return self.shards.loss.curvature_scale / (self.delta or 1.0)

    def _accuracy(self) -> float:
        """Return what the next line search may leave of the slope."""
        searched, self._searched = self._searched, self._searched + 1
        if self.is_smooth and not self.shards.loss.slope_has_kinks:
            return SMOOTH_LINE_ACCURACY
        return ROUGH_LINE_ACCURACY if self.is_smooth and searched in ROUGH_SEARCHES else LINE_ACCURACY

    @property
    def curved(self) -> Curved:
        """What a direction has to know."""
        is_flat = self.regulariser.is_free and self.band_size == 0
        return Curved(self.residual, self.scale, self.delta, self.band_size, self.moved, is_flat)

    def step(self) -> float:
        """Go to the minimum along Newton's direction; returns the decrease that it promised (twice).

        That is 0, and nothing moves, if no direction leads downwards as far as rounding can tell.
        """
        if self._is_rough and not self.is_precise and self.shards.n_rows * self.shards.n_weights <= LARGEST_QR:
            self._precise = self.shards.precise()
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
        p, left = self._directions.find(at)
        self._proposed_weights = None
        if not at.is_descent(p):
            return 0.0
        taus, decrement = self.shards.first_taus, -float(self.residual @ p)
        values = self.shards.project(p, taus)
        self._propose(p, left, decrement)
        tau = self.shards.step_to_minimum(self._line(p, decrement, accuracy), taus, values)
        self._directions.damp(tau)
        self.w += tau * p
        responses, change = self.shards.respond(tau)
        self._locate(responses, self.v + change)
        return decrement

    def _step_precisely(self, rows: PreciseRows, accuracy: float) -> float:
        """Do as ``step`` does, by the rows of the band and with scores in twice the precision.

        A Hessian squares its rows: of columns that differ by a millionth it knows nothing. The rows still do.
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
        self._propose(p, left, decrement)
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

    def _propose(self, p: Vector, left: Vector | None, decrement: float) -> None:
        """Have the shards propose dual variables for w + p, if the step is likely to be good enough."""
        if (self.is_smooth or self.is_precise) and self._is_worth_a_look(decrement):
            self.shards.propose(1.0)
            proposed = self.regulariser.part(self.w + p)
            self._proposed_weights = proposed if left is None else proposed - left

    @property
    def _is_rough(self) -> bool:
        """Whether the Hessian tells too little of the rows, or scores of their weights are too rough."""
        return self._directions.condition > DEPENDENT or self._rough_steps >= ROUGH_STEPS

    def _count_rough(self, decrement: float, before: float) -> None:
        """Count steps of a small problem that promise or gain next to nothing, at a w far from Z' alpha.

        That is what rounding does.
        """
        small = ROUGH * self.primal
        idle = decrement < small or abs(before - self.primal) <= UNSEEN * self.primal
        is_rough = self.is_tiny and idle and small < 0.5 * self.distance
        self._rough_steps = self._rough_steps + 1 if is_rough else 0

    def _is_worth_a_look(self, decrement: float) -> bool:
        """Tell whether w may be good enough for the gap that is asked for, by what a step promises."""
        return decrement <= WORTH_A_LOOK * self._gap_asked * self.primal

    @property
    def _gap_asked(self) -> float:
        """The relative gap that is asked for; 0 if slopes are as good as any dual variables.

        Of columns that depend on each other, slopes are not: rounding in the scores makes them miss w by far.
        """
        asked = self.run.stop.gap_asked
        return max(asked, DEPENDENT_GAP) if self._is_doubtful else asked

    @property
    def _is_doubtful(self) -> bool:
        """Whether columns depend on each other, or scores have turned out to be rough: slopes may miss w by far."""
        return self.is_precise or self._directions.condition > DEPENDENT

    @property
    def is_certified_by_proposals(self) -> bool:
        """Whether no slopes may certify what the last step proposed."""
        return self._is_doubtful and self._proposed_weights is not None

    def may_propose(self, decrement: float) -> bool:
        """Tell whether w is good enough, by what its last step promised, and the slopes alone are not."""
        if self._proposed_weights is None or not self._is_worth_a_look(decrement):
            return False
        return self.gap + 0.5 * self.distance > self._gap_asked * self.primal

    def gap_of_proposal(self) -> float:
        """Return the gap at w that is left by the dual variables which Newton's equation proposed.

        It says w + p = Z'(alpha - S Zp), if p is exact: if the step was cut short, or few rows have changed sides,
        these certify much more than the slopes at the new w do.
        """
        assert self._proposed_weights is not None
        _, gap, excess = self.shards.compare()
        apart = self.regulariser.part(self.w) - self._proposed_weights
        if excess is not None:
            apart += excess
        return gap + 0.5 * self.regulariser.squared(apart)
