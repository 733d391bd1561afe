"""LIBLINEAR's types (``-s``) and the names that its model files have for them."""

from __future__ import annotations

SOLVER_TYPES = {
    0: "L2R_LR",
    1: "L2R_L2LOSS_SVC_DUAL",
    2: "L2R_L2LOSS_SVC",
    3: "L2R_L1LOSS_SVC_DUAL",
    4: "MCSVM_CS",
    5: "L1R_L2LOSS_SVC",
    6: "L1R_LR",
    7: "L2R_LR_DUAL",
    11: "L2R_L2LOSS_SVR",
    12: "L2R_L2LOSS_SVR_DUAL",
    13: "L2R_L1LOSS_SVR_DUAL",
    21: "ONECLASS_SVM",
}
CRAMMER_SINGER, ONE_CLASS = 4, 21
REGRESSION = frozenset({11, 12, 13})
LOGISTIC = frozenset({0, 6, 7})
L1_REGULARISED = frozenset({5, 6})
