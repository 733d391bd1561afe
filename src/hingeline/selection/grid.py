"""Cross-validation over a grid of C: walks along C for each problem of each fold, on all cores.

Cells of the table (C x fold) are filled from the smallest C to the largest, since only complete rows tell whether
larger C can still win. A thread that finds nothing left to do in a row goes ahead to the next one; if the rule then
ends the path, that work is discarded.

A walk starts each C from the solution for the last, so a problem of a fold can keep one thread busy. With twice as many
threads as problems, or more, each walk is cut into several that begin at different C, the first of them from zero.
Where they begin depends only on the number of threads, so a result depends on that and on the seed, never on timing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from threading import Event
from typing import NamedTuple

import numpy as np

from ..runtime.blas import one_blas_thread
from ..solution import Progress, Solution
from ..solvers.engines import engines_of
from .choice import choose
from .early import EarlyEnd
from .multinomial_walk import MultinomialWalk
from .remote import Fit, Remote, remote_of
from .start import Reached
from .study import Part, Study, part_of, walk_of
from .table import Cell, Table
from .walk import Walk

NEWTON_WORK = 4.0  # an iteration of Newton's method, in visits of each row


class Leg(NamedTuple):
    """A walk of one problem of one fold over some neighbouring C."""

    chain: int  # number of the problem, counted over all folds
    begin: int
    end: int


class Grid:
    """Fills the table.

    Parameters
    ----------
    study : Study
    Cs : ndarray
        Ascending.
    early : EarlyEnd or None
        The rule that ends the path. None: the whole table is filled.
    n_threads : int
    on_cell : callable (k, fold, Cell, list of Reached), optional
        Called with every cell when it is done, and with the solutions of its problems.
    on_row : callable (k, Table), optional
        Called when all folds are done with a C; a true return value ends the path there.
    callback : callable (chain, Progress), optional
        Called after every sweep, from any thread; a true return value ends that training.
    done, reached : mappings, optional
        Cells of an earlier run, and the solutions of some of them: (k, fold) -> list of Reached, one per problem.
    elapsed : callable () -> float, optional
        Seconds of the study's ``max_time`` used so far, if it is for all fits together.
    keeps_best : bool
        Keep the solutions at the C of the best mean score, for a fit to all rows.

    Attributes
    ----------
    best : list of list of Reached, or None
        By fold and problem, after ``run``, if ``keeps_best`` is set and all of them are known.
    """

    def __init__(
        self,
        study: Study,
        Cs: np.ndarray,
        *,
        early: EarlyEnd | None = None,
        n_threads: int = 1,
        on_cell: Callable[[int, int, Cell, list[Reached | None]], object] | None = None,
        on_row: Callable[[int, Table], object] | None = None,
        callback: Callable[[int, Progress], object] | None = None,
        done: Mapping[tuple[int, int], Cell] | None = None,
        reached: Mapping[tuple[int, int], list[Reached | None]] | None = None,
        elapsed: Callable[[], float] | None = None,
        keeps_best: bool = False,
    ) -> None:
        self._study, self._early, self._on_cell, self._on_row = study, early, on_cell, on_row
        self._callback, self._elapsed = callback, elapsed
        self._n_threads = 1 if study.data.blocks is not None else n_threads
        self.table = Table(Cs, dict(done or {}), len(study.folds))
        self._stopped = Event()
        self._remote: Remote | None = None
        n_chains = len(study.folds) * study.n_problems
        self._test_share = study.test_share
        self._legs = legs(n_chains, Cs.size, self._n_threads)
        self._furthest = 2 if len(self._legs) == n_chains else Cs.size  # rows that threads may be ahead
        self._next = [self._first_open(leg) for leg in self._legs]
        self._walks = [self._walk(number, reached or {}) for number in range(len(self._legs))]
        self._parts: dict[tuple[int, int], dict[int, Part]] = {}
        self._row = 0
        self._keeps_best = keeps_best
        self._reached: dict[tuple[int, int], list[Reached | None]] = {}  # of rows that are not complete
        self.best: list[list[Reached | None]] | None = None

    def run(self) -> Table:
        """Fill the table as far as the rule goes."""
        if self._callback is None:  # callbacks are called in this process
            self._remote = remote_of(self._study)
        if self._n_threads == 1:
            self._run_alone()
        else:
            with one_blas_thread():
                self._run_together()
        return self.table

    def _walk(
        self, number: int, reached: Mapping[tuple[int, int], list[Reached | None]]
    ) -> Walk | MultinomialWalk | None:
        study, leg, k = self._study, self._legs[number], self._next[number]
        fold, problem = divmod(leg.chain, study.n_problems)
        before = reached.get((k - 1, fold)) if k > leg.begin else None
        return walk_of(
            study,
            leg.chain,
            callback=None if self._callback is None else partial(self._callback, leg.chain),
            cancelled=self._stopped.is_set,
            reached=None if before is None else before[problem],
            elapsed=self._elapsed,
        )

    def _first_open(self, leg: Leg) -> int:
        fold = leg.chain // self._study.n_problems
        return next((k for k in range(leg.begin, leg.end) if (k, fold) not in self.table.cells), leg.end)

    def _run_alone(self) -> None:
        while not self._is_over():
            leg = self._choose(busy=set())
            assert leg is not None
            self._take(leg, self._step(leg))

    def _run_together(self) -> None:
        pending: dict[Future[Part], int] = {}
        with ThreadPoolExecutor(self._n_threads) as pool:
            try:
                while not self._is_over():
                    while len(pending) < self._n_threads:
                        leg = self._choose(busy=set(pending.values()))
                        if leg is None:
                            break
                        pending[pool.submit(self._step, leg)] = leg
                    for future in wait(pending, return_when=FIRST_COMPLETED).done:
                        self._take(pending.pop(future), future.result())
            finally:
                self._stopped.set()  # threads see neither Ctrl-C nor the rule
                if self._remote is not None:
                    self._remote.cancel()

    def _choose(self, busy: set[int]) -> int | None:
        """Return the leg to go on with: the one at the smallest C, but none that is too far ahead."""
        open_legs = [
            (self._next[number], number)
            for number, leg in enumerate(self._legs)
            if number not in busy and self._next[number] < min(self._row + self._furthest, leg.end)
        ]
        return min(open_legs)[1] if open_legs else None

    def _step(self, number: int) -> Part:
        """Train a leg's problem for its next C, and compute the decision values of the rows that are held out."""
        walk, chain, C = self._walks[number], self._legs[number].chain, float(self.table.Cs[self._next[number]])
        if walk is not None:
            walk.n_threads = self._threads_of(number)
        if walk is None or self._remote is None:
            return part_of(self._study, chain, walk, C)
        stop = self._study.stop if self._elapsed is None else self._study.stop.after(self._elapsed())
        part = self._remote.part(Fit(chain, C, stop, walk.reached))
        walk.reached = part.reached
        return part

    def _threads_of(self, number: int) -> int:
        """Return the threads of a leg's next fit: its share, if legs that were shorter than this have come to an end.

        Which these are follows from the legs alone, so a result does not depend on timing.
        """
        done = self._next[number] - self._legs[number].begin
        return max(1, self._n_threads // sum(leg.end - leg.begin > done for leg in self._legs))

    def _take(self, number: int, part: Part) -> None:
        """Add what a leg has given; if that completes a cell, score it."""
        fold, problem = divmod(self._legs[number].chain, self._study.n_problems)
        k = self._next[number]
        self._next[number] += 1
        parts = self._parts.setdefault((k, fold), {})
        parts[problem] = part
        if len(parts) < self._study.n_problems:
            return
        del self._parts[k, fold]
        in_order = [parts[each] for each in range(self._study.n_problems)]
        reached = [part.reached for part in in_order]
        self.table.cells[k, fold] = self._cell(k, fold, in_order)
        if self._keeps_best:
            self._reached[k, fold] = reached
        if self._on_cell is not None:
            self._on_cell(k, fold, self.table.cells[k, fold], reached)

    def _cell(self, k: int, fold: int, parts: list[Part]) -> Cell:
        C = float(self.table.Cs[k])
        values = np.column_stack([part.values for part in parts])
        weights = [None if part.reached is None else part.reached.w for part in parts]
        if self._study.joint is not None and weights[0] is not None:
            weights = list(weights[0])
        score = float(self._study.score(fold, C, values, weights))
        if not np.isfinite(score):
            raise ValueError(f"The score of fold {fold} at C = {C:g} is {score}: use another scoring, or other folds.")
        solutions = [part.solution for part in parts if part.solution is not None]
        worst = max(solutions, key=lambda s: (not s.converged, s.certificate.gap))
        return Cell(
            score,
            sum(s.seconds for s in solutions),
            max(s.certificate.gap for s in solutions),
            sum(map(self._work, solutions)),
            worst.converged,
            worst.stop_reason,
        )

    def _work(self, solution: Solution) -> float:
        by_steps = all(engine.stepwise for engine in engines_of(solution.solver))
        passes = 0.0 if by_steps else NEWTON_WORK * solution.n_iter
        return solution.n_steps + passes * self._study.data.n_rows

    def _is_over(self) -> bool:
        """Close the rows that are complete; tell whether there is nothing more to do."""
        table = self.table
        while self._row < table.Cs.size and all((self._row, f) in table.cells for f in range(table.n_folds)):
            asked = self._on_row is not None and self._on_row(self._row, table)
            self._keep_if_best(self._row)
            self._row += 1
            if self._row < table.Cs.size and (asked or (self._early is not None and self._ends(self._early))):
                table.cells = {at: cell for at, cell in table.cells.items() if at[0] < self._row}
                return True
        return self._row == table.Cs.size

    def _keep_if_best(self, row: int) -> None:
        reached = [self._reached.pop((row, fold), None) for fold in range(self.table.n_folds)]
        if choose(self.table.of("score")[: row + 1]).best == row:
            known = [of_fold for of_fold in reached if of_fold is not None]
            self.best = known if len(known) == len(reached) else None

    def _ends(self, early: EarlyEnd) -> bool:
        scores, work = self.table.of("score")[: self._row], self.table.of("work")[: self._row]
        return early.ends(scores, work.sum(axis=1), self._test_share)


def legs(n_chains: int, n_Cs: int, n_threads: int) -> list[Leg]:
    """Return the walks over a grid of C that keep the threads busy: the later ones, at larger C, are the shorter."""
    n_legs = min(max(1, n_threads // n_chains), n_Cs)
    ends = [n_Cs - n_Cs * k // n_legs for k in range(n_legs, -1, -1)]
    return [Leg(chain, *ends[k : k + 2]) for chain in range(n_chains) for k in range(n_legs)]
