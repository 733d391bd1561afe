"""The clock of training: it stands still while kernels are compiled or loaded, which happens once.

Every time that a user sees comes from this clock: ``fit_time_``, histories, progress, tables, ``max_time``. It belongs
to the process, so it also stands still for a thread that trains while another one compiles; most often that thread
needs the same kernels and waits.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from time import perf_counter
from typing import NamedTuple


class _State(NamedTuple):
    """Replaced as a whole, so that ``now`` needs no lock."""

    depth: int = 0  # calls of ``standing_still`` that have not returned, in all threads
    since: float = 0.0  # when the clock stopped
    stopped: float = 0.0  # seconds that it has stood still before
    compiles: bool = False  # whether a kernel is compiled, not only loaded
    compiled: float = 0.0  # seconds of compiling before


_state, _lock = _State(), Lock()


def now() -> float:
    """Return seconds since some moment in the past, like ``perf_counter``, not counting compilation."""
    state = _state
    return (state.since if state.depth else perf_counter()) - state.stopped


@contextmanager
def standing_still() -> Iterator[None]:
    """Stop the clock inside the block."""
    global _state
    with _lock:
        since = _state.since if _state.depth else perf_counter()
        _state = _state._replace(depth=_state.depth + 1, since=since)
    try:
        yield
    finally:
        with _lock:
            depth, since, stopped, compiles, compiled = _state
            if depth == 1:
                passed = perf_counter() - since
                _state = _State(stopped=stopped + passed, compiled=compiled + (passed if compiles else 0.0))
            else:
                _state = _state._replace(depth=depth - 1)


def leave_out(seconds: float) -> None:
    """Leave out seconds that have just passed: this process has waited for others that compiled."""
    global _state
    with _lock:
        _state = _state._replace(stopped=_state.stopped + seconds)


def begin_compiling() -> None:
    """Note that a kernel was not found on disk; called while the clock stands still."""
    global _state
    with _lock:
        _state = _state._replace(compiles=True)


def is_compiling() -> bool:
    """Tell whether a kernel is being compiled."""
    return _state.compiles


def compile_seconds() -> float:
    """Return for how many seconds kernels were compiled in this process so far."""
    state = _state
    return state.compiled + (perf_counter() - state.since if state.compiles else 0.0)


def _begin_anew() -> None:
    """Forget the threads of the parent process, which do not survive a fork."""
    global _state, _lock
    _state, _lock = _State(stopped=_state.stopped, compiled=_state.compiled), Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
