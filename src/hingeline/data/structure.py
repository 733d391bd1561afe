"""Checks the structure of a sparse X before anything uses its indices: SciPy's own methods crash on a broken one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels.passes import scan_sparse
from ..kernels.views import read_only, unsigned
from ..runtime.aside import aside
from ..runtime.pace import Pace


def csr_arrays(X: Any, pace: Pace) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return data, indices, indptr of ``X`` as CSR; other formats are checked before SciPy converts them."""
    if X.format != "csr":
        if X.format == "csc":
            check_structure(X.indptr, X.indices, X.data, X.shape[1], X.shape[0], "column", "row", pace)
        elif X.format == "bsr":
            r, c = X.blocksize
            blocks = X.data.reshape(len(X.data), -1)[:, 0] if X.data.size else X.data.reshape(-1)
            n_rows, n_columns = X.shape[0] // r, X.shape[1] // c
            check_structure(X.indptr, X.indices, blocks, n_rows, n_columns, "block row", "block column", pace)
        elif X.format == "coo":
            _check_coordinates(X)
        X = aside(X.tocsr, X.nnz)
    return X.data, X.indices, X.indptr


def _check_coordinates(X: Any) -> None:
    for axis, (at, size) in enumerate(zip((X.row, X.col), X.shape, strict=True)):
        name = ("row", "col")[axis]
        if at.shape != X.data.shape or at.dtype.kind not in "iu":
            raise ValueError(f"X.{name} must hold one integer per entry of X.data: the COO matrix is malformed.")
        if at.size and not (at.min() >= 0 and at.max() < size):
            k = int(np.argmax((at < 0) | (at >= size)))
            raise ValueError(f"X.{name}[{k}] is {at[k]}, outside [0, {size}): the COO matrix is malformed.")


def check_vectors(indptr: np.ndarray, indices: np.ndarray, data: np.ndarray | None, n_major: int, major: str) -> None:
    """Raise unless the vectors of a compressed matrix have the types and lengths that they must have."""
    for name, array in (("indptr", indptr), ("indices", indices)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise ValueError(f"X.{name} must be a vector of integers; got {array.dtype} of shape {array.shape}.")
    if indptr.size != n_major + 1:
        raise ValueError(f"X.indptr has {indptr.size} entries, but {n_major} {major}s need {n_major + 1}.")
    if data is not None and (data.ndim != 1 or indices.size != data.size):
        raise ValueError(f"X.indices has {indices.size} entries, but X.data has shape {data.shape}: they must match.")
    if indptr[0] != 0:
        raise ValueError(f"X.indptr[0] is {indptr[0]}; it must be 0.")


def check_structure(
    indptr: np.ndarray,
    indices: np.ndarray,
    data: np.ndarray | None,
    n_major: int,
    n_minor: int,
    major: str,
    minor: str,
    pace: Pace,
    first: int = 0,
) -> tuple[bool, bool]:
    """Check a compressed matrix before anything uses its indices; tell whether rows are sorted and values all 1.

    ``first`` is the number of the first row, for errors.
    """
    check_vectors(indptr, indices, data, n_major, major)
    is_float = data is not None and data.dtype.kind == "f" and data.dtype.itemsize in (4, 8)
    numeric = read_only(data) if is_float and data is not None else None
    arrays = unsigned(indptr), unsigned(indices), numeric, n_minor
    strictly_increasing = all_ones = True
    for bad, increasing, ones in pace.each(n_major, lambda part, begin, end: scan_sparse(*arrays, begin, end)):
        if bad >= 0:
            raise ValueError(_what_is_broken(indptr, indices, int(bad), n_minor, major, minor, first + int(bad)))
        strictly_increasing &= increasing
        all_ones &= ones
    return strictly_increasing, all_ones and indices.size > 0


def _what_is_broken(
    indptr: np.ndarray, indices: np.ndarray, i: int, n_minor: int, major: str, minor: str, name: int
) -> str:
    first, last = int(indptr[i]), int(indptr[i + 1])
    if not 0 <= first <= last <= indices.size:
        return (
            f"X.indptr is broken at {major} {name}: it runs from {first} to {last}, but bounds must not decrease and "
            f"not exceed the {indices.size} stored entries. Rebuild the matrix from its entries."
        )
    at = first + int(np.argmax((indices[first:last] < 0) | (indices[first:last] >= n_minor)))
    return f"X has {minor} index {indices[at]} in {major} {name}, outside [0, {n_minor}). Check how it was built."
