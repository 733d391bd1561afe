"""svmlight text of any size as a stream of validated blocks of rows, with bounded memory.

    <label> [qid:<integer>] <index>:<value> <index>:<value> ... [# comment]

Compiled code parses blocks of whole lines, several at a time if there are threads, and yields them in the order of the
file. A malformed line raises a ValueError with file, line, column and text.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from typing import Any, Literal, NamedTuple

import numpy as np

from ..threads import map_in_order, read_ahead
from . import lines
from .malformed import MalformedLine, position_of_repeated
from .streams import DamagedFile, Progress, Source, Stream, line_blocks, name_of, open_source

ZeroBased = bool | Literal["auto"]

BLOCK_BYTES = 1 << 20  # text that is parsed at once: it and what it becomes stay in a core's cache
SLICE_BYTES = 1 << 23  # a compiled call ends after so many bytes, some 20 ms: Ctrl-C never waits longer
BLOCKS_AHEAD = 2
HARD_NUMBERS = 256  # left to Python at a time
LARGEST_INDEX = 10**18 - 1
SHORTEST_ENTRY = 4  # bytes: " 1:1"
LINE_FEED = 10
FLOAT32_OVERFLOW = 2.0**128 - 2.0**103  # halfway from the largest float32 to 2^128: rounded to infinity


class Block(NamedTuple):
    """Consecutive rows of a file: indices as written (not shifted), increasing within a row."""

    labels: np.ndarray  # float64
    indptr: np.ndarray  # int64, from 0
    indices: np.ndarray  # int32; int64 if an index needs it
    values: np.ndarray  # of the dtype asked for, finite
    query_ids: np.ndarray  # int64; empty unless they were asked for
    first_line: int  # number of the first line in the file, from 1
    n_lines: int  # blank lines and comments included
    min_index: int  # -1 if the block has no entries
    max_index: int  # -1 if the block has no entries


class Text(NamedTuple):
    """A buffer that begins with so many bytes of whole lines, and the bytes of the file that were read by then."""

    buffer: bytearray
    length: int
    done: int


class Rules(NamedTuple):
    """What every block must keep to."""

    dtype: np.dtype[Any]
    smallest_index: int
    largest_index: int
    query_id: bool


def iter_svmlight(
    source: Any,
    *,
    dtype: Any = np.float64,
    zero_based: ZeroBased = "auto",
    n_features: int | None = None,
    query_id: bool = False,
    block_bytes: int = BLOCK_BYTES,
    n_threads: int = 1,
    progress: Progress | None = None,
) -> Iterator[Block]:
    """Stream a file in svmlight format as blocks of validated rows.

    Parameters
    ----------
    source : path or file object in binary mode
        Plain, or compressed with gzip, bzip2, xz or zstd.
    dtype : float32 or float64
        Type of the values, which are read as Python's ``float`` reads them and then rounded to it.
    zero_based : bool or "auto", default="auto"
        False: an index 0 is an error. Indices come as written; with "auto", the caller decides by the smallest of all
        (``min_index`` of the blocks).
    n_features : int or None, default=None
        A larger index is an error.
    query_id : bool, default=False
        Whether to return the numbers of ``qid:``; every row needs one then.
    block_bytes : int
        Bytes of text per block; a longer line makes its block longer.
    n_threads : int, default=1
        Threads that parse. A compressed file has one more, which decompresses.
    progress : callable or None, default=None
        Called before each block with the bytes of the file read so far and its size, None if that is unknown.

    Yields
    ------
    block : Block
        The next rows of the file.
    """
    rules = Rules(_value_type(dtype), *_index_range(zero_based, n_features), bool(query_id))
    if block_bytes < 1 or n_threads < 1:
        raise ValueError(f"block_bytes and n_threads must be 1 or more; got {block_bytes} and {n_threads}.")
    return _blocks(source, rules, block_bytes, n_threads, progress)


def _blocks(source: Any, rules: Rules, block_bytes: int, n_threads: int, progress: Progress | None) -> Iterator[Block]:
    name, line = name_of(source), 1
    try:
        with open_source(source) as (raw, stream, compressed):
            texts = _texts(raw, stream, block_bytes)
            texts = read_ahead(texts, BLOCKS_AHEAD) if compressed else texts
            blocks = map_in_order(
                lambda text: (parse_block(text.buffer, text.length, rules), text.done), texts, n_threads
            )
            with closing(texts), closing(blocks):  # before the file
                for block, done in blocks:
                    if progress is not None:
                        progress(done, raw.size)
                    yield block._replace(first_line=line)
                    line += block.n_lines
    except MalformedLine as error:
        raise ValueError(error.message(name, line)) from None
    except DamagedFile as error:
        raise DamagedFile(f"{name}: {error}") from error


def _texts(raw: Source, stream: Stream, block_bytes: int) -> Generator[Text]:
    for buffer, length in line_blocks(stream, block_bytes, lines.SPARE):
        yield Text(buffer, length, raw.done)


def parse_block(buffer: bytearray, length: int, rules: Rules) -> Block:
    """Parse whole lines of text, counted from line 1."""
    narrow = min(rules.largest_index, np.iinfo(np.int32).max)
    try:
        return _parse(buffer, length, rules, np.int32, narrow)
    except MalformedLine as error:
        if error.code != lines.OUT_OF_RANGE or rules.largest_index == narrow:
            raise
    return _parse(buffer, length, rules, np.int64, rules.largest_index)


def _parse(buffer: bytearray, length: int, rules: Rules, index_type: Any, largest_index: int) -> Block:
    text = np.frombuffer(buffer, dtype=np.uint8)
    state = np.zeros(lines.SIZE_OF_STATE, dtype=np.int64)
    most_rows, most_entries = np.count_nonzero(text[:length] == LINE_FEED), length // SHORTEST_ENTRY + 1
    ends = np.zeros(1 + most_rows, dtype=np.int64)
    parsed = lines.Parsed(
        labels=np.empty(most_rows),
        ends=ends[1:],
        queries=np.empty(most_rows if rules.query_id else 1, dtype=np.int64),
        indices=np.empty(most_entries, dtype=index_type),
        values=np.empty(most_entries),
        hard=np.empty((HARD_NUMBERS, 3), dtype=np.int64),
    )
    overflow = FLOAT32_OVERFLOW if rules.dtype == np.float32 else np.inf
    limits = lines.Limits(rules.smallest_index, largest_index, overflow, rules.query_id)
    problem = None
    while state[lines.POSITION] < length and problem is None:
        stop = min(length, int(state[lines.POSITION]) + SLICE_BYTES)
        code = lines.parse_lines(text, stop, state, parsed, limits)
        problem = _read_hard_numbers(buffer, state, parsed, overflow)
        if problem is None and code > lines.FULL:
            position = int(state[lines.POSITION])
            problem = MalformedLine(code, buffer, position, limits.smallest_index, limits.largest_index)
    rows, entries = int(state[lines.ROWS]), int(state[lines.ENTRIES])
    indptr = ends[: rows + 1]
    indices, values = parsed.indices[:entries], parsed.values[:entries]
    if state[lines.UNSORTED]:
        indices, values = _sorted_rows(buffer, indptr, indices[: indptr[-1]], values[: indptr[-1]], problem)
    if problem is not None:
        raise problem
    smallest, largest = (int(indices.min()), int(indices.max())) if entries else (-1, -1)
    values = values.astype(rules.dtype, copy=False)
    labels, query_ids = parsed.labels[:rows], parsed.queries[: rows if rules.query_id else 0]
    return Block(labels, indptr, indices, values, query_ids, 1, int(state[lines.LINES]), smallest, largest)


def _read_hard_numbers(
    buffer: bytearray, state: np.ndarray, parsed: lines.Parsed, overflow: float
) -> MalformedLine | None:
    """Let Python read the numbers that compiled code left to it; return what is wrong with the first bad one."""
    for entry, begin, end in parsed.hard[: state[lines.HARD]].tolist():
        number = float(buffer[begin:end])
        if not abs(number) < (overflow if entry >= 0 else np.inf):
            return MalformedLine(lines.TOO_LARGE_VALUE, buffer, begin)
        if entry >= 0:
            parsed.values[entry] = number
        else:
            parsed.labels[lines.NO_ENTRY - entry] = number
    state[lines.HARD] = 0
    return None


def _sorted_rows(
    buffer: bytearray, indptr: np.ndarray, indices: np.ndarray, values: np.ndarray, problem: MalformedLine | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return indices and values with each row in increasing order; raise the first problem if an index is repeated."""
    rows = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    order = np.lexsort((indices, rows))
    indices, values = indices[order], values[order]
    repeated = np.flatnonzero((indices[1:] == indices[:-1]) & (rows[1:] == rows[:-1]))
    if repeated.size:
        found = MalformedLine(lines.REPEATED, buffer, position_of_repeated(buffer, int(rows[repeated[0]])))
        raise found if problem is None or found.line < problem.line else problem
    return indices, values


def _value_type(dtype: Any) -> np.dtype[Any]:
    wanted = np.dtype(dtype)
    if wanted not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"dtype must be float32 or float64, got {wanted}.")
    return wanted


def _index_range(zero_based: ZeroBased, n_features: int | None) -> tuple[int, int]:
    """Return the smallest and the largest index that may be written."""
    if not (isinstance(zero_based, bool) or zero_based == "auto"):
        raise ValueError(f"zero_based must be True, False or 'auto', got {zero_based!r}.")
    if n_features is not None and n_features < 1:
        raise ValueError(f"n_features must be 1 or more, got {n_features}.")
    smallest = 1 if zero_based is False else 0
    if n_features is None:
        return smallest, LARGEST_INDEX
    # The text may be one-based: an index equal to n_features is right then.
    return smallest, min(LARGEST_INDEX, n_features - 1 if zero_based is True else n_features)
