"""Files that appear completely or not at all: written beside their place, and moved there when complete."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from .leftovers import hold, remove, remove_leftover

SUFFIX, RANDOM = ".part", "[a-z0-9_]{8}"  # of names; the latter is what tempfile makes
MOST_LINKS = 40  # that lead from one name to another


@contextmanager
def atomic_write(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open ``path`` for writing; if anything fails before the end, an existing file stays as it was.

    Links are followed, and a file that is replaced keeps its permissions. Leftovers of a killed process that wrote the
    same file are removed. Names that stand for no replaceable file are written to directly: devices, pipes, and files
    that this process has open already (``/dev/stdout``, ``/dev/fd/63`` of a shell's ``>(...)``). The latter are written
    at their current position, so that ``>> file`` appends.
    """
    descriptor = open_descriptor(path)
    if descriptor is not None:
        if descriptor == 1 and sys.stdout is not None:
            sys.stdout.flush()  # what was printed before comes first
        with os.fdopen(os.dup(descriptor), "wb") as file:
            yield file
        return
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        with open(path, "wb") as file:
            yield file
        return
    target = checked_target(path)
    remove_leftovers(target)
    descriptor, name = _held_file_beside(target)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if os.name != "nt":  # while it is held, nobody takes it for a leftover
                _move(name, target)
        if os.name == "nt":  # open files cannot be moved there
            _move(name, target)
    except BaseException:
        remove(name)
        raise


def open_descriptor(path: str | PathLike[str]) -> int | None:
    """Return the number of the descriptor of this process that ``path`` names; None if it names something else.

    Links are followed one by one: behind ``/dev/stdout`` and ``/proc/self/fd/1`` there may be a file, which has a name
    of its own, or a pipe, which has none.
    """
    place = os.path.abspath(path)
    own = {"/dev/fd", "/proc/self/fd", f"/proc/{os.getpid()}/fd"}
    for _ in range(MOST_LINKS):
        folder, name = os.path.split(place)
        if name.isdigit() and (folder in own or os.path.realpath(folder) in own):
            return int(name) if os.path.lexists(place) else None
        if not os.path.islink(place):
            return None
        place = os.path.join(os.path.realpath(folder), os.readlink(place))
    return None


def checked_target(path: str | PathLike[str]) -> Path:
    """Return ``path`` with its links followed; raise if no file can be there."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file to write to.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path}: the folder {target.parent} does not exist; create it first.")
    return target


def remove_leftovers(path: str | PathLike[str]) -> None:
    """Remove what processes that were killed have left of the file ``path``."""
    target = Path(os.path.realpath(path))
    pattern = re.compile(re.escape(_prefix(target)) + RANDOM + re.escape(SUFFIX))
    try:
        names = [name for name in os.listdir(target.parent) if pattern.fullmatch(name)]
    except OSError:
        return
    for name in names:
        remove_leftover(target.parent / name)


def _prefix(target: Path) -> str:
    return f".{target.name[:64]}."


def _held_file_beside(target: Path) -> tuple[int, str]:
    """Return a new file beside ``target``: its descriptor, which holds it, and its name."""
    while True:
        descriptor, name = tempfile.mkstemp(prefix=_prefix(target), suffix=SUFFIX, dir=target.parent)
        hold(descriptor)
        if os.path.exists(name):  # else somebody took it for a leftover in the moment before it was held
            return descriptor, name
        os.close(descriptor)


def _move(name: str, target: Path) -> None:
    os.chmod(name, _permissions(target))
    os.replace(name, target)


def _permissions(target: Path) -> int:
    """Return the permissions of the file to be replaced; if there is none, those of a new file."""
    try:
        return target.stat().st_mode & 0o7777
    except FileNotFoundError:
        umask = os.umask(0)  # the only way to ask for it is to set it
        os.umask(umask)
        return 0o666 & ~umask
