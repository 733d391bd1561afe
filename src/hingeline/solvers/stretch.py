"""The best multiple of w: at large C a far better model than w itself, for the price of a pass over the rows.

Coordinate ascent maximises the dual, and the primal lags behind it. Margins that are too small by a hundredth cost a
hundredth of C for every such row. At 1.01 w these losses are gone, and |w|^2/2 has grown by two percent. The dual
variables stay as they are, so their dual value is still a lower bound:

    P(s w) - D = s^2 |w|^2/2 + sum_i loss(missing(y_i, s <x_i, w>)) - D

One pass computes that for several s at once. The classes that s w predicts are those that w predicts.
"""

from __future__ import annotations

import numpy as np

from ..kernels.compile import kernel
from ..kernels.losses import Loss, missing, primal_term
from ..kernels.passes import squared_length
from ..kernels.rows import Rows, dot
from ..kernels.types import Index, Vector
from ..runtime.pace import Pace
from .state import State

LEAST, MOST, RATIO = 5e-5, 0.5, 1.5  # what is added to 1: the first factor, the last one, and each over the one before
FACTORS = 1.0 + LEAST * RATIO ** np.arange(1 + np.ceil(np.log(MOST / LEAST) / np.log(RATIO)))


@kernel
def add_stretched_losses(
    rows: Rows, loss: Loss, y: Vector, C: Vector, w: Vector, factors: Vector, out: Vector, begin: Index, end: Index
) -> None:
    """Add the losses of the rows begin to end at each of the ``factors`` times w to ``out``."""
    for i in range(np.uint64(begin), np.uint64(end)):
        own = C[i] if C.size > 1 else C[0]
        if own > 0.0:
            f = dot(rows, i, w)
            for k in range(factors.size):
                out[k] += primal_term(loss, missing(loss, y[i], factors[k] * f), own)


class Stretch:
    """Looks for the best multiple of the w of ``state``."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._factor, self._before = 1.0, np.empty(0)

    def objective(self, pace: Pace) -> float:
        """Return the least objective among the multiples of w."""
        problem, w = self._state.problem, self._state.w
        fixed = (problem.data.rows, problem.loss, problem.y, problem.C_values, w, FACTORS)

        def losses(part: int, begin: int, end: int) -> Vector:
            out = np.zeros_like(FACTORS)
            add_stretched_losses(*fixed, out, begin, end)
            return out

        total = np.sum(pace.each(problem.data.n_rows, losses), axis=0)
        total += 0.5 * squared_length(w) * FACTORS**2
        best = int(np.argmin(total))
        self._factor = float(FACTORS[best])
        return float(total[best])

    def take(self) -> None:
        """Make the best multiple the model."""
        self._before = self._state.w.copy()
        self._state.move_to(self._factor * self._before, is_primal=True)

    def undo(self) -> None:
        """Go back to w."""
        self._state.move_to(self._before, is_primal=False)
