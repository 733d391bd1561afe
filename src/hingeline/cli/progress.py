"""A line that tells how far a long command is: on a terminal only, and only as often as one can read it."""

from __future__ import annotations

import sys
import time

SECONDS_BETWEEN = 0.2


class ProgressLine:
    """Called with what is done and the total (None where that is not known). Used in a ``with`` statement."""

    def __init__(self, what: str, unit: str = "B") -> None:
        self.what, self.unit = what, unit
        self.shown = 0
        self.next_time = 0.0
        self.on_terminal = sys.stderr.isatty()

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *error: object) -> None:
        if self.shown:
            print("\r" + " " * self.shown + "\r", end="", file=sys.stderr, flush=True)

    def __call__(self, done: int, total: int | None) -> None:
        """Show how far it is."""
        now = time.monotonic()
        if not self.on_terminal or now < self.next_time:
            return
        self.next_time = now + SECONDS_BETWEEN
        text = f"{self.what}: {_short(done)}{self.unit}"
        if total:
            text += f" of {_short(total)}{self.unit} ({100 * done // total}%)"
        print("\r" + text.ljust(self.shown), end="", file=sys.stderr, flush=True)
        self.shown = len(text)


def _short(count: float) -> str:
    for prefix in ("", "k", "M", "G"):
        if count < 1000:
            return f"{count:.3g} {prefix}"
        count /= 1000
    return f"{count:.3g} T"
