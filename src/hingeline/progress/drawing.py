"""Drawing without rich: one line per bar, printed every few seconds."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from time import perf_counter
from typing import Any, Protocol

from .bars import Line

FIRST_PAUSE, GROWTH = 2.0, 0.1  # between two prints: seconds, or this fraction of the time so far if that is longer


class Drawing(Protocol):
    """Draws lines again and again; used in a ``with`` statement."""

    def __enter__(self) -> Drawing: ...

    def __exit__(self, *error: object) -> None: ...

    def draw(self, lines: Sequence[Line]) -> None:
        """Draw the lines, in place of the last ones."""


class PlainLines:
    """Prints to standard error: every two seconds at first, less and less often later."""

    def __enter__(self) -> PlainLines:
        self._started, self._next = perf_counter(), 0.0
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def draw(self, lines: Sequence[Line]) -> None:
        """Print the lines, unless the last ones were printed a moment ago."""
        now = perf_counter()
        if not lines or now < self._next:
            return
        self._next = now + max(FIRST_PAUSE, GROWTH * (now - self._started))
        for line in lines:
            print(text_of(line).replace("→", "to"), file=sys.stderr, flush=True)


def text_of(line: Line) -> str:
    """Return a line as plain text."""
    share = "" if line.fraction is None else f"{line.fraction:4.0%} "
    return f"{line.title}: {share}{line.text}"


def is_terminal(stream: Any) -> bool:
    """Tell whether a stream, which may be missing or closed, is a terminal."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):
        return False
