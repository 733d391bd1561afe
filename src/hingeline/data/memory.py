"""How much memory a fit may take, and which arrays are mapped from files.

The limit is the smaller of the machine's free memory and what the process's control groups (versions 1 and 2) allow;
the environment variable ``HINGELINE_MEMORY`` ("500M", "2G", bytes) overrides both.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from mmap import mmap
from pathlib import Path
from typing import Any

import numpy as np

VARIABLE = "HINGELINE_MEMORY"
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
CONTROL_GROUPS = Path("/sys/fs/cgroup")


def available_memory() -> float:
    """Return how many more bytes the process may take; infinity if that is unknown."""
    asked = os.environ.get(VARIABLE)
    if asked:
        return parse_size(asked)
    return min([_left_on_machine(), *_left_in_groups(_own_groups(Path("/proc/self/cgroup")))])


def parse_size(text: str) -> float:
    """Return the bytes that a text such as "2G", "1.5 GiB" or "500M" names."""
    number = text.strip().upper().removesuffix("IB").removesuffix("B")
    unit = number[-1:] if number[-1:] in UNITS else ""
    try:
        size = float(number.removesuffix(unit)) * UNITS[unit]
    except ValueError:
        size = -1.0
    if not size > 0.0:
        raise ValueError(f"{VARIABLE} must be a positive size such as 500M or 2G; got {text!r}.")
    return size


def mapping_of(array: Any) -> mmap | None:
    """Return the file mapping that ``array`` is a view of, or None if it has its own memory."""
    while isinstance(array, np.ndarray):
        array = array.base
    if isinstance(array, memoryview):
        array = array.obj
    return array if isinstance(array, mmap) else None


def _left_on_machine() -> float:
    return _field(Path("/proc/meminfo"), "MemAvailable:", 1024)


def _field(path: Path, name: str, unit: int = 1, missing: float = float("inf")) -> float:
    """Return the number that follows ``name`` in a file of such lines."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except OSError:
        return missing
    for line in lines:
        words = line.split()
        if words and words[0] == name:
            return float(words[1]) * unit
    return missing


def _number(path: Path) -> float:
    """Return the number that is all of a file; infinity if it says "max" or does not exist."""
    try:
        return float(path.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return float("inf")


def _own_groups(membership: Path) -> Iterator[tuple[Path, bool]]:
    """Yield the folder of each memory control group that the process is in, and whether it is of version 2."""
    try:
        lines = membership.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        version_2 = controllers == ""
        if version_2 or "memory" in controllers.split(","):
            root = CONTROL_GROUPS if version_2 else CONTROL_GROUPS / "memory"
            own = root / path.lstrip("/")
            # Inside a container the path may be the host's, and the group itself is the root.
            for folder in [own, *own.parents] if own.is_dir() else [root]:
                yield folder, version_2
                if folder == root:
                    break


def _left_in_groups(groups: Iterator[tuple[Path, bool]]) -> Iterator[float]:
    """Yield how many bytes each group still allows; pages of files do not count, since they can be reclaimed."""
    for folder, version_2 in groups:
        limit, used = (
            ("memory.max", "memory.current") if version_2 else ("memory.limit_in_bytes", "memory.usage_in_bytes")
        )
        allowed = _number(folder / limit)
        if allowed < 2.0**60:  # version 1 says nearly 2^63 if there is no limit
            prefix = "" if version_2 else "total_"
            files = sum(
                _field(folder / "memory.stat", f"{prefix}{kind}_file", missing=0.0) for kind in ("active", "inactive")
            )
            taken = _number(folder / used)
            yield max(0.0, allowed - max(0.0, taken - files))
