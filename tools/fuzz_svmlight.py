"""Mutated svmlight files through hingeline's parser, each compared with a slow reader of a few lines.

    python tools/fuzz_svmlight.py --files 200000 --seed 0

Every file must either be refused by both, at the same line, or be read by both to the same rows, bit for bit. A
crash or a hang ends the run with a trace; the file that caused it is left where ``--keep`` says.
"""

from __future__ import annotations

import argparse
import bz2
import faulthandler
import gzip
import io
import lzma
import random
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hingeline.io.text.svmlight import iter_svmlight

HANG_SECONDS, WATCHED_TOGETHER = 600.0, 500
SEEDS = (
    b"+1 1:1 2:0.5 7:-3 # comment\n-1 3:1e-3 4:1\r\n\n2.5 qid:3 1:1 9:.25\n0\n",
    b"-1 1:1 4:1 21:1 22:1 23:1\n" * 4,
    b"1 0:0.1234567890123456789 5:9007199254740993 6:1e-320 7:-0.0\n1 3:1 2:2 1:3\n",
    b"3 qid:12 1:0.150752 2:0.109585 3:0.225622 4:0.213261 5:0.0275086\n3 qid:-1 2147483648:1\n",
    b"# header\n  -1.5e2\t10:+7 300000:1E5 2147483647:4.  # x 5:5\n1 999999999999999999:1",
)
PIECES = (
    *(bytes([byte]) for byte in b"\n\r \t:#-+.,e019\0\xff\x0b\x85"),
    *(b"qid:", b"qid:4 ", b"nan", b"inf", b"1_0", b"0x1p3", b" 2:2", b" 5:1 5:1", b" 2:1 1:1 2:1"),
    *(
        b"1e400",
        b"1e-400",
        b"-1e39",
        b"3.4028235677973366e38",
        b"0" * 20,
        b"9" * 19,
        b"18446744073709551617",
        b"1" * 60,
    ),
)

_NUMBER = rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
LABEL, QUERY = re.compile(_NUMBER), re.compile(rb"qid:([+-]?[0-9]{1,18})")
ENTRY = re.compile(rb"([0-9]+):(" + _NUMBER + rb")")


class Read(NamedTuple):
    """What a reader made of a file: the rows, or the number of the line that it refuses."""

    labels: bytes
    lengths: list[int]
    indices: list[int]
    values: bytes
    queries: list[int]
    refused: int | None


class Case(NamedTuple):
    """A file and how to read it."""

    data: bytes
    options: dict[str, Any]
    compressed: bool


def reference(data: bytes, dtype: Any, zero_based: Any, n_features: int | None, query_id: bool) -> Read:
    """Read svmlight text line by line with regular expressions and Python's ``float``."""
    largest = 10**18 - 1 if n_features is None else n_features - (zero_based is True)
    labels, lengths, indices, values, queries = list[float](), list[int](), list[int](), list[Any](), list[int]()
    refused = None
    for number, line in enumerate(data.split(b"\n"), 1):
        words = re.split(rb"[ \t\r\v\f]+", line.split(b"#", 1)[0].strip(b" \t\r\v\f"))
        if words == [b""]:
            continue
        query = words.pop(1) if len(words) > 1 and words[1].startswith(b"q") else None
        entries = [ENTRY.fullmatch(word) for word in words[1:]]
        with np.errstate(over="ignore"):
            row = sorted((int(match[1]), dtype(float(match[2]))) for match in entries if match)
        distinct = {index for index, _ in row}
        right = LABEL.fullmatch(words[0]) and np.isfinite(float(words[0])) and None not in entries
        right = right and len(distinct) == len(row) and all(np.isfinite(value) for _, value in row)
        right = right and all((zero_based is False) <= index <= largest for index in distinct)
        right = right and (QUERY.fullmatch(query) if query is not None else not query_id)
        if not right:
            refused = number
            break
        labels.append(float(words[0]))
        lengths.append(len(row))
        indices += [index for index, _ in row]
        values += [value for _, value in row]
        queries += [int(query.split(b":")[1])] if query_id and query else []
    return Read(np.array(labels).tobytes(), lengths, indices, np.array(values, dtype=dtype).tobytes(), queries, refused)


