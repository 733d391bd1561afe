"""Sparse rows of any number, made in a folder of .npy files without being held in memory.

Each row has one column from each of ``nnz`` fields, whose sizes grow geometrically: a few columns are in every other
row, most are rare. A hidden weight a column decides the label; a tenth of the labels is turned over.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

AT_ONCE = 50_000  # rows
NOISE, SKEW = 0.1, 4.0


def make_rows(folder: Path, rows: int, cols: int, nnz: int, *, values: bool, seed: int = 0) -> None:
    """Write indptr, indices, labels and, where ``values`` are not all 1, data."""
    rng = np.random.default_rng(seed)
    sizes = np.geomspace(8.0, cols, nnz)
    sizes = np.maximum(4, sizes * (cols / sizes.sum())).astype(np.int64)
    sizes[-1] += cols - sizes.sum()
    starts = np.cumsum(sizes) - sizes
    hidden = rng.random(cols, dtype=np.float32) * 2.0 - 1.0
    pointer = np.int32 if rows * nnz < 2**31 else np.int64
    np.save(folder / "indptr.npy", np.arange(rows + 1, dtype=pointer) * pointer(nnz))
    indices = np.lib.format.open_memmap(folder / "indices.npy", "w+", np.int32, (rows * nnz,))
    data = np.lib.format.open_memmap(folder / "data.npy", "w+", np.float32, (rows * nnz,)) if values else None
    labels = np.empty(rows, dtype=np.int8)
    for begin in range(0, rows, AT_ONCE):
        n = min(AT_ONCE, rows - begin)
        entries = slice(begin * nnz, (begin + n) * nnz)
        columns = (starts + sizes * rng.random((n, nnz)) ** SKEW).astype(np.int32)
        indices[entries] = columns.ravel()
        scores = hidden[columns]
        if data is not None:
            drawn = rng.random((n, nnz), dtype=np.float32) * 0.75 + 0.25
            data[entries] = drawn.ravel()
            scores *= drawn
        labels[begin : begin + n] = np.where((scores.sum(axis=1) > 0.0) != (rng.random(n) < NOISE), 1, -1)
    np.save(folder / "labels.npy", labels)
    np.save(folder / "columns.npy", np.array(cols))
    for array in (indices, data):
        if array is not None:
            array.flush()


def open_rows(folder: Path) -> tuple[Any, np.ndarray]:
    """Return X, memory-mapped, and labels; where there are no values, one stored 1 stands for all."""
    if (folder / "dataset.json").exists():
        from hingeline.io import open_dataset

        return open_dataset(folder)
    arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("indptr", "indices", "labels")}
    X = sparse.csr_matrix((arrays["labels"].size, int(np.load(folder / "columns.npy"))), dtype=np.float32)
    X.indptr, X.indices = arrays["indptr"], arrays["indices"]
    values = folder / "data.npy"
    X.data = np.load(values, mmap_mode="r") if values.exists() else np.broadcast_to(np.float32(1.0), X.indices.shape)
    return X, np.array(arrays["labels"])
