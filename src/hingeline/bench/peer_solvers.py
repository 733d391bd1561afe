"""Other solvers of the same problem, behind the contract of ``solvers``.

Each minimises |w|^2/2 + C sum loss; some also |w|_1 + C sum loss. Which of its parameters is C was found by comparing
optima: LIBLINEAR, scikit-learn and ReHLine have C itself, Snap ML's ``regularizer`` is 1/C. LIBLINEAR and scikit-learn
add the constant feature of the intercept themselves; the others get X with a column of ones.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .capture import printed
from .l1_peer_solvers import Celer, Skglm
from .solvers import Solver
from .spark_solver import Spark
from .task import Task

UNLIMITED = 10**9  # sweeps; not every solver lets its limit be lifted
CAPPED = "reaching max number of iterations"  # what LIBLINEAR prints at its limit of 300 sweeps


class Liblinear(Solver):
    """LIBLINEAR's coordinate descent, in the dual or, with an L1 penalty, over weights (PyPI: liblinear-official).

    Its hinge solver stops after 300 sweeps; for the squared hinge it goes over to Newton's method then.
    """

    package = "liblinear"
    losses: ClassVar[tuple[str, ...]] = ("hinge", "squared_hinge", "logistic")
    l1_losses: ClassVar[tuple[str, ...]] = ("squared_hinge", "logistic")
    codes: ClassVar[dict[str, dict[str, int]]] = {
        "l2": {"hinge": 3, "squared_hinge": 1, "logistic": 7},
        "l1": {"squared_hinge": 5, "logistic": 6},
    }

    def convert(self, task: Task) -> None:
        """Convert the rows to LIBLINEAR's structure."""
        from liblinear.liblinearutil import problem

        self.bias = 1 if task.intercept else -1
        self.problem = problem(task.y, task.X, self.bias)

    def prepare(self, task: Task) -> None:
        """Replace the labels."""
        super().prepare(task)
        np.ctypeslib.as_array(self.problem.y, (task.y.size,))[:] = task.y

    def run(self, tolerance: float, max_time: float, seed: int) -> None:
        """Train; what it prints is kept, since it mentions its limit there."""
        from liblinear.liblinearutil import parameter, train

        printed()
        code = self.codes[self.task.penalty][self.task.loss]
        options = f"-s {code} -c {self.task.C!r} -e {tolerance!r} -B {self.bias}"
        self.model = train(self.problem, parameter(options))

    def weights(self) -> np.ndarray:
        """Return w, for the label +1."""
        self.capped = CAPPED in printed() and (self.task.loss == "hinge" or self.task.penalty == "l1")
        w = np.ctypeslib.as_array(self.model.w, shape=(self.task.X.shape[1] + self.task.intercept,)).copy()
        return w if self.model.label[0] == 1 else -w


class LiblinearPrimal(Liblinear):
    """LIBLINEAR's Newton method for smooth losses (-s 2, -s 0)."""

    losses = ("squared_hinge", "logistic")
    l1_losses = ()
    codes: ClassVar[dict[str, dict[str, int]]] = {"l2": {"squared_hinge": 2, "logistic": 0}}


class ScikitLearn(Solver):
    """scikit-learn's LinearSVC: LIBLINEAR's dual coordinate descent, with its limit of sweeps lifted."""

    package = "sklearn"
    own_intercept = True
    dual: bool | str = True

    def run(self, tolerance: float, max_time: float, seed: int) -> None:
        """Fit the estimator."""
        from sklearn.svm import LinearSVC

        self.model = LinearSVC(
            loss=self.task.loss,
            C=self.task.C,
            dual=self.dual,
            fit_intercept=self.task.intercept,
            tol=tolerance,
            max_iter=UNLIMITED,
            random_state=seed,
        ).fit(self.X, self.task.y)

    def weights(self) -> np.ndarray:
        """Return w of the last run."""
        w = np.asarray(self.model.coef_).ravel()
        return np.append(w, self.model.intercept_) if self.task.intercept else w


class ScikitLearnPrimal(ScikitLearn):
    """scikit-learn's LinearSVC with dual=False: a Newton method for the squared hinge.

    With an L1 penalty, it and LogisticRegression are LIBLINEAR's coordinate descent over weights, the limit lifted.
    """

    losses = ("squared_hinge",)
    l1_losses = ("squared_hinge", "logistic")
    dual = False

    def run(self, tolerance: float, max_time: float, seed: int) -> None:
        """Fit the estimator."""
        if self.task.penalty == "l2":
            super().run(tolerance, max_time, seed)
            return
        from sklearn.linear_model import LogisticRegression
        from sklearn.svm import LinearSVC

        how = {
            "C": self.task.C,
            "fit_intercept": self.task.intercept,
            "tol": tolerance,
            "max_iter": UNLIMITED,
            "random_state": seed,
        }
        if self.task.loss == "logistic":
            self.model = LogisticRegression(solver="liblinear", penalty="l1", **how)
        else:
            self.model = LinearSVC(penalty="l1", dual=False, **how)
        self.model.fit(self.X, self.task.y)


class ScikitLearnAuto(ScikitLearn):
    """scikit-learn's LinearSVC with its default dual="auto": one of the two above, by the shape of the data."""

    losses = ("squared_hinge",)  # for the hinge there is only one
    dual = "auto"


class SnapML(Solver):
    """Snap ML's SupportVectorMachine on one thread. It works in float32."""

    package = "snapml"

    def convert(self, task: Task) -> None:
        """Convert the values beforehand, so that this is not timed."""
        super().convert(task)
        self.X = self.X.astype(np.float32)

    def run(self, tolerance: float, max_time: float, seed: int) -> None:
        """Fit the estimator."""
        from snapml import SupportVectorMachine

        self.model = SupportVectorMachine(
            loss=self.task.loss,
            regularizer=1.0 / self.task.C,
            fit_intercept=False,
            tol=tolerance,
            max_iter=UNLIMITED,
            n_jobs=1,
            random_state=seed,
        ).fit(self.X, self.task.y)

    def weights(self) -> np.ndarray:
        """Return w of the last run."""
        return np.asarray(self.model.coef_).ravel()


class ReHLine(Solver):
    """ReHLine's ridge-penalised empirical risk minimiser."""

    package = "rehline"
    names: ClassVar[dict[str, str]] = {"hinge": "hinge", "squared_hinge": "squared hinge"}

    def run(self, tolerance: float, max_time: float, seed: int) -> None:
        """Fit the estimator."""
        from rehline import plqERM_Ridge

        loss: Any = {"name": self.names[self.task.loss]}
        self.model = plqERM_Ridge(loss=loss, C=self.task.C, tol=tolerance, max_iter=UNLIMITED, coordinate_seed=seed)
        self.model.fit(self.X, self.task.y)

    def weights(self) -> np.ndarray:
        """Return w of the last run."""
        return np.asarray(self.model.coef_).ravel()


PEERS: dict[str, type[Solver]] = {
    "liblinear": Liblinear,
    "liblinear-primal": LiblinearPrimal,
    "sklearn": ScikitLearn,
    "sklearn-primal": ScikitLearnPrimal,
    "sklearn-auto": ScikitLearnAuto,
    "snapml": SnapML,
    "rehline": ReHLine,
    "spark": Spark,
    "celer": Celer,
    "skglm": Skglm,
}
INSTALLED_BY = {"liblinear": "liblinear-official", "sklearn": "scikit-learn"}  # if the names differ
