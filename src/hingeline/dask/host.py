"""What lives on a worker: an actor that holds the partitions there, and the problems that are trained on them.

An actor stays on its worker: its state is never copied to another one, and is lost with the worker. A message names its
problem; a host that does not know the problem says so, and is told.
"""

from __future__ import annotations

import asyncio
import atexit
import gc
import multiprocessing
import weakref
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import replace
from functools import cache, partial
from math import inf
from threading import Lock
from typing import Any

import numpy as np
from distributed import get_worker
from distributed.protocol.serialize import to_serialize

from ..data.matrix import Data
from ..data.problem import Problem
from ..data.read import read_data
from ..runtime.threads import Team
from ..solution import Look, Progress, Solution
from ..solvers.engines import AUTO, NEWTON, NEWTON_CG
from ..solvers.free_intercept import train_free
from ..solvers.newton.directions import LARGEST_FACTOR
from ..solvers.shards.alpha import starting_alpha
from ..solvers.shards.in_memory import InMemoryShards
from ..solvers.shards.interface import Shards
from ..solvers.shards.kernels import Vectors
from ..solvers.start import from_weights
from ..solvers.state import Near
from ..solvers.stop import Stop
from ..solvers.train import train
from ..version import __version__
from .costs import Stopwatch
from .merge import GatheredRows, n_bytes, packed
from .messages import OPEN, Branch, Message, Reply, Start, UnknownProblem, merged_replies, reply_of
from .partitions import Block
from .resident import Resident
from .spec import Spec
from .target import Target

Solve = Callable[[Shards], Any]
FIRST_LOOK, NEXT_LOOK = 0.5, 1.5  # one worker stores its weights after so many seconds, then after so many times that


