"""LIBLINEAR's solver types (``-s``): the one table of what each of them trains.

The primal and the dual problem have the same optimum. So two types that differ in ``dual`` alone are one problem for
hingeline's engines; they differ in what ``-e`` means, and in its default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Task = Literal["one_versus_rest", "crammer_singer", "regression", "one_class"]


@dataclass(frozen=True)
class SolverType:
    """One of LIBLINEAR's types.

    Attributes
    ----------
    number : int
        Value of ``-s``.
    name : str
        The type's name in LIBLINEAR's model files.
    title : str
        The type in words.
    task : str
        What is trained: "one_versus_rest" and "crammer_singer" are classifiers, and there are "regression" and
        "one_class".
    loss : str
        The loss as the estimators call it.
    penalty : {"l2", "l1"}
        The regulariser: |w|_2^2/2 or |w|_1.
    dual : bool
        Whether LIBLINEAR solves the dual problem.
    eps : float
        LIBLINEAR's default of ``-e``.
    """

    number: int
    name: str
    title: str
    task: Task
    loss: str
    penalty: Literal["l2", "l1"]
    dual: bool
    eps: float

    @property
    def is_classifier(self) -> bool:
        """Whether rows have labels."""
        return self.task in ("one_versus_rest", "crammer_singer")

    @property
    def is_regression(self) -> bool:
        """Whether rows have targets."""
        return self.task == "regression"

    @property
    def has_probabilities(self) -> bool:
        """Whether a model of this type gives the probability of each class."""
        return self.loss == "logistic"

    @property
    def can_free_bias(self) -> bool:
        """Whether the weight of the constant feature can be left out of the regulariser (``-R``)."""
        return not self.dual

    @property
    def can_search(self) -> bool:
        """Whether ``-C`` looks for the best C."""
        return self.is_classifier or (self.is_regression and not self.dual)

    def n_outputs(self, n_classes: int) -> int:
        """Return the number of weights per feature, given the number of classes (2 unless rows have labels)."""
        return 1 if n_classes == 2 and self.task != "crammer_singer" else n_classes


def _table(*types: SolverType) -> dict[int, SolverType]:
    return {solver_type.number: solver_type for solver_type in types}


# fmt: off
SOLVER_TYPES = _table(
    SolverType(0, "L2R_LR", "logistic regression, L2-regularised (primal)",
               "one_versus_rest", "logistic", "l2", dual=False, eps=0.01),
    SolverType(1, "L2R_L2LOSS_SVC_DUAL", "squared hinge, L2-regularised (dual)",
               "one_versus_rest", "squared_hinge", "l2", dual=True, eps=0.1),
    SolverType(2, "L2R_L2LOSS_SVC", "squared hinge, L2-regularised (primal)",
               "one_versus_rest", "squared_hinge", "l2", dual=False, eps=0.01),
    SolverType(3, "L2R_L1LOSS_SVC_DUAL", "hinge, L2-regularised (dual)",
               "one_versus_rest", "hinge", "l2", dual=True, eps=0.1),
    SolverType(4, "MCSVM_CS", "Crammer and Singer's multi-class SVM",
               "crammer_singer", "hinge", "l2", dual=True, eps=0.1),
    SolverType(5, "L1R_L2LOSS_SVC", "squared hinge, L1-regularised",
               "one_versus_rest", "squared_hinge", "l1", dual=False, eps=0.01),
    SolverType(6, "L1R_LR", "logistic regression, L1-regularised",
               "one_versus_rest", "logistic", "l1", dual=False, eps=0.01),
    SolverType(7, "L2R_LR_DUAL", "logistic regression, L2-regularised (dual)",
               "one_versus_rest", "logistic", "l2", dual=True, eps=0.1),
    SolverType(11, "L2R_L2LOSS_SVR", "regression, squared epsilon-insensitive (primal)",
               "regression", "squared_epsilon_insensitive", "l2", dual=False, eps=1e-4),
    SolverType(12, "L2R_L2LOSS_SVR_DUAL", "regression, squared epsilon-insensitive (dual)",
               "regression", "squared_epsilon_insensitive", "l2", dual=True, eps=0.1),
    SolverType(13, "L2R_L1LOSS_SVR_DUAL", "regression, epsilon-insensitive (dual)",
               "regression", "epsilon_insensitive", "l2", dual=True, eps=0.1),
    SolverType(21, "ONECLASS_SVM", "one-class SVM",
               "one_class", "hinge", "l2", dual=True, eps=0.01),
)
# fmt: on
DEFAULT = SOLVER_TYPES[1]
DEFAULT_OF_SEARCH = SOLVER_TYPES[2]  # with -C


def find_by_name(name: str) -> SolverType | None:
    """Return the type that model files call ``name``; None if there is none."""
    return next((known for known in SOLVER_TYPES.values() if known.name == name), None)


def numbers_with(**values: Any) -> str:
    """Return the numbers of the types whose attributes have these values, as help texts and errors list them."""
    known = SOLVER_TYPES.values()
    return ", ".join(str(t.number) for t in known if all(getattr(t, name) == value for name, value in values.items()))