def parsed(data: bytes, options: dict[str, Any], read: Callable[..., Any] = iter_svmlight) -> Read:
    """Read with the parser under test."""
    blocks, refused = [], None
    try:
        for block in read(io.BytesIO(data), **options):
            blocks.append(block)
    except ValueError as error:
        found = re.match(r"<BytesIO>, line ([0-9]+), column [0-9]+: .", str(error))
        refused = int(found[1]) if found else 0
    for block in blocks:
        assert block.indptr[0] == 0
        assert block.indptr[-1] == block.indices.size == block.values.size
        assert block.indices.size == 0 or block.min_index == block.indices.min() >= 0
        assert block.indices.size == 0 or block.max_index == block.indices.max()
    dtype = options["dtype"]
    labels, values = [block.labels for block in blocks], [block.values for block in blocks]
    return Read(
        np.concatenate([np.empty(0), *labels]).tobytes(),
        [int(length) for block in blocks for length in np.diff(block.indptr)],
        [index for block in blocks for index in block.indices.tolist()],
        np.concatenate([np.empty(0, dtype), *values]).tobytes(),
        [query for block in blocks for query in block.query_ids.tolist()],
        refused,
    )


def mutated(rng: random.Random) -> Case:
    """Return a file made from one of the seeds by a few random edits, and how to read it."""
    data = bytearray(rng.choice(SEEDS))
    compressed = rng.random() < 0.1
    if compressed:
        data = bytearray(rng.choice((gzip.compress, bz2.compress, lzma.compress))(bytes(data)))
    for _ in range(rng.choice((0, 1, 1, 2, 3, 8))):
        i, kind = rng.randrange(len(data) + 1), rng.randrange(6)
        if kind == 0 and i < len(data):
            data[i] ^= 1 << rng.randrange(8)
        elif kind == 1 and i < len(data):
            data[i] = rng.randrange(256)
        elif kind == 2:
            del data[i : i + rng.randrange(1, 9)]
        elif kind == 3:
            j = rng.randrange(len(data) + 1)
            data[i:i] = data[j : j + rng.randrange(1, 30)]
        elif kind == 4 and not compressed:
            data[i:i] = rng.choice(PIECES)
        elif kind == 5:
            del data[i:]
    options = {
        "dtype": rng.choice((np.float64, np.float64, np.float32)),
        "zero_based": rng.choice(("auto", "auto", True, False)),
        "n_features": rng.choice((None, None, None, 22, 2**31)),
        "query_id": rng.random() < 0.2,
        "block_bytes": rng.choice((1, 7, 40, 1 << 10)),
        "n_threads": 2 if rng.random() < 0.02 else 1,
    }
    return Case(bytes(data), options, compressed)


def check(case: Case) -> bool:
    """Raise an AssertionError if the readers disagree; return whether the file was refused."""
    found = parsed(case.data, case.options)
    if not case.compressed:
        names = ("dtype", "zero_based", "n_features", "query_id")
        expected = reference(case.data, *(case.options[name] for name in names))
        if expected.refused is None:
            assert found == expected, (case, found, expected)
        else:  # rows of the blocks before may or may not have come
            assert found.refused == expected.refused, (case, found.refused, expected.refused)
    return found.refused is not None


def main() -> None:
    """Run the files, and say how many were refused."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--keep", type=Path, help="where each file is written before it is read, for a post-mortem (slow)"
    )
    args = parser.parse_args()
    rng, refused, started = random.Random(args.seed), 0, time.perf_counter()
    for done in range(args.files):
        case = mutated(rng)
        if args.keep is not None:
            args.keep.write_bytes(case.data)
        if done % WATCHED_TOGETHER == 0:  # the watchdog is a thread, and expensive to start
            faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
        refused += check(case)
        if done % 10_000 == 0:
            print(f"{done:,} files, {refused:,} refused, {time.perf_counter() - started:.0f} s", flush=True)
    faulthandler.cancel_dump_traceback_later()
    print(f"{args.files:,} files: {refused:,} refused, {args.files - refused:,} read, no disagreement")


if __name__ == "__main__":
    main()
