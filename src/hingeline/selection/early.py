"""When larger C can no longer win: a rule that ends a cross-validated path.

As C grows, scores rise and then fall, if they depend on C at all, and fits take longer. So a path may end as soon as
there is little doubt of the fall. The scores at the best C so far and at the last C are compared fold by fold. Folds
share most of their training rows, so the plain standard error of the K differences d_f is too small. Nadeau and Bengio
(2003) propose

    sqrt((1/K + n_test / n_train) var(d)).

Divided by that, the mean of the differences is a number t, and Student's distribution with K - 1 degrees of freedom
tells how likely it is to be as large by chance: the fewer folds, the larger t has to be.

The path ends
- when the mean score has fallen twice: it is probably below the best at the last C but one, clearly below it at the
  last C, and still falling;
- or when it is overwhelmingly below the best at the last C, and the next one would cost more than all so far (work
  grows with C by the factor by which it has just grown).

Work is counted in visits of rows, not in seconds: how busy the computer is does not change where a path ends.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

FEWEST_FOLDS = 3  # two differences tell nothing about their spread


class EarlyEnd(NamedTuple):
    """The rule; its numbers are the probabilities of a fall as large as the one seen, by chance alone."""

    probably: float = 0.1
    clearly: float = 0.02
    overwhelmingly: float = 0.005

    def ends(self, scores: np.ndarray, work: np.ndarray, test_share: float) -> bool:
        """Tell whether the path should end.

        Parameters
        ----------
        scores : ndarray of shape (n_Cs so far, n_folds)
        work : ndarray of shape (n_Cs so far,)
        test_share : float
            Held-out rows over training rows of a fold.
        """
        n, n_folds = scores.shape
        if n < 2 or n_folds < FEWEST_FOLDS:
            return False
        means = scores.mean(axis=1)
        best = int(np.argmax(means))
        before, last = (_chance(scores[best] - scores[k], test_share) for k in (-2, -1))
        falling = means[-1] <= means[-2]
        if n - 1 - best >= 2 and falling and before < self.probably and last < self.clearly:
            return True
        next_work = work[-1] * max(1.0, work[-1] / max(work[-2], 1.0))
        return best < n - 1 and last < self.overwhelmingly and next_work > work.sum()


def _chance(differences: np.ndarray, test_share: float) -> float:
    """Return how likely a mean of the differences as large as this one is, if scores differ by chance alone."""
    mean = float(differences.mean())
    error = sqrt((1.0 / differences.size + test_share) * float(differences.var(ddof=1)))
    if error == 0.0:
        return 0.0 if mean > 0.0 else 1.0
    return float(stdtr(differences.size - 1, -mean / error))
