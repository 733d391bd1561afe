"""Messages between the coordinator and the hosts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .merge import merged, packed, unpacked

Call = tuple[str, tuple[Any, ...]]  # a verb and its arguments
OPEN = "open"  # the verb that begins a problem, if it is the first of a message


@dataclass(frozen=True)
class Message:
    """Verbs to execute, one after the other, for one problem."""

    problem: str
    calls: tuple[Call, ...]


@dataclass(frozen=True)
class Reply:
    """The results of the verbs that return something, and how long the slowest worker took."""

    values: tuple[Any, ...] = ()
    seconds: float = 0.0  # computing
    compiled: float = 0.0  # how much longer it took because kernels were compiled or loaded
    error: BaseException | None = None
    lost: tuple[str, ...] = ()  # hosts further down the tree that did not answer
    n_bytes: int = 0  # of what workers have sent to each other


class Start(NamedTuple):
    """Where one worker begins: at weights that another one had reached (``is_near``), or at the user's, or at zero."""

    w: np.ndarray
    is_near: bool
    seed: int


class Branch(NamedTuple):
    """A host, and those that it asks in turn."""

    address: str
    key: str
    below: tuple[Branch, ...] = ()


class UnknownProblem(Exception):
    """Raised by a host that does not know a problem."""


def reply_of(answer: dict[str, Any], key: str) -> Reply:
    """Return the reply in what Dask hands over; a host that is no longer on its worker counts as lost."""
    reply = answer.get("result")
    return reply if answer["status"] == "OK" and isinstance(reply, Reply) else Reply(lost=(key,))


def merged_replies(replies: list[Reply]) -> Reply:
    """Return several replies as one."""
    lost = tuple(key for reply in replies for key in reply.lost)
    error = next((reply.error for reply in replies if reply.error is not None), None)
    seconds = max(reply.seconds for reply in replies)
    compiled = max(reply.seconds + reply.compiled for reply in replies) - seconds
    if lost or error is not None:
        return Reply(seconds=seconds, compiled=compiled, error=error, lost=lost)
    values = [unpacked(reply.values) for reply in replies if reply.values]  # a host may have no rows for a sample
    return Reply(packed(merged(values)) if values else (), seconds, compiled)
