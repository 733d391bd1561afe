"""Data that does not fit in memory: consecutive rows as blocks, read in file order, one block ahead of its use.

A separate thread copies a block from the mapped file into a buffer while the previous block is being used, and then
releases its pages. So the resident memory is two buffers, whatever the size of the files, and the disk is read
sequentially.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import Any, NamedTuple

import numpy as np

from ..io.csr import row_blocks
from ..kernels.rows import CsrRows, OnesRows
from .memory import available_memory, mapping_of

BLOCK_BYTES = 2**20  # large enough for sequential reading
SMALLEST_BLOCK = 2**8
TOGETHER = 32  # blocks from all over the file that are in memory at the same time: rows are often sorted in files
LARGEST_BUFFERS = 0.25  # fraction of the memory for rows
BYTES_PER_ROW = 72  # of an engine's and a solution's own arrays
BYTES_PER_WEIGHT = 32
RESIDENT_SHARE = 0.6  # of the memory left after these; the rest is for the system's read-ahead and for others
ADVICE = ("NORMAL", "RANDOM", "WILLNEED", "DONTNEED")
NORMAL, RANDOM, WILL_NEED, DONT_NEED = (getattr(mmap, f"MADV_{name}", None) for name in ADVICE)  # not everywhere
CHECKED_AT_ONCE = 2**20  # row pointers


class Block(NamedTuple):
    """Rows begin to end, numbered from 0 in ``rows``; valid until the next block is requested."""

    number: int
    begin: int
    end: int
    rows: CsrRows | OnesRows

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.end - self.begin


@dataclass(frozen=True)
class Blocks:
    """How rows are cut into blocks.

    Attributes
    ----------
    rows : Rows
        The whole matrix, mapped.
    bounds : ndarray of shape (n + 1,)
        Block b has the rows bounds[b] to bounds[b + 1].
    together : int
        Blocks that may be in memory at the same time, besides as many that are being read.
    resident_bytes : int
        Memory for copies of rows that an engine wants to keep.
    in_use : Lock
        Held by the engine that keeps such copies: models that are trained on several threads take turns.
    """

    rows: CsrRows | OnesRows
    bounds: np.ndarray
    together: int
    resident_bytes: int
    in_use: Lock = field(default_factory=Lock, compare=False)

    def __len__(self) -> int:
        return self.bounds.size - 1

    @contextmanager
    def read(self, groups: Sequence[Sequence[int]] | None = None) -> Iterator[Iterator[list[Block]]]:
        """Read groups of blocks, given by their numbers; by default all blocks in the order of the file."""
        numbers = range(len(self))
        wanted = [numbers[b : b + self.together] for b in numbers[:: self.together]] if groups is None else groups
        left = Event()
        # A page fault would read megabytes around the page as well, so blocks say what they need.
        self._advise_on_all(RANDOM)
        with ThreadPoolExecutor(1, thread_name_prefix="hingeline-read") as reader:
            try:
                yield self._read(wanted, reader, left)
            finally:
                left.set()
                self._advise_on_all(NORMAL)

    def _read(self, groups: Sequence[Sequence[int]], reader: ThreadPoolExecutor, left: Event) -> Iterator[list[Block]]:
        most = max(map(len, groups), default=0)
        buffers = [[self._new_buffer() for _ in range(most)] for _ in range(2)]

        def load(k: int) -> list[Block]:
            for group in groups[0 if k == 0 else k + 1 : k + 2]:  # requested in advance, so that the disk is never idle
                for number in group:
                    self._advise(number, WILL_NEED)
            return [self._load(number, buffers[k % 2][at], left) for at, number in enumerate(groups[k])]

        coming = reader.submit(load, 0) if groups else None
        for k in range(len(groups)):
            assert coming is not None
            group = coming.result()
            coming = reader.submit(load, k + 1) if k + 1 < len(groups) else None
            yield group

    def _new_buffer(self) -> list[np.ndarray]:
        """Return buffers that hold the largest block: pointers, indices and, if there are any, values."""
        rows, bounds = self.rows, self.bounds
        most_rows = int(np.diff(bounds).max())
        most = int(np.diff(rows.indptr[bounds].astype(np.int64)).max())
        buffers = [np.empty(most_rows + 1, rows.indptr.dtype), np.empty(most, rows.indices.dtype)]
        return [*buffers, np.empty(most, rows.data.dtype)] if isinstance(rows, CsrRows) else buffers

    def _load(self, number: int, buffers: list[np.ndarray], left: Event) -> Block:
        """Copy block ``number`` into ``buffers``, and give its pages back."""
        copies = []
        for array, buffer in zip(self._parts(number), buffers, strict=True):
            copy = buffer[: len(array)]
            if not left.is_set():
                copy[:] = array
            copies.append(copy)
        if not any(may_hold_changes(array) for array in self._parts(number)):
            self._advise(number, DONT_NEED)
        copies[0] -= copies[0][0]
        for copy in copies:
            copy.flags.writeable = False  # the type that kernels are compiled for
        rows: Any = type(self.rows)
        begin, end = self.bounds[number : number + 2].tolist()
        return Block(number, begin, end, rows(*copies, self.rows.bias))

    def _advise(self, number: int, advice: int | None) -> None:
        for array in self._parts(number):
            advise(array, advice)

    def _advise_on_all(self, advice: int | None) -> None:
        for array in self.rows:
            if isinstance(array, np.ndarray):
                advise(array, advice)

    def _parts(self, number: int) -> list[np.ndarray]:
        """Return the views of the mapped arrays that belong to a block."""
        rows = self.rows
        begin, end = int(self.bounds[number]), int(self.bounds[number + 1])
        inside = slice(int(rows.indptr[begin]), int(rows.indptr[end]))
        parts = [rows.indptr[begin : end + 1], rows.indices[inside]]
        return [*parts, rows.data[inside]] if isinstance(rows, CsrRows) else parts


def advise(array: np.ndarray, advice: int | None) -> None:
    """Tell the system how the pages of a mapped array will be used; does nothing if it is not mapped."""
    mapping = mapping_of(array)
    if mapping is None or advice is None or array.nbytes == 0:
        return
    begin = array.__array_interface__["data"][0] - _address(mapping)
    page = begin - begin % mmap.PAGESIZE
    mapping.madvise(advice, page, begin + array.nbytes - page)


def may_hold_changes(array: np.ndarray) -> bool:
    """Tell whether the mapping of an array may have pages that differ from the file: giving them back loses changes.

    A read-only mapping has none, and those of one that is shared are written to the file.
    """
    mapping = mapping_of(array)
    if mapping is None or memoryview(mapping).readonly:
        return False
    base: Any = array
    while isinstance(base, np.ndarray):
        if getattr(base, "mode", "c") != "c":  # of a memmap
            return False
        base = base.base
    return True


def _address(mapping: mmap.mmap) -> int:
    return int(np.frombuffer(mapping, np.uint8).__array_interface__["data"][0])


def plan_blocks(rows: CsrRows | OnesRows, n_rows: int, n_features: int) -> Blocks | None:
    """Return blocks if ``rows`` are mapped from files and do not fit in memory with what training needs, else None.

    Also None if row pointers are broken: the check of the structure reports where.
    """
    arrays = [array for array in rows if isinstance(array, np.ndarray)]
    mapped = sum(array.nbytes for array in arrays if mapping_of(array) is not None)
    if mapped == 0:
        return None
    own = BYTES_PER_ROW * n_rows + BYTES_PER_WEIGHT * (n_features + 1)
    free = available_memory() - own
    if mapped <= free or not _is_increasing(rows.indptr, rows.indices.size):
        return None
    # A whole number of eighths of an octave: with a little more or less memory left today the blocks are the same.
    octaves = np.log2(max(RESIDENT_SHARE * free, 2 * TOGETHER * SMALLEST_BLOCK / LARGEST_BUFFERS))
    for_rows = int(2.0 ** (np.floor(8.0 * octaves) / 8.0))
    block = min(BLOCK_BYTES, int(LARGEST_BUFFERS * for_rows / (2 * TOGETHER)))
    return Blocks(rows, _bounds(rows, block), TOGETHER, for_rows - 2 * TOGETHER * block)


def _is_increasing(indptr: np.ndarray, last: int) -> bool:
    """Tell whether pointers never decrease and end where the entries do, a piece at a time."""
    pieces = (indptr[at : at + CHECKED_AT_ONCE + 1] for at in range(0, indptr.size, CHECKED_AT_ONCE))
    return int(indptr[-1]) <= last and all(bool(np.all(piece[1:] >= piece[:-1])) for piece in pieces)


def _bounds(rows: CsrRows | OnesRows, block: int) -> np.ndarray:
    """Cut rows into blocks of about ``block`` bytes, of one row at least."""
    per_entry = rows.indices.itemsize + (rows.data.itemsize if isinstance(rows, CsrRows) else 0)
    most_entries, most_rows = max(1, block // per_entry), max(1, block // rows.indptr.itemsize)
    return np.array([0, *(end for _, end in row_blocks(rows.indptr, most_entries, most_rows))])
