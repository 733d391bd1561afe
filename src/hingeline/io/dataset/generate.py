"""Synthetic datasets of any size, streamed to disk in bounded memory, to try things at scale.

Each row has K distinct columns, drawn from a Zipf distribution and scattered; a hidden weight vector decides the label,
and some of the labels are flipped. The same arguments give the same bytes, whatever the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from math import expm1, gcd, log, log1p
from os import PathLike

import numpy as np

from ...kernels.random import GOLDEN, MASK, plain_below, plain_word, seeded
from ..threads import map_in_order, usable_cores
from .draw import Drawn, Rule, Zipf, draw_rows
from .folder import Description
from .writer import DatasetWriter

BLOCK_NONZEROS = 1 << 20  # drawn in one compiled call: about 50 ms
HIDDEN_SHARE, FEWEST_HIDDEN = 0.2, 100  # of the columns decide the label; all of them if there are few
PILOT_ROWS = 2001  # their median score divides the classes
WORDS_PER_ROW = (1 << 24) * GOLDEN & MASK  # how far apart the streams of two rows are; a row needs far fewer words
MOST_COLUMNS, MOST_ROWS, MOST_PER_ROW = 2**31 - 1, 2**32 - 1, 2**20


class Recipe:
    """What all rows have in common; rows can be drawn from it in any order."""

    def __init__(self, columns: int, per_row: int, zipf: float, noise: float, values: bool, seed: int) -> None:
        _check(columns, per_row, zipf, noise)
        words = seeded(seed)
        self.per_row, self.noise, self.with_values = per_row, noise, values
        self.start, self.pilot_start, key = (np.uint64(plain_word(words)) for _ in range(3))
        self.rule = Rule(key, max(HIDDEN_SHARE, min(1.0, FEWEST_HIDDEN / columns)))
        factor = plain_below(words, columns)
        while gcd(factor, columns) != 1:
            factor = (factor + 1) % max(columns, 2)
        one_minus_a = 0.0 if abs(zipf - 1.0) < 1e-6 else 1.0 - zipf
        self.zipf = Zipf(
            columns,
            0.0 if one_minus_a == 0.0 else expm1(one_minus_a * log1p(columns)),
            0.0 if one_minus_a == 0.0 else 1.0 / one_minus_a,
            log(columns + 1) if one_minus_a == 0.0 else 0.0,
            np.uint64(factor),
            np.uint64(plain_below(words, columns)),
        )
        self.threshold = float(np.median(self._draw(self.pilot_start, 0, PILOT_ROWS).scores))

    def _draw(self, start: np.uint64, begin: int, end: int) -> Drawn:
        n = end - begin
        streams = np.arange(begin, end, dtype=np.uint64) * np.uint64(WORDS_PER_ROW) + start
        drawn = Drawn(
            columns=np.empty((n, self.per_row), np.int32),
            values=np.empty((n, self.per_row if self.with_values else 0), np.float32),
            scores=np.empty(n),
            chances=np.empty(n),
        )
        draw_rows(self.zipf, self.rule, streams, drawn)
        return drawn

    def rows(self, begin: int, end: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return labels, row pointers, columns and values of the rows from ``begin`` to before ``end``."""
        columns, values, scores, chances = self._draw(self.start, begin, end)
        labels = np.where((scores > self.threshold) != (chances < self.noise), np.int8(1), np.int8(-1))
        indptr = np.arange(end - begin + 1, dtype=np.int64) * self.per_row
        flat = values.ravel() if self.with_values else np.ones(columns.size, np.float32)
        return labels, indptr, columns.ravel(), flat


def make_dataset(
    path: str | PathLike[str],
    rows: int,
    columns: int,
    per_row: int,
    *,
    zipf: float = 1.1,
    noise: float = 0.02,
    values: bool = False,
    seed: int = 0,
    n_threads: int | None = None,
    force: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Description:
    """Make a synthetic two-class dataset on disk.

    Parameters
    ----------
    path : str or path
        The folder to create.
    rows, columns, per_row : int
        The shape, and the number of non-zeros in each row.
    zipf : float
        The column of rank r is drawn with probability proportional to about r^-zipf; 0: all are equally likely.
    noise : float
        Fraction of the labels that are flipped, at most 0.5.
    values : bool
        Values evenly spread over (0, 1], in float32, instead of ones, which need not be stored.
    seed : int
    n_threads : int, optional
        Default: one per core. The result does not depend on it.
    force : bool
        Replace an existing dataset.
    progress : callable, optional
        Called with the number of rows done, and of all rows.
    """
    if not 1 <= rows <= MOST_ROWS:
        raise ValueError(f"rows must be between 1 and {MOST_ROWS}; got {rows}.")
    recipe = Recipe(columns, per_row, zipf, noise, values, seed)
    source = f"made: zipf {zipf:g}, noise {noise:g}, seed {seed}"
    with DatasetWriter(path, force=force, source=source) as writer:
        size = max(1, BLOCK_NONZEROS // per_row)
        bounds = ((begin, min(begin + size, rows)) for begin in range(0, rows, size))
        for block in map_in_order(lambda bound: recipe.rows(*bound), bounds, n_threads or usable_cores()):
            writer.append(*block)
            if progress is not None:
                progress(writer.rows, rows)
        return writer.commit(columns=columns)


def _check(columns: int, per_row: int, zipf: float, noise: float) -> None:
    if not 1 <= columns <= MOST_COLUMNS:
        raise ValueError(f"columns must be between 1 and {MOST_COLUMNS}; got {columns}.")
    if not 1 <= per_row <= min(columns, MOST_PER_ROW):
        raise ValueError(f"non-zeros per row must be between 1 and {min(columns, MOST_PER_ROW)}; got {per_row}.")
    if not 0.0 <= zipf <= 10.0:
        raise ValueError(f"zipf must be between 0 and 10; got {zipf!r}.")
    if not 0.0 <= noise <= 0.5:
        raise ValueError(f"noise must be between 0 and 0.5; got {noise!r}.")
