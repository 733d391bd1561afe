"""Where rows are: hosts for partitions, each on the worker that holds its rows.

Hosts are Dask actors, created by tasks of its scheduler. If a worker dies, Dask recomputes its partitions, and they get
new hosts.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from time import monotonic, sleep
from typing import Any, NamedTuple
from uuid import uuid4

from distributed import Client, Future

from .host import Host
from .messages import Branch
from .partitions import Partitions
from .versions import check_version

SETTLING = 0.1  # seconds between two attempts to place rows while workers come and go
ATTEMPTS = 100
LOOK = 0.002  # seconds between two looks at what Dask is doing
NOTICED = 1.0  # seconds after which Dask has noticed that a worker is gone
HOPELESS = ("cancelled", "error")  # states of partitions that Dask cannot recompute


class Place(NamedTuple):
    """A host: the partitions that it holds, where it is, and the future that keeps it there."""

    numbers: tuple[int, ...]
    address: str
    future: Future[Any]

    @property
    def key(self) -> str:
        """The name by which Dask knows it."""
        return str(self.future.key)


class Placement:
    """Makes hosts for partitions.

    Attributes
    ----------
    memory : int
        Memory limit of the smallest worker, in bytes; 0 if unknown.
    """

    def __init__(self, partitions: Partitions) -> None:
        self._client: Client = partitions.client
        self._parts, self.memory = partitions.parts, 0

    def placed(self, numbers: Sequence[int], warm: Sequence[str] = (), gone: Collection[str] = ()) -> list[Place]:
        """Return hosts for these partitions, each where its rows are.

        Dask first recomputes the rows of workers that are ``gone``, in parallel. Their new hosts are created on workers
        that are ``warm``, if any: a new worker has to import and load everything first.
        """
        found, left = [], list(numbers)
        for _ in range(ATTEMPTS):
            with suppress(CancelledError):  # parts that Dask has forgotten
                if gone and warm:
                    self._wait_until_recomputed(left, gone)
                waiting = [(group, self._host(group, address)) for address, group in self._groups(left, warm).items()]
                for group, future in waiting:
                    address = self._address_of(future)
                    if address is not None:
                        found.append(Place(group, address, future))
            placed = {k for place in found for k in place.numbers}
            left = [k for k in numbers if k not in placed]
            if not left:
                return sorted(found)
            forgotten = [k for k in left if self._parts[k].status == "cancelled"]
            if forgotten:
                raise RuntimeError(
                    f"Partitions {forgotten} were lost with their worker, and Dask cannot recompute them, since they "
                    "were sent to it. Let tasks read or create the rows, or fit again."
                )
            sleep(SETTLING)  # a worker has died once more: others may be about to come
        raise RuntimeError(
            f"{len(left)} partitions could not be placed on a worker in {ATTEMPTS} attempts: check that workers are "
            "alive and have enough memory."
        )

    def _wait_until_recomputed(self, numbers: Sequence[int], gone: Collection[str]) -> None:
        """Wait until Dask knows which workers are gone, and has recomputed the partitions, or cannot.

        A worker that is still known after a while has been restarted, with an empty memory.
        """
        deadline = monotonic() + NOTICED
        while monotonic() < deadline and not self._known().keys().isdisjoint(gone):
            sleep(LOOK)
        parts = [self._parts[k] for k in numbers]
        while True:
            held = self._client.who_has(parts)
            if all(held.get(part.key) or part.status in HOPELESS for part in parts):
                return
            sleep(LOOK)

    def _known(self) -> dict[str, Any]:
        """Return what Dask knows of its workers, by their addresses."""
        workers: dict[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        return workers

    def _groups(self, numbers: Sequence[int], warm: Sequence[str]) -> dict[str, tuple[int, ...]]:
        """Return which worker should hold which partitions; those on no worker are distributed evenly."""
        groups: dict[str, list[int]] = {}
        held = self._client.who_has([self._parts[k] for k in numbers])
        known = self._known()
        workers = sorted(known)
        self.memory = min((worker["memory_limit"] or 0 for worker in known.values()), default=0)
        homeless, homes = [], [address for address in warm if address in known] or workers
        for k in numbers:
            owners = [address for address in held.get(self._parts[k].key, ()) if address in homes]
            if owners:
                groups.setdefault(min(owners), []).append(k)
            else:
                homeless.append(k)
        for at, k in enumerate(homeless):
            groups.setdefault(homes[at % len(homes)] if homes else "", []).append(k)
        return {address: tuple(group) for address, group in groups.items()}

    def _host(self, numbers: tuple[int, ...], address: str) -> Future[Any]:
        """Ask Dask for a host, on this worker if it is still there."""
        return self._client.submit(
            Host,
            numbers,
            *(self._parts[k] for k in numbers),
            key=f"hingeline-rows-{uuid4().hex[:8]}-of-partitions-{numbers[0]}-to-{numbers[-1]}",
            workers=[address] if address else None,
            allow_other_workers=bool(address),
            actor=True,
            pure=False,
        )

    def _address_of(self, future: Future[Any]) -> str | None:
        """Wait for a host; returns where it is, None if it was lost before it was created."""
        while not future.done():
            sleep(LOOK)
        if future.status == "error":
            error = future.exception()
            if isinstance(error, ModuleNotFoundError):
                check_version("a worker", f"none: {error}")
            if error is not None and not _is_of_dask(error):
                raise error
        if future.status != "finished":
            return None
        where = self._client.who_has([future]).get(future.key, ())
        return where[0] if where else None


def tree(places: Sequence[Place]) -> Branch:
    """Return a binary tree of hosts, the first at the root."""
    first, others = places[0], places[1:]
    halves = (others[: (len(others) + 1) // 2], others[(len(others) + 1) // 2 :])
    return Branch(first.address, first.key, tuple(tree(half) for half in halves if half))


def _is_of_dask(error: BaseException) -> bool:
    """Tell whether an error says that a worker was lost, rather than that something is wrong with the rows."""
    return type(error).__module__.startswith("distributed")
