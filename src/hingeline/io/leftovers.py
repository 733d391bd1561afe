"""Leftovers of killed processes, told from files that are still being written by a lock.

A writer holds a lock on the file or folder until it is in its place. The system releases the lock when the process
dies, for whatever reason, so a file that nobody holds is a leftover. Without such locks (Windows, some network file
systems) nothing counts as a leftover.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def hold(descriptor: int) -> None:
    """Hold what ``descriptor`` has opened, until it is closed, if the system can do that."""
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)  # waits only for somebody who removes it


def held_folder(make: Callable[[], Path]) -> tuple[Path, int]:
    """Return a folder that ``make`` makes, and a descriptor that holds it; -1 if the system opens no folders."""
    while True:
        folder = make()
        try:
            descriptor = os.open(folder, os.O_RDONLY)
        except FileNotFoundError:  # somebody took it for a leftover in the moment before it was held
            continue
        except OSError:
            return folder, -1
        hold(descriptor)
        if folder.exists():
            return folder, descriptor
        os.close(descriptor)


@contextmanager
def if_leftover(path: str | PathLike[str]) -> Iterator[bool]:
    """Yield whether nobody held the file or folder ``path``; within the ``with`` statement nobody else does."""
    descriptor = -1
    try:
        descriptor = os.open(path, os.O_RDONLY)
        if fcntl is None:
            raise OSError("this system has no such locks")
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        is_leftover = True
    except OSError:
        is_leftover = False
    try:
        yield is_leftover
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def remove_leftover(path: str | PathLike[str]) -> bool:
    """Remove a file, or a folder with all that it holds, unless somebody holds it; tell whether nobody did."""
    with if_leftover(path) as is_leftover:
        if is_leftover:
            remove(path)
        return is_leftover


def remove(path: str | PathLike[str]) -> None:
    """Remove a file, or a folder with all that it holds; what cannot be removed stays."""
    with suppress(OSError):
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
