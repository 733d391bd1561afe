"""Small svmlight text without compiled code, which takes longer to load than a small file takes to read.

Only plain text is read here: no comments, no ``qid:``, indices in increasing order from 1. Anything else is left to the
compiled parser, which reads it or says what is wrong with it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

MOST_BYTES = 1 << 22  # beyond, the compiled parser is faster, although it has to be loaded
_NUMBER = rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?"
_LINE = re.compile(rb"[ \t]*" + _NUMBER + rb"(?:[ \t]+[0-9]{1,9}:" + _NUMBER + rb")*[ \t\r]*")


class PlainRows(NamedTuple):
    """Rows in CSR form, without SciPy; columns count from 0 and increase within a row."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    shape: tuple[int, int]


def parse_small(text: bytes) -> tuple[PlainRows, np.ndarray] | None:
    """Return rows and labels, to the last bit those of the compiled parser; None if the text is not plain."""
    lines = [line for line in text.split(b"\n") if line and not line.isspace()]
    if not lines or not all(map(_LINE.fullmatch, lines)):
        return None
    counts = np.array([line.count(b":") for line in lines])
    numbers = np.array(b" ".join(lines).replace(b":", b" ").split(), dtype=np.float64)
    if not np.isfinite(numbers).all():
        return None
    indptr = np.concatenate(([0], np.cumsum(counts)))
    at_labels = 2 * indptr[:-1] + np.arange(counts.size)
    entries = np.delete(numbers, at_labels)
    indices, values = entries[::2].astype(np.int64) - 1, entries[1::2]
    steps = np.diff(indices, prepend=-1)
    begins = indptr[:-1][counts > 0]
    steps[begins] = indices[begins] + 1  # counted from the column before the first
    if (steps <= 0).any():
        return None
    columns = int(indices.max(initial=0)) + 1
    return PlainRows(indptr, indices, values, (counts.size, columns)), numbers[at_labels]
