"""When larger C can no longer win: a rule that ends a cross-validated path.

As C grows, scores rise and then fall, if they depend on C at all, and fits take longer. So a path may end as soon as
the fall is certain. The scores at the best C so far and at the last C are compared fold by fold. Folds share most of
their training rows, so the plain standard error of the K differences d_f is too small. Nadeau and Bengio (2003) propose

    sqrt((1/K + n_test / n_train) var(d)).

The path ends
- when the mean score is below the best at each of the last two C, by more than one such standard error at each and by
  more than 4 in all, and still falling;
- or when it is more than 4 below at the last C, and the next one would cost more than all so far (work grows with C by
  the factor by which it has just grown).

Work is counted in visits of rows, not in seconds: how busy the computer is does not change where a path ends.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

FEWEST_FOLDS = 3  # two differences tell nothing about their spread


class EarlyEnd(NamedTuple):
    """The rule; its numbers are standard errors."""

    probably: float = 1.0
    together: float = 4.0
    overwhelmingly: float = 4.0

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
        falls = [_fall(scores[best] - scores[k], test_share) for k in range(n)]
        falling = means[-1] <= means[-2]
        is_certain = min(falls[-2:]) > self.probably and sum(falls[-2:]) > self.together
        if n - 1 - best >= 2 and falling and is_certain:
            return True
        next_work = work[-1] * max(1.0, work[-1] / max(work[-2], 1.0))
        return best < n - 1 and falls[-1] > self.overwhelmingly and next_work > work.sum()


def _fall(differences: np.ndarray, test_share: float) -> float:
    """Return the mean of the differences in standard errors; infinite if all of them are equal and above zero."""
    mean = float(differences.mean())
    error = sqrt((1.0 / differences.size + test_share) * float(differences.var(ddof=1)))
    if error == 0.0:
        return float("inf") if mean > 0.0 else 0.0
    return mean / error
