"""Cross-validation over a grid of C: one walk along C for each problem of each fold, on all cores.

Cells of the table (C x fold) are filled from the smallest C to the largest, since only complete rows tell whether
larger C can still win. A thread that finds nothing left to do in a row goes ahead to the next one; if the rule then
ends the path, that work is given up. So a result depends on the seed alone, and threads are seldom idle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial
from threading import Event

import numpy as np
from threadpoolctl import threadpool_limits

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


class Grid:
    """Fills the table.

    Parameters
    ----------
    study : Study
    Cs : ndarray
        Ascending.
    early : EarlyEnd or None
        The rule that ends the path; None: it is not ended.
    n_threads : int
    on_cell : callable (k, fold, Cell, list of Reached), optional
        Called with every cell when it is done, and with the solutions of its problems.
    on_row : callable (k, Table), optional
        Called when all folds are done with a C; a true answer ends the path there.
    callback : callable (chain, Progress), optional
        Called after every sweep, from any thread; a true answer ends that training.
    done, reached : mappings, optional
        Cells of an earlier run, and its last solutions: (fold, k) -> Reached.
    elapsed : callable () -> float, optional
        Seconds of the study's ``max_time`` that are gone, if it is for all fits together.
    keeps_best : bool
        Keep the solutions at the C of the best mean score, for a fit to all rows.

    Attributes
    ----------
    best : list of list of Reached, or None
        By fold and problem, after ``run``, if they are to be kept and all of them are known.
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
        reached: Mapping[tuple[int, int], Reached] | None = None,
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
        each = max(1, self._n_threads // n_chains)
        self._walks = [self._walk(chain, each, reached or {}) for chain in range(n_chains)]
        self._next = [self._first_open(chain // study.n_problems) for chain in range(n_chains)]
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
            with threadpool_limits(limits=1, user_api="blas"):
                self._run_together()
        return self.table

    def _walk(
        self, chain: int, n_threads: int, reached: Mapping[tuple[int, int], Reached]
    ) -> Walk | MultinomialWalk | None:
        study = self._study
        return walk_of(
            study,
            chain,
            callback=None if self._callback is None else partial(self._callback, chain),
            cancelled=self._stopped.is_set,
            n_threads=n_threads,
            reached=reached.get(divmod(chain, study.n_problems)),
            elapsed=self._elapsed,
        )

    def _first_open(self, fold: int) -> int:
        return next((k for k in range(self.table.Cs.size) if (k, fold) not in self.table.cells), self.table.Cs.size)

    def _run_alone(self) -> None:
        while not self._is_over():
            chain = self._choose(busy=set())
            assert chain is not None
            self._take(chain, self._step(chain))

    def _run_together(self) -> None:
        pending: dict[Future[Part], int] = {}
        with ThreadPoolExecutor(self._n_threads) as pool:
            try:
                while not self._is_over():
                    while len(pending) < self._n_threads:
                        chain = self._choose(busy=set(pending.values()))
                        if chain is None:
                            break
                        pending[pool.submit(self._step, chain)] = chain
                    for future in wait(pending, return_when=FIRST_COMPLETED).done:
                        self._take(pending.pop(future), future.result())
            finally:
                self._stopped.set()  # threads see neither Ctrl-C nor the rule
                if self._remote is not None:
                    self._remote.cancel()

    def _choose(self, busy: set[int]) -> int | None:
        """Return the chain to go on with: the one at the smallest C, but none that is two rows ahead."""
        open_chains = [
            (self._next[chain], chain)
            for chain in range(len(self._walks))
            if chain not in busy and self._next[chain] < min(self._row + 2, self.table.Cs.size)
        ]
        return min(open_chains)[1] if open_chains else None

    def _step(self, chain: int) -> Part:
        """Train a chain's problem for its next C, and compute the decision values of the rows that are held out."""
        walk, C = self._walks[chain], float(self.table.Cs[self._next[chain]])
        if walk is None or self._remote is None:
            return part_of(self._study, chain, walk, C)
        stop = self._study.stop if self._elapsed is None else self._study.stop.after(self._elapsed())
        part = self._remote.part(Fit(chain, C, stop, walk.reached))
        walk.reached = part.reached
        return part

    def _take(self, chain: int, part: Part) -> None:
        """Add what a chain has given; if that completes a cell, score it."""
        fold, problem = divmod(chain, self._study.n_problems)
        k = self._next[chain]
        self._next[chain] += 1
        parts = self._parts.setdefault((k, fold), {})
        parts[problem] = part
        if len(parts) < self._study.n_problems:
            return
        del self._parts[k, fold]
        in_order = [parts[number] for number in range(self._study.n_problems)]
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
            raise ValueError(
                f"The score of fold {fold} at C = {C:g} is {score}: choose another scoring, or other folds."
            )
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