class Host:
    """The partitions on one worker.

    Parameters
    ----------
    numbers : tuple of int
        The numbers of the partitions.
    blocks : Block
        Their rows.
    """

    def __init__(self, numbers: tuple[int, ...], *blocks: Block) -> None:
        self._blocks = dict(zip(numbers, blocks, strict=True))
        self._worker = get_worker()
        exit_quickly()
        self._team = Team(self._worker.state.nthreads)
        weakref.finalize(self, self._team.dismiss)
        self._data: dict[float, dict[int, Data]] = {}
        self._residents: dict[str, Resident] = {}
        self._whole: dict[float, Data] = {}  # the rows of all hosts, if this one has gathered them, by their bias
        self._labels: dict[Any, GatheredRows] = {}  # labels or targets of all rows in the last problem without weights
        self._alphas: dict[str, dict[int, np.ndarray]] = {}
        self._room: dict[int, Vectors] = {}
        self._of_target: dict[int, tuple[Target, np.ndarray]] = {}  # labels or targets of the last problem
        self._lock = Lock()
        self._progress: Progress | None = None
        self._reached, self._next_look = np.empty(0), FIRST_LOOK  # weights, and when to store the next ones
        self._cancelled = self._ends = False

    def hello(self) -> str:
        """Return the version of this package."""
        return __version__

    async def cancel(self) -> None:
        """Stop the current work, within one slice."""
        self._cancelled = True

    def _check(self) -> None:
        if self._cancelled:
            raise CancelledError

    def open(self, name: str, spec: Spec, w: np.ndarray | None, delta: float | None) -> Reply:
        """Begin a problem, with dual variables that match w (smoothed at width ``delta``) if that is given."""
        watch = Stopwatch()
        try:
            return Reply((self._begun(name, spec, w, delta).summary(),), watch.seconds, watch.compiled)
        except BaseException as error:
            return Reply(error=error)

    def _begun(self, name: str, spec: Spec, w: np.ndarray | None, delta: float | None) -> Resident:
        """Return the partitions as they take part in a problem that begins."""
        self._forget_progress()
        problems = {
            number: spec.problem(
                number, data, self._blocks[number].y, self._blocks[number].sample_weight, self._values(number, spec)
            )
            for number, data in self._rows(spec.bias).items()
        }
        resident = self._residents[name] = Resident(problems, self._team, self._check, self._room)
        if w is not None:
            resident.revive(w, delta)
        return resident

    def _forget_progress(self) -> None:
        """Forget what earlier training has reached, and that it was to end."""
        self._cancelled, self._ends, self._progress = False, False, None
        self._reached, self._next_look = np.empty(0), FIRST_LOOK

    def _rows(self, bias: float) -> dict[int, Data]:
        """Return the partitions as compiled code sees them."""
        if bias not in self._data:
            n_threads = self._team.n_threads
            self._data[bias] = {k: read_data(block.X, bias, n_threads) for k, block in self._blocks.items()}
        return self._data[bias]

    def _values(self, number: int, spec: Spec) -> np.ndarray:
        """Return the labels or targets of a partition; problems that differ in C or loss share them."""
        if number not in self._of_target or self._of_target[number][0] != spec.target:
            values = spec.target.values(self._blocks[number].y)
            self._of_target[number] = (spec.target, values)
        return self._of_target[number][1]

    async def solve_sample(
        self, first: Message, spec: Spec, step: int, total_C: float, solve: Solve, below: tuple[Branch, ...]
    ) -> Reply:
        """Gather one row in ``step`` from all hosts, and return ``solve`` of them; nothing if there are none.

        ``first`` names the problem, and what hosts have to do before.
        """

        def work(sample: GatheredRows) -> Any:
            share = float(sample.C.sum()) / total_C
            if share == 0.0:
                return None
            part = problem_of(read_data(sample.X, spec.bias), sample, spec, share)
            return solve(InMemoryShards(part, starting_alpha(part), self._team, self._check))

        return await self._with_rows(first, step, True, below, work)

    async def solve_whole(
        self, first: Message, spec: Spec, stop: Stop, free: bool, start: Start, below: tuple[Branch, ...], afresh: bool
    ) -> Reply:
        """Gather all rows, unless they are here already, and train as on one machine; alpha stays here.

        ``first`` names the problem, and what hosts have to do before they send rows. ``afresh`` says that the rows here
        may be in another order, since hosts have changed.
        """
        self._forget_progress()
        if afresh:
            self._whole, self._labels = {}, {}
        labels = (spec.bias, spec.target, spec.level)
        unweighted = spec.class_weight is None and spec.fold is None

        def work(rows: GatheredRows) -> Solution:
            if rows.X is not None:
                self._whole = {spec.bias: read_data(rows.X, spec.bias, self._team.n_threads)}
            if unweighted and (rows.C == spec.loss.C).all():
                self._labels = {labels: rows._replace(X=None)}
            problem = problem_of(self._whole[spec.bias], rows, spec)
            note = self._note if free else partial(self._note_weights, bias=spec.bias)
            how: dict[str, Any] = {"seed": start.seed, "callback": note, "cancelled": lambda: self._cancelled}
            how["n_threads"] = self._team.n_threads
            if start.is_near and not free and spec.loss.is_smooth:  # dual variables made from w may be poor
                engine = NEWTON if start.w.size <= LARGEST_FACTOR else NEWTON_CG
                found = train(problem, engine, stop.or_enough(spec.loss), near=Near(start.w, inf), **how)
            else:
                if start.w.any():
                    how["alpha0"] = from_weights(problem, start.w)
                found = (train_free if free else train)(problem, AUTO, stop, **how)
            ends = np.cumsum([size for _, size in rows.sizes])[:-1]
            numbers = [number for number, _ in rows.sizes]
            self._alphas[first.problem] = dict(zip(numbers, map(np.array, np.split(found.alpha, ends)), strict=True))
            return replace(found, alpha=np.empty(0))

        if unweighted and labels in self._labels:
            return await self._worked(work, self._labels[labels]._replace(C=np.full(1, spec.loss.C)), Reply())
        return await self._with_rows(first, 1, spec.bias not in self._whole, below, work)

    async def _with_rows(
        self, first: Message, step: int, with_X: bool, below: tuple[Branch, ...], work: Callable[[GatheredRows], Any]
    ) -> Reply:
        """Gather rows from all hosts, and work on them here."""
        gathered = await self.do_all(replace(first, calls=(*first.calls, ("rows", (step, with_X)))), below)
        if gathered.error is not None or gathered.lost or not gathered.values:
            return gathered
        rows: GatheredRows = gathered.values[0]
        return await self._worked(work, rows, replace(gathered, n_bytes=n_bytes(tuple(rows[:3]))))

    async def _worked(self, work: Callable[[GatheredRows], Any], rows: GatheredRows, gathered: Reply) -> Reply:
        """Work on rows that are here; ``gathered`` says what it cost to gather them."""

        def timed() -> Reply:
            watch = Stopwatch()
            try:
                found = work(rows)
            except BaseException as error:
                return Reply(error=error)
            seconds, compiled = gathered.seconds + watch.seconds, gathered.compiled + watch.compiled
            return Reply(() if found is None else (found,), seconds, compiled, n_bytes=gathered.n_bytes)

        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker.executors["actor"], timed)

    def _note(self, progress: Progress) -> bool:
        """Store how far training has come; return True if it should end."""
        self._progress = progress._replace(look=Look())
        return self._ends

    def _note_weights(self, progress: Progress, bias: float) -> bool:
        """Do as ``_note`` does, and store the weights from time to time: another worker may have to continue."""
        if progress.seconds >= self._next_look:
            self._next_look = NEXT_LOOK * progress.seconds
            at = progress.look()
            self._reached = np.append(at.w, at.intercept / bias if bias else 0.0)
        return self._note(progress)

    async def progress(self, ends: bool) -> tuple[Progress | None, np.ndarray]:
        """Return how far training on this worker is, and its weights if they are new; ``ends`` tells it to end."""
        self._ends = ends
        reached, self._reached = self._reached, self._reached[:0]
        return self._progress, reached

    def take_alpha(self, name: str, number: int) -> np.ndarray:
        """Hand over the dual variables of a partition; a problem that has handed over all of them has ended."""
        with self._lock:  # tasks call this, and a worker may have several threads for tasks
            if name in self._residents:
                resident = self._residents.pop(name)
                resident.leave_room()
                if name not in self._alphas:
                    self._alphas[name] = dict(zip(resident.numbers, [s.alpha for s in resident.shards], strict=True))
            found = self._alphas[name]
            alpha = found.pop(number)
            if not found:
                del self._alphas[name]
        return alpha

    def forget(self, name: str) -> None:
        """Forget a problem that another host has solved alone."""
        with self._lock:
            resident = self._residents.pop(name, None)
            if resident is not None:
                resident.leave_room()

    def do(self, message: Message) -> Reply:
        """Execute a message."""
        watch = Stopwatch()
        try:
            calls = message.calls
            if calls and calls[0][0] == OPEN:
                self._begun(message.problem, *calls[0][1])
                calls = calls[1:]
            if message.problem not in self._residents:
                raise UnknownProblem(message.problem)
            resident = self._residents[message.problem]
            values = [resident.do(verb, args) for verb, args in calls]
            return Reply(packed(tuple(v for v in values if v is not None)), watch.seconds, watch.compiled)
        except BaseException as error:
            return Reply(error=error)

    async def do_all(self, message: Message, below: tuple[Branch, ...]) -> Reply:
        """Execute a message, let the hosts below do so at the same time, and add up the replies."""
        loop = asyncio.get_running_loop()
        own = loop.run_in_executor(self._worker.executors["actor"], self.do, message)
        replies = await asyncio.gather(own, *(self._ask(branch, message) for branch in below))
        try:
            return merged_replies(replies)
        except Exception as error:  # without an answer, this host would count as lost
            return Reply(error=error)

    async def _ask(self, branch: Branch, message: Message) -> Reply:
        args = [to_serialize(message), to_serialize(branch.below)]
        rpc = self._worker.rpc(branch.address)
        try:
            answer = await rpc.actor_execute(function="do_all", actor=branch.key, args=args, kwargs={})
        except (OSError, KeyError):
            return Reply(lost=(branch.key,))
        return reply_of(answer, branch.key)


@cache
def exit_quickly() -> None:
    """Let a worker process end without a last garbage collection, which would go through all that numba has loaded.

    On a busy machine that takes longer than a worker has before its nanny kills it.
    """
    if multiprocessing.parent_process() is not None:
        atexit.register(gc.freeze)


def problem_of(data: Data, rows: GatheredRows, spec: Spec, share: float = 1.0) -> Problem:
    """Return the problem of rows that were gathered; a sample has a ``share`` of the whole's weight."""
    C = rows.C / share
    kept = None
    if data.smallest_q <= 0.0 or not (C > 0.0).all():
        kept = np.flatnonzero((data.q > 0.0) & (C > 0.0)).astype(np.uint32)
    return Problem(data, rows.y, float(C[0]) if (C == C[0]).all() else C, spec.loss, kept)
