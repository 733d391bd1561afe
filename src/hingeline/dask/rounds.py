"""Rounds: the coordinator asks all hosts, and adds up what they answer. Lost hosts are replaced.

Hosts are Dask actors, one per worker that holds partitions, created by tasks of Dask's scheduler. A call of an actor
takes one to two milliseconds, a task ten times as long, and Newton's method for few features makes dozens of calls.
Calls go from the client to the workers, or through the scheduler if the client cannot reach them. Large results are
added up along a binary tree of workers, so the client receives only one.

If a worker dies, Dask recomputes its partitions, and they are given to new hosts. All that these know about the problem
is w.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import wait
from contextlib import suppress
from dataclasses import replace
from itertools import count
from time import perf_counter
from typing import Any
from uuid import uuid4

import numpy as np
from distributed import Client, Future, get_worker
from distributed.protocol.serialize import to_serialize

from ..solution import Progress, Solution
from ..solvers.clock import Ended
from ..solvers.stop import Stop
from .costs import Costs
from .host import Solve
from .merge import n_bytes, unpacked
from .messages import Call, Message, Reply, merged_replies, reply_of
from .partitions import Partitions
from .placement import Place, Placement, tree
from .select import Cluster
from .spec import Opened, Spec, Summary
from .versions import check_version

LOST = "worker lost"  # the stop reason of an engine whose rows have been replaced
GONE = ("cancelled", "error", "lost")  # what is left of a host whose worker has died
WATCH = 0.25  # seconds between two looks at a host that does not answer
REACH = 2.0  # seconds that a worker may take to answer a client that has never talked to it
TREE_HOSTS, TREE_BYTES = 4, 1 << 18  # hosts, and bytes of a result, from which a tree is faster than the client alone


_serial = count()


class Hosts:
    """The hosts of some partitions.

    Attributes
    ----------
    costs : Costs
    """

    def __init__(self, partitions: Partitions) -> None:
        self.client: Client = partitions.client
        self._parts, self.n_features = partitions.parts, partitions.n_features
        self._n_stored = partitions.n_stored
        self._opened: dict[str, Opened] = {}
        self._whole_at: set[float] = set()  # biases with which the first host has gathered all rows
        self._alone: dict[str, Place] = {}  # problems that one worker has solved
        self.costs = Costs()
        self._direct = True
        self._placement, self._places = Placement(partitions), list[Place]()
        self._places = self._placed(range(len(self._parts)))

    @property
    def n_hosts(self) -> int:
        """How many hosts there are."""
        return len(self._places)

    def cluster(self, bias: float) -> Cluster:
        """Return what a cost model asks about the hosts' workers."""
        return Cluster(len(self._places), self._placement.memory, bias in self._whole_at)

    def _placed(self, numbers: Sequence[int]) -> list[Place]:
        """Return new hosts for partitions, of this version."""
        places = self._placement.placed(numbers, [place.address for place in self._places])
        self._direct = self._direct and self._can_reach(places)
        for place in places:
            with suppress(OSError):  # it is lost again, which the next round will notice
                check_version(place.address, self.client.sync(self._plain, place, "hello"))
        return places

    def _can_reach(self, places: list[Place]) -> bool:
        """Tell whether the client can reach the workers directly, without the scheduler."""

        async def reach() -> None:
            await asyncio.wait_for(asyncio.gather(*(self._call(place, "hello") for place in places)), REACH)

        try:
            self.client.sync(reach)
        except asyncio.TimeoutError:
            return False
        except OSError:
            return self._direct  # a worker has died; others were reached before
        return True

    # Problems.

    def open(self, spec: Spec, w: np.ndarray) -> tuple[str, Summary]:
        """Begin a problem at w; returns its name and sizes."""
        name = f"problem-{next(_serial)}"
        self._opened[name] = Opened(spec, w.copy())
        start = w if w.any() else None
        try:
            return name, self._gathered(self._places, "open", name, spec, start).values[0]
        except BaseException:
            self._opened.pop(name, None)
            raise

    def solve_sample(self, name: str, step: int, total_C: float, solve: Solve) -> Any:
        """Return ``solve`` of one row in ``step``, on one worker that gathers them; None if there are none."""
        root = tree(self._places)
        args = (name, self._opened[name].spec, step, total_C, solve, root.below)
        values = self._replies(self._places[:1], lambda place: self._asked(place, "solve_sample", *args))[0].values
        return values[0] if values else None

    def solve_whole(self, name: str, stop: Stop, free: bool, watch: Callable[[Progress], Any] | None) -> Solution:
        """Return the solution that one worker finds, which gathers all rows; ``watch`` sees how far it has come."""
        places, root = self._places, tree(self._places)
        opened = self._opened[name]
        args = (name, opened.spec, stop, free, opened.w, root.below, opened.spec.bias not in self._whole_at)
        loop: Any = self.client.loop
        ask = asyncio.run_coroutine_threadsafe(
            self._timed(places[:1], lambda place: self._asked(place, "solve_whole", *args)), loop.asyncio_loop
        )
        ends, seen = False, None
        try:
            while not ask.done():
                wait([ask], timeout=WATCH)
                if watch is not None and not ask.done():
                    progress = self.client.sync(self._progress, places[0], ends)
                    if progress is not None and progress != seen:
                        seen, ends = progress, ends or bool(watch(progress))
        finally:
            ask.cancel()
        solution: Solution = self._checked(ask.result())[0].values[0]
        self._alone[name] = places[0]
        self._whole_at = {self._opened[name].spec.bias}
        return solution

    async def _progress(self, place: Place, ends: bool) -> Progress | None:
        try:
            found: Progress | None = await self._plain(place, "progress", ends)
        except OSError:
            return None
        return found

    def moved(self, name: str, w: np.ndarray) -> None:
        """Store the current w, which is all that a new host will know about the problem."""
        self._opened[name].w = w

    def measured_from(self, name: str, level: float) -> None:
        """Store what targets are measured from, for new hosts."""
        opened = self._opened[name]
        opened.spec = replace(opened.spec, level=level)

    # Rounds.

    def ask(self, name: str, calls: Sequence[Call], expected_bytes: int = 0) -> tuple[Any, ...]:
        """Send the same calls to all hosts; returns their merged answers.

        Raises ``Ended(LOST)`` if rows had to be placed again: their hosts know only w.
        """
        places, message = self._places, Message(name, tuple(calls))
        if len(places) >= TREE_HOSTS and expected_bytes >= TREE_BYTES:
            root = tree(places)
            replies = self._replies(places[:1], lambda place: self._asked(place, "do_all", message, root.below))
        else:
            replies = self._replies(places, lambda place: self._asked(place, "do", message))
        return merged_values(replies)

    def _gathered(self, places: list[Place], function: str, *args: Any) -> Reply:
        replies = self._replies(places, lambda place: self._asked(place, function, *args))
        return Reply(merged_values(replies))

    def _replies(
        self, places: list[Place], ask: Callable[[Place], Coroutine[Any, Any, tuple[Reply, int]]]
    ) -> list[Reply]:
        """Ask hosts at the same time; returns their replies, or replaces those that are lost and raises."""
        return self._checked(self.client.sync(self._timed, places, ask))

    async def _timed(
        self, places: list[Place], ask: Callable[[Place], Coroutine[Any, Any, tuple[Reply, int]]]
    ) -> list[Reply]:
        """Ask hosts at the same time, and count the cost."""
        started = perf_counter()
        answers = await asyncio.gather(*map(ask, places))
        replies = [reply for reply, _ in answers]
        moved = sum(sent + reply.n_bytes for reply, sent in answers)
        self.costs.add(perf_counter() - started, max(reply.seconds for reply in replies), moved)
        return replies

    def _checked(self, replies: list[Reply]) -> list[Reply]:
        """Return replies, or replace hosts that are lost and raise."""
        lost = {key for reply in replies for key in reply.lost}
        if lost:
            self._replace(lost)
            raise Ended(LOST)
        for reply in replies:
            if reply.error is not None:
                raise reply.error
        return replies

    async def _asked(self, place: Place, function: str, *args: Any) -> tuple[Reply, int]:
        """Call a function of a host; returns the reply, which may say that the host is lost, and the bytes sent."""
        call = asyncio.ensure_future(self._call(place, function, *args))
        try:
            while not call.done():
                await asyncio.wait({call}, timeout=WATCH)
                if not call.done() and place.future.status in GONE:
                    return Reply(lost=(place.key,)), 0
            reply = reply_of(call.result(), place.key)
        except (OSError, KeyError):  # no worker there, or one that does not know this host
            return Reply(lost=(place.key,)), 0
        finally:
            call.cancel()
        return reply, _sent(args) + n_bytes(reply.values)

    async def _call(self, place: Place, function: str, *args: Any) -> dict[str, Any]:
        """Call a function of a host directly, not through Dask's actor proxy, which may wait for ever."""
        message = {"function": function, "actor": place.key, "args": [to_serialize(arg) for arg in args], "kwargs": {}}
        if self._direct:
            return dict(await self.client.rpc(place.address).actor_execute(**message))
        assert self.client.scheduler is not None
        return dict(await self.client.scheduler.proxy(worker=place.address, msg={"op": "actor_execute", **message}))

    async def _plain(self, place: Place, function: str, *args: Any) -> Any:
        """Return what a host's function returns, if that is no reply."""
        return (await self._call(place, function, *args)).get("result")

    def _replace(self, lost: set[str]) -> None:
        """Make new hosts for the partitions of lost ones, and tell them of the problems."""
        homeless = [k for place in self._places if place.key in lost for k in place.numbers]
        self._places = [place for place in self._places if place.key not in lost]
        new = self._placed(homeless)
        self._places = sorted([*self._places, *new])
        self._whole_at = set()
        for name, opened in self._opened.items():
            self._gathered(new, "open", name, opened.spec, opened.w)

    def cancel(self) -> None:
        """Stop what hosts are doing and release them: nothing is left behind on the workers."""

        async def tell() -> None:
            calls = (self._plain(place, "cancel") for place in self._places)
            await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), REACH)

        with suppress(OSError, asyncio.TimeoutError):
            self.client.sync(tell)
        self.release()

    def release(self) -> None:
        """Release the hosts."""
        for place in self._places:
            place.future.release()
        self._places, self._opened = [], {}

    def alpha(self, name: str) -> list[Future[Any]]:
        """End a problem; returns the dual variables of every partition, as futures of arrays on the workers."""
        del self._opened[name]
        futures = {}
        for place in self._places:
            for k in place.numbers:
                home = self._alone.get(name, place)
                futures[k] = self.client.submit(
                    _alpha_of,
                    home.key,
                    name,
                    k,
                    key=f"hingeline-dual-variables-{name}-{uuid4().hex[:8]}-of-partition-{k}",
                    workers=[home.address],
                    pure=False,
                )
                futures[k].add_done_callback(lambda _, host=home.future: None)  # the host stays until then
        self._alone.pop(name, None)
        return [futures[k] for k in range(len(self._parts))]


def merged_values(replies: list[Reply]) -> tuple[Any, ...]:
    """Return the merged values of all replies."""
    return tuple(unpacked(merged_replies(replies).values))


def _alpha_of(host: str, name: str, number: int) -> np.ndarray:
    """Take the dual variables of a partition from a host on this worker (runs as a task)."""
    own: Any = get_worker().state.actors[host]
    alpha: np.ndarray = own.take_alpha(name, number)
    return alpha


def _sent(args: tuple[Any, ...]) -> int:
    """Return about how many bytes arguments take."""
    return sum(n_bytes(arg.calls) if isinstance(arg, Message) else n_bytes(arg) for arg in args)
