"""Users' input as futures of pieces: Dask arrays and dataframes, lists of delayed objects or futures, folders, arrays.

The pieces of X, y and sample_weight with the same number belong together. The workers check that they have the same
number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isnan
from os import PathLike
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import Delayed
from distributed import Client, Future
from scipy import sparse

from ..estimators.base import as_matrix
from .dataset import open_dataset
from .partitions import Partitions, place


def partitions_of(
    client: Client, X: Any, y: Any = None, sample_weight: Any = None, *, targets: bool = False
) -> Partitions:
    """Return the rows of a collection as checked partitions on the workers of ``client``.

    Parameters
    ----------
    client : Client
    X : Dask array or dataframe, list of delayed or futures, path of a dataset folder, array, or Partitions
    y, sample_weight : the same kinds of collections, with the partitions of X
        Without y, X holds it: a folder, ``Partitions``, or delayed tuples (X, y) or (X, y, sample_weight).
    targets : bool
        Whether y holds the targets of a regression.
    """
    if isinstance(X, Partitions):
        if y is not None or sample_weight is not None:
            raise ValueError("Partitions already hold y and sample_weight: pass X alone.")
        return X
    if isinstance(X, (str, PathLike)):
        X, labels = open_dataset(X, client=client)
        y = labels if y is None else y
    if y is None and not is_list_of_pieces(X):
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    if y is None and sample_weight is not None:
        raise ValueError("sample_weight needs y: pass both, or put both into the pieces, as (X, y, sample_weight).")
    names = _names_of(X)
    X = as_collection(X, max(1, sum(client.nthreads().values())))
    chunks = row_chunks(X)
    columns = [_compute(client, pieces_of(X, "X"))]
    for name, values in (("y", y), ("sample_weight", sample_weight)):
        if values is None:
            columns.append([None] * len(columns[0]))
            continue
        columns.append(_compute(client, pieces_of(cut_like(values, chunks, name), name)))
        if len(columns[-1]) != len(columns[0]):
            raise ValueError(
                f"X has {len(columns[0])} partitions, but {name} has {len(columns[-1])}: they must match. Rechunk or "
                f"repartition {name} like X."
            )
    return place(client, list(zip(*columns, strict=True)), targets=targets, features=names)


def is_list_of_pieces(X: Any) -> bool:
    """Tell whether ``X`` is a list (or tuple) of delayed values or futures, or a single one."""
    if isinstance(X, (Delayed, Future)):
        return True
    return isinstance(X, (list, tuple)) and len(X) > 0 and all(isinstance(x, (Delayed, Future)) for x in X)


def is_collection(X: Any) -> bool:
    """Tell whether ``X`` is something whose predictions are lazy."""
    return isinstance(X, da.Array) or is_frame(X) or is_list_of_pieces(X)


def is_frame(X: Any) -> bool:
    """Tell whether ``X`` is a Dask dataframe or series. (Asked without importing these.)"""
    if isinstance(X, (da.Array, Delayed)):  # a delayed value has every attribute
        return False
    return hasattr(X, "__dask_graph__") and hasattr(X, "npartitions") and hasattr(X, "to_delayed")


def as_collection(X: Any, n_parts: int) -> Any:
    """Return collections unchanged, and arrays and sparse matrices in memory as Dask arrays of ``n_parts`` blocks."""
    if is_collection(X):
        return X
    if sparse.issparse(X):
        X = X.tocsr()
        bounds = np.linspace(0, X.shape[0], min(n_parts, max(1, X.shape[0])) + 1).astype(int)
        blocks = [da.from_array(X[a:b], chunks=-1, asarray=False) for a, b in pairwise(bounds)]
        return da.concatenate(blocks)
    X = as_matrix(X)
    if X.ndim != 2:
        return da.from_array(X, chunks=-1)  # the worker raises the error
    return da.from_array(X, chunks=(-(-X.shape[0] // n_parts) or 1, -1))


def pieces_of(values: Any, name: str) -> list[Any]:
    """Return the blocks of rows of a collection: delayed values or futures."""
    if isinstance(values, da.Array):
        if values.ndim > 1:
            # Blocks of rows need all of their columns.
            values = values.rechunk({axis: -1 for axis in range(1, values.ndim)})
        return list(values.to_delayed().ravel())
    if is_frame(values):
        return list(values.to_delayed())
    if is_list_of_pieces(values):
        return [values] if isinstance(values, (Delayed, Future)) else list(values)
    raise ValueError(
        f"{name} is a {type(values).__name__}: pass a Dask array, dataframe or series, or a list of delayed or futures."
    )


def _compute(client: Client, pieces: Sequence[Any]) -> list[Any]:
    """Return futures of pieces; nothing comes to the client."""
    delayed = [piece for piece in pieces if not isinstance(piece, Future)]
    coming = iter(client.compute(delayed))
    return [piece if isinstance(piece, Future) else next(coming) for piece in pieces]


def row_chunks(X: Any) -> tuple[int, ...] | None:
    """Return the numbers of rows of the pieces of X, if they are known."""
    if not isinstance(X, da.Array) or any(isnan(n) for n in X.chunks[0]):
        return None
    return tuple(X.chunks[0])


def cut_like(values: Any, chunks: tuple[int, ...] | None, name: str) -> Any:
    """Return y or sample_weight in the pieces that X has, as far as these are known."""
    if is_collection(values):
        known = isinstance(values, da.Array) and not any(isnan(n) for n in values.chunks[0])
        if chunks is not None and known and values.shape[0] == sum(chunks):
            return values.rechunk({0: chunks})
        return values
    if chunks is None:
        raise ValueError(
            f"{name} is a {type(values).__name__} in memory, but the numbers of rows in the partitions of X are not "
            f"known: pass {name} as a collection with the partitions of X."
        )
    values = np.asarray(values)
    if values.ndim == 0 or values.shape[0] != sum(chunks):
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: [{sum(chunks)}, "
            f"{values.shape[0] if values.ndim else 1}] (X and {name})"
        )
    return da.from_array(values, chunks=(chunks, *((-1,) * (values.ndim - 1))))


def _names_of(X: Any) -> dict[str, Any]:
    """Return the names of the features, if all of them are strings, as scikit-learn keeps them."""
    names = [] if isinstance(X, Delayed) else list(getattr(X, "columns", ()))
    if not names or not all(isinstance(name, str) for name in names):
        return {}
    return {"feature_names_in_": np.asarray(names, dtype=object)}
