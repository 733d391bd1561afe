"""Software prefetch along a schedule: a step's memory is fetched while earlier steps run.

The schedule is known in advance, and each level of indirection needs the one before: eight steps ahead the row's
pointers and the variable's record, four ahead its indices and values, two ahead the weights that it touches.
"""

from __future__ import annotations

import numpy as np

from .compile import kernel
from .prefetch import prefetch
from .rows import Rows, prefetch_pointers, prefetch_row, prefetch_weights
from .types import Index, Indices, Vector

RECORD_AHEAD, ROW_AHEAD, WEIGHTS_AHEAD = np.uint64(8), np.uint64(4), np.uint64(2)


@kernel
def look_ahead(rows: Rows, alpha: Vector, y: Vector, w: Vector, order: Indices, k: Index) -> None:
    """Prefetch for the steps that follow position ``k`` of ``order``; k + RECORD_AHEAD must lie inside.

    ``alpha`` and ``y`` are the first and the last field of a variable's record, which may lie across two cache lines.
    """
    far = order[k + RECORD_AHEAD]
    prefetch(alpha, far)
    prefetch(y, far)
    prefetch_pointers(rows, far)
    prefetch_row(rows, order[k + ROW_AHEAD])
    prefetch_weights(rows, order[k + WEIGHTS_AHEAD], w)
