"""Numbers as people read them."""

from __future__ import annotations

from math import isfinite

LONGEST = 100 * 3600.0  # seconds; longer estimates mean nothing


def duration(seconds: float) -> str:
    """Return seconds as ``12 s``, ``3:20`` or ``1:02:03``."""
    if seconds < 60.0:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def times(elapsed: float, left: float) -> str:
    """Return the time since the beginning and, if it is known, until the end."""
    text = duration(elapsed)
    return f"{text}, {duration(left)} left" if isfinite(left) and left < LONGEST else text


def short(count: float, unit: str = "") -> str:
    """Return a count with a prefix, as ``1.5 kB``."""
    for prefix in ("", "k", "M", "G"):
        if count < 1000:
            return f"{count:.3g} {prefix}{unit}"
        count /= 1000
    return f"{count:.3g} T{unit}"
