"""Columns whose scale may be why training has not converged."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.matrix import Data
from ..kernels.rows import CsrRows, DenseRows

LARGE = 1e8  # a value beyond this, or a ratio of two columns' largest values: products of these exhaust float64
AT_ONCE = 2**20  # entries that are looked at in one call: Ctrl-C waits for it
NAMED = 3  # columns that a warning names, at most


def advice_on_scale(data: Data, names: Any = None) -> str:
    """Return a sentence that names the columns to scale; empty if none stands out, or if the rows are in files."""
    if data.blocks is not None:
        return ""
    largest = _largest_of_columns(data)
    used = np.flatnonzero(largest)
    if used.size == 0:
        return ""
    top, bottom = float(largest.max()), float(largest[used].min())
    if top <= LARGE and top <= LARGE * bottom:
        return ""
    order = used[np.argsort(-largest[used], kind="stable")]
    chosen = [j for j in order if largest[j] > LARGE or largest[j] > LARGE * bottom]
    listed = ", ".join(f"{names[j] if names is not None else int(j)} ({largest[j]:.1e})" for j in chosen[:NAMED])
    more = f" and {len(chosen) - NAMED} more" if len(chosen) > NAMED else ""
    range_of = f"The columns' largest values range from {bottom:.1e} to {top:.1e}, which is too much for float64"
    return f"{range_of}: scale the columns, first of all {listed}{more}."


def _largest_of_columns(data: Data) -> np.ndarray:
    """Return the largest absolute value of each column."""
    rows, n = data.rows, data.n_features
    if isinstance(rows, DenseRows):
        return np.maximum(rows.X.max(axis=0), -rows.X.min(axis=0)).astype(np.float64)
    largest = np.zeros(n)
    for begin in range(0, rows.indices.size, AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        np.maximum.at(largest, rows.indices[part], np.abs(rows.data[part]) if isinstance(rows, CsrRows) else 1.0)
    return largest
