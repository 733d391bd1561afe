"""From a problem to a solution: start, engines phase by phase, certificate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import groupby
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from ..data.problem import Problem
from ..kernels.passes import squared_length
from ..runtime.threads import WORTH_SHARING, Team
from ..solution import Certificate, Progress, Solution
from .certificate import refresh, rounding_floor
from .clock import NEXT_PHASE, Clock
from .driver import Run
from .engines import AUTO, ENGINES, Engine
from .exact.rows import finished_rows
from .finish import ended, solution_of
from .precise_certificate import certified_precisely
from .rounding import NEAR_FLOOR
from .select import Phase, plan, plan_free
from .state import Known, Near, State, new_state
from .stop import GOOD_GAP, Stop
from .stretch import Stretch
from .trend import Budget

MOST_RESTARTS = 10  # of an engine, from the exact w
TIGHTER, TIGHTEST = 0.9, 0.3  # largest and smallest factor by which a restarted engine's tolerance is tightened
VISIBLE_DRIFT = 0.1  # fraction of tol by which rounding must have moved w to have misled the engine
LEAST_RESORT, RESORT_SWEEPS, RESORTS = 1e6, 100.0, 10.0  # steps, or sweeps, between two reviews; number of reviews
HOPELESS_GAP = 0.9


class _Kept(NamedTuple):
    """The result of a phase, kept in case the next one makes it worse."""

    certificate: Certificate
    alpha: Any  # as the shards copy it
    w: np.ndarray
    is_primal: bool


def train(
    problem: Problem,
    solver: str,
    stop: Stop,
    *,
    seed: int,
    alpha0: np.ndarray | None = None,
    anchor: float = 0.0,
    free: bool = False,
    near: Near | None = None,
    known: Known | None = None,
    callback: Callable[[Progress], Any] | None = None,
    cancelled: Callable[[], bool] | None = None,
    n_threads: int = 1,
    finish: bool = True,
) -> Solution:
    """Solve ``problem``; the certificate belongs to the returned weights, whatever ended the run.

    The intercept's weight is regularised towards ``anchor``, or not at all if it is ``free``, which only Newton's
    method can do (``plan_free``). Newton's method begins at ``near``, the other engines at ``alpha0``; what is
    ``known`` of ``alpha0`` saves two passes over the rows. Without ``finish``, a coordinate engine that the user has
    named runs alone, however long it takes, and ``auto`` ends only by ``tol``.
    """
    if solver == AUTO and finish and not free:
        stop = stop.or_enough(problem.loss)
    with Team(n_threads if problem.data.n_stored >= WORTH_SHARING else 1) as team:
        clock = Clock(stop.max_time, cancelled)
        warm = alpha0 is not None
        phases = plan_free(problem, solver, stop) if free else plan(problem, solver, stop, warm, finish)
        _check_loss(ENGINES[phases[0].engine], problem)
        state = new_state(problem, seed, alpha0, anchor, near, free=free, team=team, between=clock.check)
        run = Run(
            stop,
            clock,
            certify=lambda pace: refresh(state, clock.n_steps),
            floor=lambda: rounding_floor(state),
            callback=callback,
            team=team,
            take=state.snapshot,
            half_square=lambda: 0.5 * squared_length(state.w),
            stretch=Stretch(state) if solver == AUTO and _may_stretch(state) else None,
        )
        solution = Training(phases, state, run, known).solution()
    if free or anchor:
        return solution
    solution = certified_precisely(problem, solution, stop, free=False, between=clock.check_cancelled)
    if not finish:
        return solution
    return finished_rows(problem, solution, stop, free=False, cancelled=cancelled)


class Training:
    """One run through the phases of a plan."""

    def __init__(self, phases: list[Phase], state: State, run: Run, known: Known | None = None) -> None:
        self._phases, self._state, self._run, self._known = phases, state, run, known
        self._stop = run.stop  # of the whole run; a phase may have another

    def solution(self) -> Solution:
        """Train, and return what was found."""
        self._begin()
        return self._conclude(*self._run_phases())

    def _begin(self) -> None:
        """Compute w and the dual value at the start, unless the first engine needs neither."""
        begins_near = self._state.near is not None and ENGINES[self._phases[0].engine].begins_near
        if begins_near or not self._state.shards.is_any_alpha():
            return
        if self._known is None:
            self._run.dual = self._refresh().dual
        else:
            self._state.move_to(self._known.w, is_primal=False)
            self._run.dual = self._known.dual

    def _run_phases(self) -> tuple[str, Certificate, Stop]:
        """Run one phase after the other until one ends training; returns why, the certificate, and its stop rule."""
        kept: _Kept | None = None
        goes_on = False  # from the w of the phase before, rather than from its dual variables
        for k, phase in enumerate(self._phases):
            is_last = k == len(self._phases) - 1
            before = (self._state.shards.copy_alpha(), self._run.dual) if 0 < k and not is_last else None
            left = self._run.account.trend.steps_left() if k > 0 else 0.0
            budget = phase.budget.after(left) if kept is None else self._last_resort()
            self._run.begin_phase(phase.stop, budget)
            if phase.afresh:
                self._begin_afresh()
            reason, certificate = self._run_phase(phase, goes_on)
            self._state.unpack()
            if reason == NEXT_PHASE and kept is not None:
                reason = "stalled"
            if not self._hands_over(reason, certificate):
                break
            if reason != NEXT_PHASE and (kept is None or _apart(certificate) <= _apart(kept.certificate)):
                kept = _Kept(certificate, self._state.shards.copy_alpha(), self._state.w.copy(), self._state.is_primal)
            self._run.dual, goes_on = certificate.dual, reason == NEXT_PHASE
            if before is not None and self._run.dual < before[1]:
                self._return_to(*before)
                goes_on = False
        if kept is not None and reason == "tol" and not certificate.gap <= GOOD_GAP:
            reason = "stalled"  # the last engine's result may be no better than what another engine could not improve
        is_met = reason in ("tol", "gap_tol")
        if kept is not None and not is_met and not _apart(certificate) <= _apart(kept.certificate):
            certificate = self._restore(kept)
        if reason in ("rounding", "stalled") and not certificate.gap <= HOPELESS_GAP:
            certificate = self._better_of_zero(certificate)
        return reason, certificate, phase.stop

    def _restore(self, kept: _Kept) -> Certificate:
        """Go back to what was kept; returns its certificate."""
        self._state.shards.set_alpha(kept.alpha)
        self._state.move_to(kept.w, kept.is_primal)
        return kept.certificate

    def _better_of_zero(self, certificate: Certificate) -> Certificate:
        """Replace a model with a gap close to 1 by weights of zero, if these are better."""
        state = self._state
        found = _Kept(certificate, state.shards.copy_alpha(), state.w.copy(), state.is_primal)
        self._begin_afresh()
        at_zero = self._refresh()
        return at_zero if at_zero.primal < certificate.primal else self._restore(found)

    def _begin_afresh(self) -> None:
        """Go back to weights of zero."""
        self._state.shards.reset_alpha()
        self._state.move_to(np.zeros_like(self._state.w), is_primal=True)

    def _last_resort(self) -> Budget:
        """Return the budget of an engine that continues from where rounding stopped another one."""
        review = max(LEAST_RESORT, RESORT_SWEEPS * self._state.problem.n_variables)
        return Budget(review=review, rival=RESORTS * review, most=RESORTS * review)

    def _conclude(self, reason: str, certificate: Certificate, stop: Stop) -> Solution:
        """Return the solution."""
        state = self._state
        return solution_of(
            self._run,
            reason,
            stop,
            certificate,
            "+".join(name for name, _ in groupby(engine.name for engine in state.engines)),
            w=state.w[:-1],
            intercept=state.intercept,
            alpha=state.alpha,
        )

    def _run_phase(self, phase: Phase, goes_on: bool) -> tuple[str, Certificate]:
        """Run the engine of a phase until it ends; returns why, and the certificate.

        It starts from the dual variables; or, if it ``goes_on``, from the w that another method has left, if it can.

        A sweep sees each variable at a different w, and w is updated step by step, with rounding. So the exact
        violation may be larger than what the engine has seen. Then it goes on from the exact w, with a tighter
        tolerance unless rounding is the cause.
        """
        state, run, tol = self._state, self._run, phase.stop.tol
        if state.is_primal and not (goes_on and ENGINES[phase.engine].begins_near):
            state.follow(self._weights())
        if state.engines and state.engines[-1].name != phase.engine:
            run.engine += 1
        state.engines.append(ENGINES[phase.engine])
        function = state.engines[-1].load()
        for _ in range(1 + MOST_RESTARTS):
            reason = "tol"  # all rows are zero; they were solved when the state was made
            if state.problem.n_variables > 0:
                reason = ended(lambda: function(state, run))
            if reason != "tol":
                return reason, run.certificate_after(reason, run.passes)
            certificate, drift = self._refresh_from(state.w.copy())
            if certificate.violation < tol or state.problem.n_variables == 0:
                return reason, certificate
            if state.is_primal:  # the engine saw this very w
                return "rounding", certificate
            if drift < VISIBLE_DRIFT * tol:
                tighter = max(TIGHTEST, TIGHTER * tol / certificate.violation)
                run.stop = replace(run.stop, tol=tighter * run.stop.tol)
        return "stalled", certificate

    def _hands_over(self, reason: str, certificate: Certificate) -> bool:
        """Tell whether the next phase takes over: the budget is spent, or the engine has stopped too early."""
        if reason not in ("stalled", "rounding"):
            return reason == NEXT_PHASE
        if reason == "rounding" and certificate.violation <= NEAR_FLOOR * self._run.floor():
            return not certificate.gap <= GOOD_GAP
        return not self._stop.settled(certificate)

    def _return_to(self, alpha: Any, dual: float) -> None:
        """Undo a phase that has not increased the dual value: the next one starts from where this one did."""
        self._state.shards.set_alpha(alpha)
        self._run.dual = dual
        self._state.is_primal = True  # so that w is computed anew

    def _refresh(self) -> Certificate:
        """Return the exact certificate, however long that takes."""
        with self._run.clock.finishing():
            return refresh(self._state, self._run.n_steps)

    def _refresh_from(self, w: np.ndarray) -> tuple[Certificate, float]:
        """Return the exact certificate, and how far its scores may be from those at ``w``, which is overwritten."""
        certificate = self._refresh()
        w -= self._state.w
        return certificate, sqrt(self._state.problem.data.largest_q) * sqrt(squared_length(w))

    def _weights(self) -> np.ndarray:
        """Return the weights of the current dual variables."""
        with self._run.clock.finishing():
            return self._state.shards.weights()


def _may_stretch(state: State) -> bool:
    """Tell whether a multiple of w may be the model: not in a regression, nor if w is measured from an anchor."""
    problem = state.problem
    is_plain = problem.data.blocks is None and not (state.is_free or state.anchor)
    return is_plain and not (problem.loss.is_regression or problem.loss.gives_probabilities)


def _apart(certificate: Certificate) -> float:
    """Return P - D."""
    return certificate.gap * certificate.primal


def _check_loss(engine: Engine, problem: Problem) -> None:
    """Raise if the engine cannot train the problem's loss."""
    if engine.needs_smooth_loss and not problem.loss.is_smooth:
        raise ValueError(
            f'solver="{engine.name}" needs a smooth loss; {type(problem.loss).__name__} has kinks. '
            'Use solver="newton" or "auto".'
        )
