"""The Gram matrix of weighted rows in memory: by a compiled loop, or by BLAS for dense rows of many columns."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..kernels.gram import add_gram, room_for_gram
from ..kernels.rows import DenseRows, Rows
from ..kernels.types import Matrix, Vector
from ..runtime.pace import Pace

NARROW = 100  # columns up to which a loop over blocks of rows beats a call of BLAS, which needs a copy
DENSE_BLOCK = 256  # rows that BLAS multiplies at a time, at first
LARGEST_BLOCK = 2**20  # values of a copied block: the memory is reused, and Ctrl-C works between blocks


class WeightedGram:
    """Adds sum_i s_i x_i x_i' to a matrix, a slice of rows at a time; ``between`` is called between two slices.

    ``distinct`` says that no row names a column twice.
    """

    def __init__(self, rows: Rows, distinct: bool, between: Callable[[], None]) -> None:
        self.rows, self.distinct = rows, distinct
        self._room: Matrix | None = None
        self._slices, self._blocks = Pace(between), Pace(between, first=DENSE_BLOCK)

    def add(self, s: Vector, G: Matrix) -> None:
        """G <- G + sum_i s_i x_i x_i', the upper triangle at least."""
        if self.is_by_blas(G):
            assert isinstance(self.rows, DenseRows)
            self._add_by_blas(self.rows, s, G)
        else:
            self.add_slices(partial(add_gram, self.rows, s), s.size, G)

    def is_by_blas(self, G: Matrix) -> bool:
        """Tell whether BLAS computes the matrix."""
        return uses_blas(self.rows, len(G))

    def add_slices(self, add: Callable[..., None], n_rows: int, G: Matrix) -> None:
        """Have the kernel ``add`` go over the rows, a slice at a time."""
        room = self.room()
        for begin, end in self._slices.slices(n_rows):
            add(self.distinct, G, room, begin, end)

    def room(self) -> Matrix:
        """Return the work space of the compiled loop."""
        if self._room is None:
            self._room = room_for_gram(self.rows)
        return self._room

    def _add_by_blas(self, rows: DenseRows, s: Vector, G: Matrix) -> None:
        """Multiply blocks of rows: first those with s_i > 0, then those with s_i < 0.

        NumPy's product lets other threads run at the same time; SciPy's BLAS functions do not.
        """
        most = max(DENSE_BLOCK, LARGEST_BLOCK // len(G))
        for sign in (1.0, -1.0):
            chosen = np.flatnonzero(s * sign > 0.0)
            for begin, end in self._blocks.slices(chosen.size):
                for at in range(begin, end, most):
                    part = chosen[at : min(at + most, end)]
                    root = np.sqrt(np.abs(s[part]))
                    block = np.empty((part.size, len(G)))
                    np.multiply(rows.X[part], root[:, None], out=block[:, :-1])
                    block[:, -1] = rows.bias * root
                    product = block.T @ block
                    if sign > 0.0:
                        G += product
                    else:
                        G -= product


def uses_blas(rows: Rows, n_weights: int) -> bool:
    """Tell whether BLAS computes the Gram matrix."""
    return isinstance(rows, DenseRows) and n_weights > NARROW
