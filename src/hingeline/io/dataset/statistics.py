"""Statistics of datasets and of text of any size: those of the paper's Table 1, and some more."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from ..text.streams import Progress
from ..text.svmlight import iter_svmlight
from ..threads import usable_cores
from .arrays import CHUNK_BYTES
from .folder import count_labels, is_dataset, open_dataset, read_description


@dataclass(frozen=True)
class Statistics:
    """Shape, sparsity and labels of a data set."""

    rows: int
    columns: int
    nonzeros: int
    shortest_row: int
    longest_row: int
    values: str  # their type, or "all 1"
    label_counts: list[tuple[float, int]] | None  # None: too many for classes
    bytes: int  # on disk

    @property
    def nonzeros_per_row(self) -> float:
        """Mean number of non-zeros in a row."""
        return self.nonzeros / self.rows

    @property
    def density(self) -> float:
        """Fraction of the entries that are not zero."""
        return self.nonzeros_per_row / max(1, self.columns)


def describe(path: str | PathLike[str], progress: Progress | None = None) -> Statistics:
    """Return the statistics of a dataset folder or of a file in svmlight form, in bounded memory."""
    return _of_dataset(Path(path)) if is_dataset(path) else _of_text(Path(path), progress)


def _of_dataset(folder: Path) -> Statistics:
    description = read_description(folder)
    X, _ = open_dataset(folder)
    shortest, longest = description.nonzeros, 0
    chunk = CHUNK_BYTES // X.indptr.itemsize
    for begin in range(0, description.rows, chunk):
        lengths = np.diff(X.indptr[begin : begin + chunk + 1])
        shortest, longest = min(shortest, int(lengths.min())), max(longest, int(lengths.max()))
    values = "all 1" if description.all_ones else description.vectors["data"].dtype
    counts = (description.rows, description.columns, description.nonzeros, shortest, longest)
    return Statistics(*counts, values, description.label_counts, description.bytes)


def _of_text(path: Path, progress: Progress | None) -> Statistics:
    rows = nonzeros = longest = 0
    smallest_index, largest_index, shortest, all_ones = 1, 0, np.inf, True
    counts: dict[float, int] | None = {}
    for block in iter_svmlight(path, n_threads=usable_cores(), progress=progress):
        if block.labels.size == 0:
            continue
        lengths = np.diff(block.indptr)
        rows, nonzeros = rows + lengths.size, nonzeros + block.indices.size
        shortest, longest = min(shortest, int(lengths.min())), max(longest, int(lengths.max()))
        counts = count_labels(counts, block.labels)
        if block.indices.size:
            smallest_index = min(smallest_index, block.min_index)
            largest_index = max(largest_index, block.max_index)
            all_ones = all_ones and bool((block.values == 1.0).all())
    if rows == 0:
        raise ValueError(f"{path} holds no rows: there is nothing to describe.")
    columns = largest_index + 1 - smallest_index  # counted from 0 if a 0 occurs, else from 1
    labels = None if counts is None else sorted(counts.items())
    values = "all 1" if all_ones else "numbers"
    return Statistics(rows, columns, nonzeros, int(shortest), longest, values, labels, path.stat().st_size)
