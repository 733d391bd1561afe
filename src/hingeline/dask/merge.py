"""Results of several shards as one: the same rule on a worker, along a tree of workers, and on the client.

Parts are always merged in the same order, so results do not depend on timing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..kernels.types import Indices, Vector
from ..solvers.certificate_parts import CertificateParts, sum_parts
from ..solvers.shards.interface import Comparison, Responses

SMALL_VECTOR = 10_000  # entries that are sent as they are
PER_ENTRY = 1.5  # what an entry of a sparse vector takes, in entries of a dense one


class Widest(NamedTuple):
    """The variable that can move most: how far, the number of its partition, and its row there."""

    room: float
    partition: int
    row: int


class SparseVector(NamedTuple):
    """A vector by its non-zeros."""

    indices: Indices
    values: Vector
    size: int


class GatheredRows(NamedTuple):
    """Rows that one worker gathers, all of them or a sample.

    Attributes
    ----------
    X : ndarray or SciPy CSR matrix; None if the worker has them already
    y, C : what is learned from them, and their C_i
    sizes : the number of each partition and of its rows, in order
    """

    X: Any
    y: Vector
    C: Vector
    sizes: tuple[tuple[int, int], ...]

    @classmethod
    def merged(cls, parts: Sequence[GatheredRows]) -> GatheredRows:
        """Return the rows of all parts, one after the other; dense and sparse rows together are sparse."""
        y, C = (np.concatenate([part[k] for part in parts]) for k in (1, 2))
        sizes = tuple(size for part in parts for size in part.sizes)
        matrices = [part.X for part in parts]
        if matrices[0] is None:
            return cls(None, y, C, sizes)
        if any(sparse.issparse(X) for X in matrices):
            return cls(sparse.vstack(matrices, format="csr"), y, C, sizes)
        return cls(np.concatenate(matrices), y, C, sizes)


def packed(value: Any) -> Any:
    """Return results as they are sent: vectors of many zeros as sparse ones."""
    if isinstance(value, np.ndarray) and value.ndim == 1 and value.size > SMALL_VECTOR:
        n_nonzeros = np.count_nonzero(value)
        if PER_ENTRY * n_nonzeros < value.size:
            where = np.flatnonzero(value)
            return SparseVector(where.astype(np.uint32), value[where], value.size)
    if type(value) is tuple:
        return tuple(map(packed, value))
    return value


def unpacked(value: Any) -> Any:
    """Return results as they were before ``packed``."""
    if isinstance(value, SparseVector):
        dense = np.zeros(value.size)
        dense[value.indices] = value.values
        return dense
    if type(value) is tuple:
        return tuple(map(unpacked, value))
    return value


def merged(parts: Sequence[Any]) -> Any:
    """Return the parts as one; they are of one type, which decides how."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if isinstance(first, Responses):
        return Responses.total(parts)
    if isinstance(first, CertificateParts):
        return sum_parts(parts)
    if isinstance(first, Widest):
        return max(parts)
    if isinstance(first, Comparison):
        return _merged_comparisons(parts)
    if hasattr(type(first), "merged"):
        return type(first).merged(parts)
    if isinstance(first, np.ndarray):
        total = parts[0] + parts[1]
        for part in parts[2:]:
            total += part
        return total
    if isinstance(first, tuple):
        return tuple(merged(column) for column in zip(*parts, strict=True))
    if isinstance(first, dict):
        return {key: value for part in parts for key, value in part.items()}
    if isinstance(first, bool):
        return any(parts)
    return None if first is None else sum(parts)


def _merged_comparisons(parts: Iterable[Comparison]) -> Comparison:
    violations, gaps, excesses = zip(*parts, strict=True)
    some = [excess for excess in excesses if excess is not None]
    return Comparison(max(violations), sum(gaps), merged(some) if some else None)


def n_bytes(value: Any) -> int:
    """Return approximately how many bytes a value takes when it is sent."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if sparse.issparse(value):
        return int(value.data.nbytes + value.indices.nbytes + value.indptr.nbytes)
    if isinstance(value, (tuple, list)):
        return sum(map(n_bytes, value))
    return 8
