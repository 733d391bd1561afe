"""Rows on the workers of a Dask cluster: computed once, checked where they are, kept as long as they are needed.

A partition is a ``Block`` on a worker. The client has futures of blocks and knows their sizes, but never sees a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from distributed import Client, Future
from scipy import sparse
from sklearn.utils.validation import check_array, column_or_1d

from ..data.read import check_shape, read_matrix
from ..data.values import check_values, refuse_masked
from ..estimators.base import as_matrix
from ..estimators.labels import encode_weights
from ..kernels.rows import DenseRows
from ..solvers.solve import checked_targets
from .clients import raise_first_error, submit
from .versions import check_workers

FAN_IN = 8  # results that one task of a tree reduction combines


class Block(NamedTuple):
    """The rows of a partition, checked.

    Attributes
    ----------
    X : ndarray of float32 or float64 of shape (n_rows, n_features), or a SciPy CSR matrix
    y : ndarray of shape (n_rows,)
        Labels or targets as they were given.
    sample_weight : ndarray of float64 of shape (n_rows,), or None
        Finite and not negative; all of a partition's may be zero.
    """

    X: Any
    y: np.ndarray
    sample_weight: np.ndarray | None


class Size(NamedTuple):
    """Size of a block."""

    n_rows: int
    n_features: int
    n_stored: int
    weight: float  # sum of the weights


@dataclass(frozen=True)
class Partitions:
    """Blocks of rows on workers. Empty ones are left out.

    Attributes
    ----------
    client : Client
    parts : list of Future
        Each the future of a ``Block``.
    n_rows, n_stored : list of int
        Rows and stored values of each block.
    n_features : int
    features : dict
        What an estimator remembers of the features.
    """

    client: Client
    parts: list[Future[Any]]
    n_rows: list[int]
    n_features: int
    n_stored: list[int]
    features: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.parts)

    def map(self, function: Callable[..., Any], *args: Any) -> list[Future[Any]]:
        """Return futures of ``function(k, block k, *args)``."""
        name = function.__name__.strip("_").replace("_", "-")
        return [submit(self.client, name, function, k, part, *args) for k, part in enumerate(self.parts)]

    def reduce(self, function: Callable[..., Any], combine: Callable[[list[Any]], Any], *args: Any) -> Any:
        """Return ``function(k, block k, *args)`` of all blocks, combined by a tree of tasks on the workers."""
        futures = self.map(function, *args)
        total = tree_reduce(self.client, futures, combine)
        raise_first_error(self.client, futures, [total])
        return total.result()


def tree_reduce(client: Client, futures: Sequence[Future[Any]], combine: Callable[[list[Any]], Any]) -> Future[Any]:
    """Return the future of all results, combined ``FAN_IN`` at a time by ``combine(list of results)``, in order."""
    level = list(futures)
    while True:
        groups = [level[at : at + FAN_IN] for at in range(0, len(level), FAN_IN)]
        level = [submit(client, "add-up", combine, group) for group in groups]
        if len(level) == 1:
            return level[0]


def place(
    client: Client,
    pieces: Sequence[tuple[Future[Any], Future[Any] | None, Future[Any] | None]],
    *,
    targets: bool = False,
    features: dict[str, Any] | None = None,
) -> Partitions:
    """Check what is in ``pieces``, futures of X, y and sample_weight, on the workers, and keep it there.

    Parameters
    ----------
    client : Client
    pieces : sequence of (X, y, sample_weight)
        Without y, X is the future of a tuple: (X, y) or (X, y, sample_weight).
    targets : bool
        Whether y holds the targets of a regression, which must be finite numbers.
    features : dict, optional
        What an estimator is to remember of the features, besides their number.

    Raises
    ------
    ValueError
        As on one machine, with the number of the partition; rows are counted from its first.
    """
    check_workers(client)
    if not pieces:
        raise ValueError("X has no partitions: there is nothing to train on.")
    parts = [submit(client, "check-rows", read_block, k, *piece, targets) for k, piece in enumerate(pieces)]
    sizes = [submit(client, "size-of-rows", size_of, part) for part in parts]
    raise_first_error(client, parts, sizes)
    found: list[Size] = client.gather(sizes)
    full = [k for k, size in enumerate(found) if size.n_rows]
    if not full:
        raise ValueError(f"Found array with 0 sample(s) in {len(found)} partitions while a minimum of 1 is required.")
    n_features = found[full[0]].n_features
    for k in full:
        if found[k].n_features != n_features:
            raise ValueError(
                f"Partition {k} of X has {found[k].n_features} columns, but partition {full[0]} has {n_features}: all "
                "must have the same number."
            )
    if not sum(found[k].weight for k in full) > 0.0:
        raise ValueError("sample_weight is zero for every row: there is nothing to train on.")
    return Partitions(
        client,
        [parts[k] for k in full],
        [found[k].n_rows for k in full],
        n_features,
        [found[k].n_stored for k in full],
        {"n_features_in_": n_features, **(features or {})},
    )


def read_block(k: int, X: Any, y: Any, sample_weight: Any, targets: bool) -> Block | None:
    """Return partition ``k``, checked; None if it has no rows."""
    if y is None:
        X, y, sample_weight = _unpacked(k, X)
    try:
        return _checked_block(as_matrix(X), y, sample_weight, targets)
    except ValueError as error:
        raise type(error)(f"Partition {k} (rows are counted from its first): {error}") from error


def _unpacked(k: int, block: Any) -> tuple[Any, Any, Any]:
    if not (isinstance(block, tuple) and len(block) in (2, 3)):
        raise ValueError(
            f"Partition {k} is a {type(block).__name__}, but no y was given: without y, each partition must be a tuple "
            "(X, y) or (X, y, sample_weight)."
        )
    return block if len(block) == 3 else (*block, None)


def _checked_block(X: Any, y: Any, sample_weight: Any, targets: bool) -> Block | None:
    refuse_masked(y, "y")
    n_rows = X.shape[0]
    if n_rows == 0 and len(y) == 0:
        return None
    check_shape(X.shape)
    y = column_or_1d(y, warn=True)
    lengths = [n_rows, len(y)]
    weights = None
    if sample_weight is not None:
        weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, ensure_all_finite=False)
        lengths.append(len(weights))
    if len(set(lengths)) > 1:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {lengths}")
    rows = check_values(read_matrix(X)).rows
    if targets:
        checked_targets(y, n_rows)
    if weights is not None and weights.any():
        encode_weights(weights, n_rows)
    return Block(rows.X if isinstance(rows, DenseRows) else X.tocsr(), y, weights)


def size_of(block: Block | None) -> Size:
    """Return the size of a block."""
    if block is None:
        return Size(0, 0, 0, 0.0)
    X, _, weights = block
    weight = float(X.shape[0]) if weights is None else float(weights.sum())
    return Size(X.shape[0], X.shape[1], int(X.nnz if sparse.issparse(X) else X.size), weight)
