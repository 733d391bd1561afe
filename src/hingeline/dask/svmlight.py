"""Files in svmlight format as Dask arrays: each file is read by a worker, and all get the same number of columns."""

from __future__ import annotations

from collections.abc import Sequence
from glob import glob, has_magic
from operator import getitem
from os import PathLike, fspath
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from distributed import Client
from scipy import sparse

from ..io.text.load import load_svmlight
from ..io.text.svmlight import ZeroBased
from .clients import current_client, raise_first_error, submit


def read_svmlight(
    source: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    n_features: int | None = None,
    dtype: Any = np.float64,
    zero_based: ZeroBased = "auto",
    client: Client | None = None,
) -> tuple[da.Array, da.Array]:
    """Read files in svmlight format on the workers, which must see them under the same paths.

    The rows stay on the workers. A file is read again if its worker is lost.

    Parameters
    ----------
    source : path, pattern such as "part-*.svm.gz", or sequence of paths
        Plain text, or compressed with gzip, bzip2, xz or zstd. Each file becomes a partition, in the order of names.
    n_features : int, optional
        Number of columns. None: the largest index in all files.
    dtype : float32 or float64, default=float64
        Type of the values.
    zero_based : bool or "auto", default="auto"
        Whether the first column has index 0 or 1. "auto": one-based unless an index 0 occurs in any of the files.
    client : Client, optional
        None: the current client.

    Returns
    -------
    X : dask.array.Array of shape (n_rows, n_features)
        Its blocks are SciPy CSR matrices.
    y : dask.array.Array of shape (n_rows,), float64
        Labels.

    Raises
    ------
    ValueError
        If a line is malformed; the message names file, line, column and text.
    """
    client = current_client(client)
    if client is None:
        raise ValueError("read_svmlight needs a cluster: create a dask.distributed.Client first.")
    paths = _paths(client, source)
    read = [submit(client, "read-text", _read, path, n_features, dtype, zero_based) for path in paths]
    found = [submit(client, "extent-of-text", _extent, part) for part in read]
    raise_first_error(client, read, found)
    extents: list[Extent] = client.gather(found)
    one_based = zero_based == "auto" and all(extent.smallest != 0 for extent in extents)
    width = max(1, *(extent.largest + 1 - one_based for extent in extents))
    if n_features is None:
        n_features = width
    elif width > n_features:  # the base is known only now: the worker says where the index is
        wide = next(path for path, at in zip(paths, extents, strict=True) if at.largest - one_based >= n_features)
        submit(client, "read-text", _read, wide, n_features, dtype, not one_based).result()
    parts = [submit(client, "columns-of-text", _placed, part, int(one_based), n_features) for part in read]
    X, y = ([submit(client, "rows-or-labels", getitem, part, at) for part in parts] for at in (0, 1))
    n_rows = [extent.n_rows for extent in extents]
    meta = sparse.csr_matrix((0, 0), dtype=dtype)
    return (
        da.concatenate([da.from_delayed(x, (n, n_features), meta=meta) for x, n in zip(X, n_rows, strict=True)]),
        da.concatenate([da.from_delayed(labels, (n,), dtype=np.float64) for labels, n in zip(y, n_rows, strict=True)]),
    )


class Extent(NamedTuple):
    """What a file says about the shape of all."""

    n_rows: int
    smallest: int | None  # index; None if there are no entries
    largest: int


def _paths(client: Client, source: Any) -> list[str]:
    """Return the paths of the files; a pattern is looked up by a worker."""
    if not isinstance(source, (str, PathLike)):
        paths = [fspath(path) for path in source]
    else:
        path = fspath(source)
        paths = sorted(submit(client, "find-files", glob, path).result()) if has_magic(path) else [path]
    if not paths:
        raise ValueError(f"No file matches {source!r} on the workers: they must see the files under the same paths.")
    return paths


def _read(path: str, n_features: int | None, dtype: Any, zero_based: ZeroBased) -> tuple[Any, np.ndarray]:
    """Return the rows of a file. With "auto", columns are numbered as in the file."""
    if zero_based == "auto":
        return load_svmlight(path, dtype=dtype, zero_based=True, n_threads=1)
    return load_svmlight(path, n_features=n_features, dtype=dtype, zero_based=zero_based, n_threads=1)


def _extent(part: tuple[Any, np.ndarray]) -> Extent:
    X = part[0]
    if not X.nnz:
        return Extent(X.shape[0], None, -1)
    return Extent(X.shape[0], int(X.indices.min()), int(X.indices.max()))


def _placed(part: tuple[Any, np.ndarray], shift: int, n_features: int) -> tuple[Any, np.ndarray]:
    """Return rows with ``n_features`` columns, moved to the left by ``shift``."""
    X, y = part
    moved = sparse.csr_matrix((X.data, X.indices - shift, X.indptr), shape=(X.shape[0], n_features), copy=False)
    return moved, y
