"""Solvers of L1-regularised logistic regression that have no other problem in common with hingeline.

celer minimises sum log(1 + exp(-y_i <x_i, w>)) + |w|_1/C, skglm the mean of the same terms + alpha |w|_1: the same
problem for alpha = 1/(n C). Neither has the squared hinge with an L1 penalty: skglm's QuadraticSVC is the dual of the
hinge. Both take columns, and X with a column of ones for an intercept that is penalised.
"""

from __future__ import annotations

import numpy as np

from .solvers import Solver
from .task import Task

MOST_SUBPROBLEMS = 100_000  # working sets; never reached


class Celer(Solver):
    """celer's proximal Newton method over working sets. Its tolerance is a duality gap relative to that of w = 0."""

    package = "celer"
    losses = ()
    l1_losses = ("logistic",)

    def convert(self, task: Task) -> None:
        """Turn the rows round into columns beforehand, so that this is not timed."""
        super().convert(task)
        self.X = self.X.tocsc()

    def run(self, tolerance: float, max_time: float, seed: int) -> None:
        """Follow a path of one C."""
        from celer import celer_path

        how = {"max_iter": MOST_SUBPROBLEMS, "use_PN": True, "tol": tolerance}
        _, coefs, _ = celer_path(self.X, self.task.y, "logreg", alphas=np.array([1.0 / self.task.C]), **how)
        self.w = coefs[:, 0]

    def weights(self) -> np.ndarray:
        """Return w of the last run."""
        return np.asarray(self.w)


class Skglm(Celer):
    """skglm's SparseLogisticRegression. Its tolerance is a violation, here as a share of the penalty's slope."""

    package = "skglm"

    def run(self, tolerance: float, max_time: float, seed: int) -> None:
        """Fit the estimator."""
        from skglm import SparseLogisticRegression

        alpha = 1.0 / (self.task.y.size * self.task.C)
        model = SparseLogisticRegression(
            alpha=alpha, tol=tolerance * alpha, max_iter=MOST_SUBPROBLEMS, fit_intercept=False
        )
        self.w = model.fit(self.X, self.task.y).coef_.ravel()
