"""Rounds: the coordinator asks all hosts, and adds up what they answer. Lost hosts are replaced.

There is one host per worker that holds partitions. Large results are added up along a binary tree of workers, so the
client receives only one.

If a worker dies, Dask recomputes its partitions, and they are given to new hosts. All that these know about the problem
is w.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import wait
from dataclasses import replace
from itertools import count
from typing import Any
from uuid import uuid4

import numpy as np
from distributed import Client, Future, get_worker

from ..solution import Progress, Solution
from ..solvers.clock import Ended
from ..solvers.stop import Stop
from .calls import Calls
from .costs import Costs
from .host import Solve
from .merge import unpacked
from .messages import OPEN, Call, Message, Reply, Start, merged_replies
from .partitions import Partitions
from .placement import Place, Placement, tree
from .select import Cluster
from .spec import Opened, Spec, Summary

LOST = "worker lost"  # the stop reason of an engine whose rows have been replaced
SEEN = 0.25  # seconds between two looks at how far one worker has come
TREE_HOSTS, TREE_BYTES = 4, 1 << 18  # hosts, and bytes of a result, from which a tree is faster than the client alone


NO_WEIGHTS = np.empty(0)

_serial = count()


class Hosts:
    """The hosts of some partitions."""

    def __init__(self, partitions: Partitions) -> None:
        self.client: Client = partitions.client
        self._parts, self.n_features = partitions.parts, partitions.n_features
        self._n_stored = partitions.n_stored
        self._opened: dict[str, Opened] = {}
        self._summaries: dict[Any, Summary] = {}  # of problems, by all but C
        self._unopened: set[str] = set()  # problems that hosts open with the next round
        self._whole_at: set[float] = set()  # biases with which the first host has gathered all rows
        self._alone: dict[str, Place] = {}  # problems that one worker has solved
        self._reached: dict[str, np.ndarray] = {}  # the latest weights of problems that one worker trains
        self._calls = Calls(self.client)
        self._placement, self._places = Placement(partitions), list[Place]()
        self._places = self._placed(range(len(self._parts)))

    @property
    def costs(self) -> Costs:
        """What rounds have cost so far."""
        return self._calls.costs

    @costs.setter
    def costs(self, costs: Costs) -> None:
        self._calls.costs = costs

    @property
    def n_hosts(self) -> int:
        """How many hosts there are."""
        return len(self._places)

    def cluster(self, bias: float) -> Cluster:
        """Return what a cost model asks about the hosts' workers."""
        return Cluster(len(self._places), self._placement.memory, bias in self._whole_at)

    def _placed(self, numbers: Sequence[int], gone: Collection[str] = ()) -> list[Place]:
        """Return new hosts for partitions, of this version; ``gone`` are the workers that were lost."""
        places = self._placement.placed(numbers, [place.address for place in self._places], gone)
        self._calls.greet(places)
        return places

    # Problems.

    def open(self, spec: Spec, w: np.ndarray) -> tuple[str, Summary]:
        """Begin a problem at w; returns its name and sizes.

        If only C has changed since an earlier problem, the sizes are known, and hosts begin with the first round.
        """
        name, kind = f"problem-{next(_serial)}", spec.without_C()
        opened = self._opened[name] = Opened(spec, w.copy())
        if kind in self._summaries:
            self._unopened.add(name)
            return name, self._summaries[kind].at(spec.loss.C)
        try:
            summary = self._begun(self._places, name, spec, opened.start, None)
        except BaseException:
            self._opened.pop(name, None)
            raise
        if summary.is_uniform:
            self._summaries[kind] = summary
        return name, summary

    def _first(self, name: str) -> Message:
        """Return the beginning of a message about a problem: hosts may have to open it."""
        opened = self._opened[name]
        calls = ((OPEN, (opened.spec, opened.start, opened.delta)),) if name in self._unopened else ()
        return Message(name, calls)

    def solve_sample(self, name: str, step: int, total_C: float, solve: Solve) -> Any:
        """Return ``solve`` of one row in ``step``, on one worker that gathers them; None if there are none."""
        root = tree(self._places)
        args = (self._first(name), self._opened[name].spec, step, total_C, solve, root.below)
        values = self._checked(self._calls.replies(self._places[:1], self._places, "solve_sample", *args))[0].values
        self._unopened.discard(name)
        return values[0] if values else None

    def solve_whole(
        self, name: str, stop: Stop, free: bool, seed: int, watch: Callable[[Progress], Any] | None
    ) -> Solution:
        """Return the solution that one worker finds, which gathers all rows; ``watch`` sees how far it has come."""
        first, root, watched = self._places[0], tree(self._places), self._places.copy()
        opened = self._opened[name]
        start = Start(self._reached.get(name, opened.w), name in self._reached, seed)
        args = (self._first(name), opened.spec, stop, free, start, root.below, opened.spec.bias not in self._whole_at)
        answer = self._calls.begin(first, watched, "solve_whole", *args)
        ends, seen = False, None
        try:
            while not answer.done():
                wait([answer], timeout=SEEN)
                found = None if answer.done() else self._calls.value(first, "progress", ends)
                progress, w = (None, NO_WEIGHTS) if found is None else found
                if w.size:
                    self._reached[name] = w
                if progress is not None and progress != seen:
                    del watched[1:]  # the others have sent their rows: it does not matter if they are lost now
                    seen, ends = progress, ends or (watch is not None and bool(watch(progress)))
        finally:
            answer.cancel()
        solution: Solution = self._checked(answer.result())[0].values[0]
        self._alone[name] = first
        self._whole_at = {opened.spec.bias}
        return solution

    def moved(self, name: str, w: np.ndarray, delta: float | None) -> None:
        """Store the current w and width of the smoothing, which is all that a new host will know about the problem."""
        self._opened[name] = replace(self._opened[name], w=w, delta=delta)

    def measured_from(self, name: str, level: float) -> None:
        """Store what targets are measured from, for new hosts."""
        opened = self._opened[name]
        self._opened[name] = replace(opened, spec=replace(opened.spec, level=level))

    # Rounds.

    def ask(self, name: str, calls: Sequence[Call], expected_bytes: int = 0) -> tuple[Any, ...]:
        """Send the same calls to all hosts; returns their merged answers.

        Raises ``Ended(LOST)`` if rows had to be placed again: their hosts know only w.
        """
        places, first = self._places, self._first(name)
        message = replace(first, calls=(*first.calls, *calls))
        if len(places) >= TREE_HOSTS and expected_bytes >= TREE_BYTES:
            replies = self._calls.replies(places[:1], places, "do_all", message, tree(places).below)
        else:
            replies = self._calls.replies(places, places, "do", message)
        values = merged_values(self._checked(replies))
        self._unopened.discard(name)
        return values

    def _begun(self, places: list[Place], *args: Any) -> Summary:
        """Let hosts ``open`` a problem; returns its sizes."""
        found: Summary = merged_values(self._checked(self._calls.replies(places, places, "open", *args)))[0]
        return found

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

    def _replace(self, lost: set[str]) -> None:
        """Make new hosts for the partitions of lost ones, and tell them of the problems."""
        gone = [place for place in self._places if place.key in lost]
        self._places = [place for place in self._places if place.key not in lost]
        new = self._placed([k for place in gone for k in place.numbers], {place.address for place in gone})
        self._places = sorted([*self._places, *new])
        self._whole_at = set()
        for name in self._opened.keys() - self._unopened:
            opened = self._opened[name]
            self._begun(new, name, opened.spec, opened.start, opened.delta)

    def cancel(self) -> None:
        """Stop what hosts are doing and release them: nothing is left behind on the workers."""
        self._calls.tell(self._places, "cancel")
        self.release()

    def release(self) -> None:
        """Release the hosts."""
        for place in self._places:
            place.future.release()
        self._places, self._opened, self._reached, self._unopened = [], {}, {}, set()

    def alpha(self, name: str) -> list[Future[Any]]:
        """End a problem; returns the dual variables of every partition, as futures of arrays on the workers."""
        del self._opened[name]
        self._unopened.discard(name)
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
        alone = self._alone.pop(name, None)
        if alone is not None:
            self._calls.tell([place for place in self._places if place.key != alone.key], "forget", name)
        self._reached.pop(name, None)
        return [futures[k] for k in range(len(self._parts))]


def merged_values(replies: list[Reply]) -> tuple[Any, ...]:
    """Return the merged values of all replies."""
    return tuple(unpacked(merged_replies(replies).values))


def _alpha_of(host: str, name: str, number: int) -> np.ndarray:
    """Take the dual variables of a partition from a host on this worker (runs as a task)."""
    own: Any = get_worker().state.actors.get(host)
    if own is None:
        raise RuntimeError("The dual variables were lost with their worker: fit again.")
    alpha: np.ndarray = own.take_alpha(name, number)
    return alpha
