"""One versus rest: a classification as binary problems, and how several of them are trained on threads.

Two classes make one problem. More classes make one problem per class, in which that class has the label +1 and all
others have -1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from threading import Event
from typing import Any

import numpy as np

from ..data.matrix import Data
from ..data.problem import Problem, make_problem
from ..kernels.losses import Loss
from ..runtime.threads import in_parts
from ..solution import Solution


@dataclass(frozen=True)
class OneVersusRest:
    """The binary problems of a classification.

    Attributes
    ----------
    codes : ndarray of shape (n_rows,)
        The number of each row's class.
    n_classes : int
    positive_of_two : int
        Which of two classes has the label +1: the second one for scikit-learn, the first one for LIBLINEAR.
    n_threads : int
        Threads for passes over the labels.
    """

    codes: np.ndarray
    n_classes: int
    positive_of_two: int = 1
    n_threads: int = 1

    @cached_property
    def positives(self) -> Sequence[int]:
        """The class that has the label +1, for each problem."""
        return (self.positive_of_two,) if self.n_classes == 2 else range(self.n_classes)

    def __len__(self) -> int:
        return len(self.positives)

    def is_positive(self, k: int) -> np.ndarray:
        """Tell which rows have the label +1 in problem ``k``."""
        return np.asarray(self.codes == self.positives[k])

    def labels(self, k: int, dtype: type[np.floating] = np.float32) -> np.ndarray:
        """Return the labels -1 and +1 of problem ``k``."""
        labels, positive = np.empty(self.codes.size, dtype), self.positives[k]

        def fill(part: slice) -> None:
            # Arithmetic on bytes takes a fraction of the time of ``np.where``.
            labels[part] = 2 * (self.codes[part] == positive).view(np.int8) - 1

        in_parts(self.n_threads, labels.size, fill)
        return labels

    def sign(self, alpha: np.ndarray, k: int) -> None:
        """Multiply ``alpha``, one value per row, by the labels of problem ``k``, in place."""
        positive = self.positives[k]

        def multiply(part: slice) -> None:
            np.negative(alpha[part], out=alpha[part], where=self.codes[part] != positive)
            alpha[part] += 0.0  # -0.0 is shown with its sign

        in_parts(self.n_threads, alpha.size, multiply)

    def row_weights(
        self, k: int, class_weights: np.ndarray | None, sample_weight: np.ndarray | None = None
    ) -> np.ndarray | None:
        """Return the factor of C for each row of problem ``k``; None if that is 1 everywhere.

        As in LIBLINEAR, each of two classes has its own weight; with more classes, the rest has weight 1.
        """
        if class_weights is None:
            return sample_weight
        positive = self.positives[k]
        rest = class_weights[1 - positive] if self.n_classes == 2 else 1.0
        if class_weights[positive] == rest == 1.0:
            return sample_weight
        weights = np.array([rest, class_weights[positive]])[self.is_positive(k).view(np.uint8)]
        return weights if sample_weight is None else sample_weight * weights

    def problem(
        self,
        k: int,
        data: Data,
        loss: Loss,
        class_weights: np.ndarray | None = None,
        sample_weight: np.ndarray | None = None,
    ) -> Problem:
        """Return problem ``k`` over ``data``."""
        return make_problem(data, self.labels(k), self.row_weights(k, class_weights, sample_weight), loss)


def train_each(train_one: Callable[..., Solution], n_problems: int, n_threads: int) -> list[Solution]:
    """Return ``train_one(k, n_threads=..., cancelled=...)`` for each problem k, several at a time if threads allow it.

    Each problem gets its share of the threads. If one fails, or on Ctrl-C, which only the calling thread sees, the
    others are cancelled.
    """
    at_once, cancelled = min(n_threads, n_problems), Event()
    how: dict[str, Any] = {"n_threads": n_threads // at_once, "cancelled": cancelled.is_set}
    if at_once == 1:
        return [train_one(k, **how) for k in range(n_problems)]
    with ThreadPoolExecutor(at_once) as pool:
        try:
            return list(pool.map(lambda k: train_one(k, **how), range(n_problems)))
        except BaseException:
            cancelled.set()
            pool.shutdown(cancel_futures=True)
            raise
