"""Files that appear as a whole or not at all: written beside their place, and moved into it when complete."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from .leftovers import hold, remove, remove_leftover

SUFFIX, RANDOM = ".part", "[a-z0-9_]{8}"  # of names; the latter is what tempfile makes


@contextmanager
def atomic_write(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open ``path`` for writing; if anything fails before the end, an existing file stays as it was.

    Links are followed, and a file that is replaced keeps its permissions. A device or a pipe is written to directly:
    moving a file there would replace it. What a process that was killed has left of the same file is removed.
    """
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        with open(path, "wb") as file:  # not what links lead to: a pipe behind /dev/stdout has no name
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


def checked_target(path: str | PathLike[str]) -> Path:
    """Return ``path`` with its links followed; raise if no file can be there."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file to write to.")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path}: the folder {target.parent} does not exist: make it first.")
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
