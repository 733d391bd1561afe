"""Cross-validation over a grid of C: one walk along C for each fold and machine, on all cores.

Cells of the table (C x fold) are filled from the smallest C to the largest, since only complete rows tell whether
larger C can still win. A thread that finds nothing left to do in a row goes ahead to the next one; where the rule then
ends the path, that work is given up. So a result depends on the seed alone, and threads are seldom idle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from ..data.problem import Data, Problem
from ..kernels.passes import scores_at
from ..runtime.pace import Pace
from ..solution import Progress, Solution
from ..solvers.engines import engines_of
from ..solvers.stop import Stop
from .early import EarlyEnd
from .folds import Fold
from .walk import Reached, Walk

NEWTON_WORK = 4.0  # an iteration of Newton's method, in visits of each row


@dataclass(frozen=True)
class Study:
    """What is cross-validated.

    Attributes
    ----------
    data : Data
        All rows, read once.
    folds : list of Fold
    n_machines : int
        Binary problems of a model: one a class where there are more than two classes, else one.
    problem_at : callable (fold, machine, C) -> Problem
    is_taught : callable (fold, machine) -> bool
        Whether a machine has anything to learn from in a fold; one that has not never wins (-inf).
    score : callable (fold, C, values, weights) -> float
        Score of the held-out rows, from their decision values (n_held_out, n_machines) and the machines' weights.
    solver, stop, seed, free_intercept
        How each problem is trained.
    """

    data: Data
    folds: list[Fold]
    n_machines: int
    problem_at: Callable[[int, int, float], Problem]
    is_taught: Callable[[int, int], bool]
    score: Callable[[int, float, np.ndarray, list[np.ndarray | None]], float]
    solver: str
    stop: Stop
    seed: int
    free_intercept: bool = False

    @property
    def test_share(self) -> float:
        """Held-out rows over training rows."""
        held_out = sum(fold.held_out.size for fold in self.folds)
        return held_out / max(1, sum(int(fold.counts.sum(dtype=np.int64)) for fold in self.folds))


class Cell(NamedTuple):
    """One C in one fold; sums, or the worst, over the machines."""

    score: float
    seconds: float
    gap: float
    work: float
    converged: bool
    stop_reason: str


class Part(NamedTuple):
    """What one machine gives to a cell."""

    solution: Solution | None  # None where there was nothing to learn from
    reached: Reached | None
    values: np.ndarray


@dataclass
class Table:
    """The cells that are done: arrays of shape (n_Cs, n_folds), NaN elsewhere."""

    Cs: np.ndarray
    cells: dict[tuple[int, int], Cell]
    n_folds: int

    def of(self, field: str) -> np.ndarray:
        """Return one field of all cells."""
        out = np.full((self.Cs.size, self.n_folds), np.nan)
        for at, cell in self.cells.items():
            out[at] = getattr(cell, field)
        return out


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
        Told of every cell that counts, when it is done; a list of where its machines are now goes with it.
    on_row : callable (k, Table), optional
        Told of every C that all folds are done with; a true answer ends the path there.
    callback : callable (chain, Progress), optional
        Told of every sweep, from any thread; a true answer ends that training.
    done, reached : mappings, optional
        Cells of an earlier run, and where its machines were: (fold, machine) -> Reached.
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
    ) -> None:
        self._study, self._early, self._on_cell, self._on_row = study, early, on_cell, on_row
        self._callback = callback
        self._n_threads = 1 if study.data.blocks is not None else n_threads
        self.table = Table(Cs, dict(done or {}), len(study.folds))
        self._stopped = Event()
        n_chains = len(study.folds) * study.n_machines
        self._test_share = study.test_share
        each = max(1, self._n_threads // n_chains)
        self._walks = [self._walk(chain, each, reached or {}) for chain in range(n_chains)]
        self._next = [self._first_open(chain // study.n_machines) for chain in range(n_chains)]
        self._parts: dict[tuple[int, int], dict[int, Part]] = {}
        self._row = 0

    def run(self) -> Table:
        """Fill the table as far as the rule goes."""
        if self._n_threads == 1:
            self._run_alone()
        else:
            with threadpool_limits(limits=1, user_api="blas"):
                self._run_together()
        return self.table

    def _walk(self, chain: int, n_threads: int, reached: Mapping[tuple[int, int], Reached]) -> Walk | None:
        study = self._study
        fold, machine = divmod(chain, study.n_machines)
        if not study.is_taught(fold, machine):
            return None
        seed = int(np.random.SeedSequence((study.seed, fold, machine)).generate_state(1, np.uint64)[0])
        return Walk(
            lambda C: study.problem_at(fold, machine, C),
            study.solver,
            study.stop,
            seed=seed,
            free_intercept=study.free_intercept,
            callback=None if self._callback is None else partial(self._callback, chain),
            cancelled=self._stopped.is_set,
            n_threads=n_threads,
            reached=reached.get((fold, machine)),
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
                self._stopped.set()  # threads see neither Ctrl-C nor the rule: they are told, then waited for

    def _choose(self, busy: set[int]) -> int | None:
        """Return the chain to go on with: the one at the smallest C, but none that is two rows ahead."""
        open_chains = [
            (self._next[chain], chain)
            for chain in range(len(self._walks))
            if chain not in busy and self._next[chain] < min(self._row + 2, self.table.Cs.size)
        ]
        return min(open_chains)[1] if open_chains else None

    def _step(self, chain: int) -> Part:
        """Train one machine for its next C, and score the rows that are held out."""
        walk = self._walks[chain]
        held_out = self._study.folds[chain // self._study.n_machines].held_out
        if walk is None:
            return Part(None, None, np.full(held_out.size, -np.inf))
        solution = walk.advance(float(self.table.Cs[self._next[chain]]))
        assert walk.reached is not None
        values = np.empty(held_out.size)
        which = held_out.astype(np.uint64)
        for begin, end in Pace().slices(values.size):
            scores_at(self._study.data.rows, which, walk.reached.w, values, begin, end)
        return Part(solution, walk.reached, values)

    def _take(self, chain: int, part: Part) -> None:
        """Add what a machine has given; where that completes a cell, score it."""
        fold, machine = divmod(chain, self._study.n_machines)
        k = self._next[chain]
        self._next[chain] += 1
        parts = self._parts.setdefault((k, fold), {})
        parts[machine] = part
        if len(parts) < self._study.n_machines:
            return
        del self._parts[k, fold]
        in_order = [parts[m] for m in range(self._study.n_machines)]
        self.table.cells[k, fold] = self._cell(k, fold, in_order)
        if self._on_cell is not None:
            self._on_cell(k, fold, self.table.cells[k, fold], [part.reached for part in in_order])

    def _cell(self, k: int, fold: int, parts: list[Part]) -> Cell:
        C = float(self.table.Cs[k])
        values = np.column_stack([part.values for part in parts])
        weights = [part.reached and part.reached.w for part in parts]
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
            self._row += 1
            if self._row < table.Cs.size and (asked or (self._early is not None and self._ends(self._early))):
                table.cells = {at: cell for at, cell in table.cells.items() if at[0] < self._row}
                return True
        return self._row == table.Cs.size

    def _ends(self, early: EarlyEnd) -> bool:
        scores, work = self.table.of("score")[: self._row], self.table.of("work")[: self._row]
        return early.ends(scores, work.sum(axis=1), self._test_share)
