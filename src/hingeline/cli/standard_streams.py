"""Files of a command line; ``-`` stands for standard input or output."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any, BinaryIO

STANDARD = "-"


@contextmanager
def open_output(name: str) -> Iterator[BinaryIO]:
    """Open a file to write, which appears completely or not at all."""
    if name == STANDARD:
        if sys.stdout is None:
            raise OSError("-: standard output is closed; name a file.")
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    from hingeline.io.atomic import atomic_write

    with atomic_write(name) as file:
        yield file


@contextmanager
def open_model_input(name: str) -> Iterator[BinaryIO]:
    """Open a model file, so that it can be read again from the beginning."""
    from hingeline.io.models.files import open_model

    if name == STANDARD:
        yield BytesIO(standard_input().read())
        return
    with open_model(name) as file:
        yield file


def standard_input() -> Any:
    """Return standard input, in binary mode."""
    if sys.stdin is None:
        raise OSError("-: standard input is closed; name a file.")
    return sys.stdin.buffer


def results_beside(*outputs: str | None) -> Any:
    """Return where results are printed: standard error if one of the files that are written is standard output."""
    return sys.stderr if STANDARD in outputs else sys.stdout
