"""The hybrid for data that does not fit in memory: blocks in file order, and active rows that stay.

Problem    min_w   |w|^2/2 + sum_i C_i max(0, 1 - y_i <x_i, w>)
Dual       max_a   W(a) = sum_i a_i - |w|^2/2,   w = sum_i a_i y_i x_i,   0 <= a_i <= C_i

Reading a row from a file costs far more than a step, so every row that was read is used as much as possible:

- A *file sweep* reads blocks of rows. Files are often sorted, and sweeps in sorted order converge badly: w follows the
  current block and forgets the others. So several blocks from all over the file are in memory together (each of these
  cursors moves on in file order), and their rows are visited in turns, in random order within a block. Blocks that
  contribute little to the duality gap are read only every other time.
- Before a block leaves memory, its active rows (those not pressing against a bound) are copied, as many as fit.
  *Resident sweeps* over the copies follow, with hard shrinking and adaptive frequencies as in memory, until what they
  can still gain is small compared with what the file sweep saw.

A file sweep over all blocks verifies the result. Dual variables and w always belong to the whole problem: every step of
either kind of sweep increases the same W, so the optimum is the same as in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import numpy as np

from ...data.blocks import Block
from ...kernels.schedule import Learning, Preferences, keep_active
from ...kernels.shrink import Thresholds, cautious_thresholds, next_thresholds
from ...kernels.types import Flags, Indices, Vector
from ...kernels.variables import Variables
from ...runtime.pace import SLICE_SECONDS
from ..driver import Run, Verdict
from ..state import State
from ..visit_order import fill_from_accounts, new_accounts, shuffle_first, total_preference
from .active_sweep import Seen, visit_active
from .resident_rows import Part, Shelf

MORE_PASSES = 1  # additional passes over the active rows of blocks while they are in memory
MOST_RESIDENT = 12  # sweeps over the resident rows between two file sweeps
RESIDENT_DONE = 0.05  # the file is read again once resident gap terms are this fraction of the file sweep's
UNKNOWN_GAP = 1e300  # resident rows do not know the gap; a gap this large makes no run read all files to check it
LOW_BLOCK = 0.1  # a block with less than this fraction of the blocks' mean gap is skipped once
TURNS, SHORTEST_TURN = 16, 128  # number of turns that a part's visits are cut into; least visits per turn


class Sweeper:
    """What both kinds of sweep share: w, D_ref, and the random generator."""

    def __init__(self, state: State, run: Run, preferences: Preferences) -> None:
        self.state, self.run, self.preferences = state, run, preferences
        self._accounts = new_accounts(state.problem.data.n_rows)
        self._D_ref, self._begun = 0.0, False
        state.variables.p[:] = 1.0

    def part_of(self, block: Block) -> Part:
        """Return all rows of ``block`` that belong to the problem, none of them hidden."""
        inside = slice(block.begin, block.end)
        variables = Variables(*(field[inside] for field in self.state.variables))
        np.abs(variables.p, out=variables.p)
        kept = self.state.problem.kept
        if kept is None:
            A = np.arange(block.n_rows, dtype=np.uint32)
        else:
            first, last = np.searchsorted(kept, (block.begin, block.end))
            A = kept[first:last] - np.uint32(block.begin)
        return Part(block.rows, variables, self._accounts[inside], A)

    def visit(self, parts: list[Part], thresholds: Thresholds, once: bool) -> list[Seen]:
        """Visit the rows in A of ``parts`` in turns, once each or as often as their preferences say; some leave A."""
        run, state = self.run, self.state
        n_active = max(1, sum(part.A.size for part in parts))
        total = sum(total_preference(part.variables.p, part.A, run.shuffles) for part in parts)
        scale = n_active / max(1e-300, total)
        schedules = [part.A.copy() if once else self._by_preference(part, scale) for part in parts]
        for I in schedules:
            shuffle_first(I, I.size, state.rng, run.shuffles)
        rule = (thresholds, Learning(*self.preferences, 1.0 / n_active, True, not self._begun), once)
        self._begun = True
        seen = [Seen() for _ in parts]
        for k, begin, end in _turns([I.size for I in schedules]):
            I = schedules[k][:end]
            what = (parts[k].rows, state.problem.loss, parts[k].variables, state.w, I)
            for first, last in run.visits.slices(end - begin):
                so_far = seen[k]._replace(D_ref=self._D_ref)
                seen[k] = Seen(*visit_active(*what, begin + first, begin + last, *rule, so_far))
                self._D_ref = seen[k].D_ref
        for part in parts:
            part.A = part.A[: keep_active(part.variables.p, part.A, part.A.size)]
        return seen

    def _by_preference(self, part: Part, scale: float) -> Indices:
        I = np.empty(2 * part.A.size, dtype=np.uint32)
        n = fill_from_accounts(part.variables.p, part.A, part.accounts, I, scale, self.run.shuffles)
        return I[:n]


def _turns(sizes: list[int]) -> Iterator[tuple[int, int, int]]:
    """Cut schedules of these ``sizes`` into turns; yields whose turn it is, and its begin and end."""
    lengths = [max(SHORTEST_TURN, -(-size // TURNS)) for size in sizes]
    for turn in range(TURNS):
        left = False
        for k, (size, length) in enumerate(zip(sizes, lengths, strict=True)):
            if turn * length < size:
                yield k, turn * length, min(size, (turn + 1) * length)
                left |= (turn + 1) * length < size
        if not left:
            break


def out_of_core(state: State, run: Run, preferences: Preferences = Preferences()) -> None:
    """Run the out-of-core hybrid on ``state`` until it has converged or ``run`` ends it."""
    blocks = state.problem.data.blocks
    assert blocks is not None
    while not blocks.in_use.acquire(timeout=SLICE_SECONDS):
        run.clock.check()
    try:
        shelf = Shelf(state.problem.loss, len(blocks), blocks.resident_bytes)
        _sweeps(Sweeper(state, run, preferences), shelf, len(blocks))
    finally:
        blocks.in_use.release()


def _sweeps(sweeper: Sweeper, shelf: Shelf, n_blocks: int) -> None:
    """Sweep over the files and over the shelf in turn."""
    run = sweeper.run
    gaps, skipped = np.full(n_blocks, inf), np.zeros(n_blocks, dtype=bool)
    thresholds = inner = before = Thresholds()
    resident, file_gap = 0, 0.0  # resident sweeps since the file was last read, and the gap terms seen in that sweep
    for _ in run.sweeps():
        if resident == 0:
            due = skipped | (gaps >= LOW_BLOCK * gaps.mean())
            seen = file_sweep(sweeper, shelf, thresholds, gaps, due)
            complete, skipped = bool(due.all()), ~due
            violation = seen.violation
            criterion = violation if complete else inf
            verdict = run.sweep(seen.steps, violation, seen.gain, float(gaps.sum()), criterion, complete)
            if verdict is Verdict.SATISFIED:
                break
            if verdict is Verdict.REFUTED or violation < run.stop.tol:
                skipped[:] = True  # the next sweep reads every block, and can be the last
            thresholds = inner = before = next_thresholds(seen.v_min, seen.v_max)
            file_gap = seen.gap
            resident = 1 if shelf.parts else 0
        else:
            seen = resident_sweep(sweeper, shelf, inner)
            violation = seen.violation
            verdict = run.sweep(seen.steps, violation, seen.gain, UNKNOWN_GAP, inf, complete=False)
            last = next_thresholds(seen.v_min, seen.v_max)
            inner, before = cautious_thresholds(resident, last, before), last
            small = seen.gap <= RESIDENT_DONE * file_gap or (run.stop.gap_tol is None and violation < run.stop.tol)
            resident = 0 if small or verdict is not Verdict.GO_ON or resident == MOST_RESIDENT else resident + 1


def file_sweep(sweeper: Sweeper, shelf: Shelf, thresholds: Thresholds, gaps: Vector, due: Flags) -> Seen:
    """Read the blocks that are ``due``, work on them, and keep their active rows; sets their ``gaps``."""
    blocks = sweeper.state.problem.data.blocks
    assert blocks is not None
    numbers = np.flatnonzero(due)
    n_groups = -(-numbers.size // blocks.together)
    total = Seen()
    with blocks.read([numbers[k::n_groups].tolist() for k in range(n_groups)]) as stream:
        for group in stream:
            parts = [sweeper.part_of(block) for block in group]
            seen = sweeper.visit(parts, thresholds, once=True)
            gaps[[block.number for block in group]] = [one.gap for one in seen]
            together = _all_of(seen)
            total = _all_of([total, together])
            for _ in range(MORE_PASSES):
                together = _all_of(sweeper.visit(parts, next_thresholds(together.v_min, together.v_max), once=False))
                total = total._replace(steps=total.steps + together.steps, gain=total.gain + together.gain)
            for block, part in zip(group, parts, strict=True):
                shelf.keep(block.number, part)
    shelf.share_out()
    return total


def resident_sweep(sweeper: Sweeper, shelf: Shelf, thresholds: Thresholds) -> Seen:
    """Visit the rows that were kept, parts from all over the file together, as often as their preferences say."""
    parts = [part for part in shelf.parts.values() if part.A.size]
    blocks = sweeper.state.problem.data.blocks
    assert blocks is not None
    n_groups = -(-len(parts) // blocks.together)
    return _all_of([one for k in range(n_groups) for one in sweeper.visit(parts[k::n_groups], thresholds, once=False)])


def _all_of(seen: list[Seen]) -> Seen:
    """Merge what the parts of a sweep have seen."""
    steps, v_min, v_max, D_ref, gain, gap, gain_at_p_max = zip(*(seen or [Seen()]), strict=True)
    return Seen(sum(steps), min(v_min), max(v_max), D_ref[-1], sum(gain), sum(gap), sum(gain_at_p_max))
