"""Dataset folders, as ``hingeline convert`` makes them, as Dask arrays: each block is mapped by its worker."""

from __future__ import annotations

from itertools import pairwise
from os import PathLike, fspath
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from distributed import Client
from scipy import sparse

from ..io.dataset.folder import open_dataset as open_folder
from .clients import current_client

WITHOUT_CLUSTER = 8  # blocks, if there is no cluster whose size could tell


def open_dataset(
    path: str | PathLike[str], *, n_partitions: int | None = None, client: Client | None = None
) -> tuple[da.Array, da.Array]:
    """Open a dataset folder on the workers, which must see it under the same path.

    Parameters
    ----------
    path : str or path
        A folder made by ``hingeline convert`` or ``hingeline.io.write_dataset``.
    n_partitions : int, optional
        Number of blocks, which hold about the same number of stored values each. None: one per thread of the cluster.
    client : Client, optional
        None: the current client, if there is one.

    Returns
    -------
    X : dask.array.Array of shape (n_rows, n_features)
        Its blocks are memory-mapped SciPy CSR matrices: they take memory only as they are read.
    y : dask.array.Array of shape (n_rows,)
        Labels.
    """
    path, client = fspath(path), current_client(client)
    if n_partitions is None:
        n_partitions = WITHOUT_CLUSTER if client is None else max(1, sum(client.nthreads().values()))
    plan = delayed(_plan)(path, n_partitions)
    bounds, n_features, dtype, label_dtype = (
        plan.compute(scheduler="sync") if client is None else client.compute(plan).result()
    )
    chunks = [end - begin for begin, end in pairwise(bounds)]
    X, y = [], []
    read = delayed(rows_of_folder, pure=True)
    for begin, n_rows in zip(bounds, chunks, strict=False):
        piece = read(path, begin, begin + n_rows)
        X.append(da.from_delayed(piece[0], (n_rows, n_features), meta=sparse.csr_matrix((0, 0), dtype=dtype)))
        y.append(da.from_delayed(piece[1], (n_rows,), dtype=label_dtype))
    return da.concatenate(X), da.concatenate(y)


def rows_of_folder(path: str, begin: int, end: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return the rows begin to end of a dataset folder, memory-mapped."""
    X, y = open_folder(path)
    low, high = int(X.indptr[begin]), int(X.indptr[end])
    part = sparse.csr_matrix((end - begin, X.shape[1]), dtype=X.dtype)
    # SciPy's constructor would copy indices whose type differs from that of the row pointers.
    part.indptr = (X.indptr[begin : end + 1] - low).astype(X.indices.dtype if high - low < 2**31 else np.int64)
    part.indices, part.data = X.indices[low:high], X.data[low:high]
    return part, y[begin:end]


def _plan(path: str, n_partitions: int) -> tuple[list[int], int, Any, Any]:
    """Return the bounds of blocks with about as many stored values each, the number of columns, and the types."""
    X, y = open_folder(path)
    share = np.linspace(0.0, 1.0, n_partitions + 1)[1:-1]
    by_values = np.searchsorted(X.indptr, (share * int(X.indptr[-1])).astype(X.indptr.dtype))
    bounds = sorted({0, *map(int, by_values), X.shape[0]})
    return bounds, X.shape[1], X.dtype, y.dtype
