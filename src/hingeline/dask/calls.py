"""Calls: the client asks hosts, watches them meanwhile, and counts what it costs.

Hosts are actors of Dask. A call of an actor takes one to two milliseconds, a task ten times as much, and Newton's
method for few features asks dozens of times. Calls go from the client to the workers, or through the scheduler if the
client cannot reach them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future as Answer
from contextlib import suppress
from typing import Any

from distributed import Client
from distributed.protocol.serialize import to_serialize

from ..runtime.training_clock import leave_out
from .costs import Costs, Stopwatch
from .merge import n_bytes
from .messages import Message, Reply, reply_of
from .placement import Place
from .versions import check_version

GONE = ("cancelled", "error", "lost")  # what is left of a host whose worker has died
WATCH = 0.02  # seconds between two looks at hosts that have not answered yet
REACH = 2.0  # seconds that a worker may take to answer a client that has never talked to it


class Lost(OSError):
    """Raised if hosts are lost while one of them is asked."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        super().__init__(f"lost: {keys}")
        self.keys = keys


class Calls:
    """How a client asks hosts.

    Attributes
    ----------
    costs : Costs
        What calls have cost so far.
    """

    def __init__(self, client: Client) -> None:
        self._client, self._direct = client, True
        self.costs = Costs()

    def greet(self, places: Sequence[Place]) -> None:
        """Find out how new hosts can be reached, and check their version."""
        self._direct = self._direct and self._can_reach(places)
        for place in places:
            with suppress(OSError):  # it is lost again, which the next round will notice
                check_version(place.address, self._client.sync(self._plain, place, "hello"))

    def _can_reach(self, places: Sequence[Place]) -> bool:
        """Tell whether the client can talk to the workers without the scheduler in between."""

        async def reach() -> None:
            await asyncio.wait_for(asyncio.gather(*(self._plain(place, "hello") for place in places)), REACH)

        try:
            self._client.sync(reach)
        except asyncio.TimeoutError:
            return False
        except OSError:
            return self._direct  # a worker has died; others were reached before
        return True

    def replies(self, places: Sequence[Place], watched: Sequence[Place], function: str, *args: Any) -> list[Reply]:
        """Call a function of hosts at the same time; hosts that are lost are replies too.

        ``watched`` are the hosts that it takes, which may be more: if one of them is lost, there is no other reply.
        """
        found: list[Reply] = self._client.sync(self._timed, places, watched, function, *args)
        return found

    def begin(self, place: Place, watched: Sequence[Place], function: str, *args: Any) -> Answer[list[Reply]]:
        """Do as ``replies`` does for one host, without waiting for it."""
        loop: Any = self._client.loop
        return asyncio.run_coroutine_threadsafe(self._timed([place], watched, function, *args), loop.asyncio_loop)

    def value(self, place: Place, function: str, *args: Any) -> Any:
        """Return what a host's function returns, if that is no reply; None if the host is lost."""
        try:
            return self._client.sync(self._plain, place, function, *args)
        except OSError:
            return None

    def tell(self, places: Sequence[Place], function: str, *args: Any) -> None:
        """Call a function of hosts without minding what becomes of it."""

        async def tell() -> None:
            calls = (self._plain(place, function, *args) for place in places)
            await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), REACH)

        with suppress(OSError, asyncio.TimeoutError):
            self._client.sync(tell)

    async def _timed(self, places: Sequence[Place], watched: Sequence[Place], function: str, *args: Any) -> list[Reply]:
        """Ask hosts at the same time, and count what it costs; the clock of training leaves compiling out."""
        watch = Stopwatch()
        replies = await asyncio.gather(*(self._asked(place, watched, function, *args) for place in places))
        computing = max(reply.seconds for reply in replies)
        compiled = max(reply.seconds + reply.compiled for reply in replies) - computing
        leave_out(max(0.0, compiled - watch.compiled))  # workers of this process have stopped its clock themselves
        moved = sum(reply.n_bytes + n_bytes(reply.values) for reply in replies) + len(places) * sent(args)
        self.costs.add(watch.seconds, computing, moved)
        return replies

    async def _asked(self, place: Place, watched: Sequence[Place], function: str, *args: Any) -> Reply:
        """Call a function of a host; a host that is lost is a reply too."""
        try:
            return reply_of(await self._watched(place, watched, function, *args), place.key)
        except Lost as lost:
            return Reply(lost=lost.keys)
        except (OSError, KeyError):  # no worker there, or one that knows nothing of this host
            return Reply(lost=(place.key,))

    async def _watched(self, place: Place, watched: Sequence[Place], function: str, *args: Any) -> dict[str, Any]:
        """Call a function of a host, and look at ``watched`` meanwhile: Dask tries for long to reach a dead worker."""
        call = asyncio.ensure_future(self._call(place, function, *args))
        try:
            while not call.done():
                await asyncio.wait({call}, timeout=WATCH)
                gone = tuple(other.key for other in watched if other.future.status in GONE)
                if gone and not call.done():
                    raise Lost(gone)
            return call.result()
        finally:
            call.cancel()

    async def _call(self, place: Place, function: str, *args: Any) -> dict[str, Any]:
        """Call a function of a host: the call of an actor, without what Dask's proxy adds (it may wait for ever)."""
        message = {"function": function, "actor": place.key, "args": [to_serialize(arg) for arg in args], "kwargs": {}}
        if self._direct:
            return dict(await self._client.rpc(place.address).actor_execute(**message))
        assert self._client.scheduler is not None
        return dict(await self._client.scheduler.proxy(worker=place.address, msg={"op": "actor_execute", **message}))

    async def _plain(self, place: Place, function: str, *args: Any) -> Any:
        """Return what a host's function returns, if that is no reply."""
        return (await self._watched(place, [place], function, *args)).get("result")


def sent(args: tuple[Any, ...]) -> int:
    """Return about how many bytes arguments take."""
    return sum(n_bytes(arg.calls) if isinstance(arg, Message) else n_bytes(arg) for arg in args)
