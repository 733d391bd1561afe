"""scikit-learn's own checks, with no expected failures."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from hingeline import (
    LinearSVC,
    LinearSVCCV,
    LinearSVR,
    LinearSVRCV,
    LogisticRegression,
    LogisticRegressionCV,
    OneClassSVM,
)

VARIANTS = [  # each class, and each way through it that is not that of its defaults
    LinearSVC(),
    # Repeated rows must equal weighted ones to 1e-9, so a coordinate engine that obeys its tol needs a tight one.
    LinearSVC(solver="avsf", C=0.01, tol=1e-10),
    LogisticRegression(),
    LinearSVR(),
    LinearSVC(multi_class="crammer_singer"),
    LogisticRegression(penalty="elasticnet", l1_ratio=0.5),
    OneClassSVM(),
    LinearSVCCV(Cs=[0.1, 1.0]),
    LogisticRegression(multi_class="ovr", solver="liblinear"),
    LogisticRegressionCV(Cs=[0.1, 1.0], n_jobs=2),
    LinearSVRCV(Cs=[0.1, 1.0]),
    LinearSVC(fit_intercept="free", class_weight="balanced"),  # these and more: tools/check_settings.py
    LinearSVRCV(Cs=[0.1, 1.0], scoring="neg_mean_absolute_error"),
    LinearSVCCV(Cs=[0.1, 1.0], scoring="f1_macro", keep_dual=False),
    OneClassSVM(nu=0.1),
]


OF_TYPES = ("sparse", "dtypes", "memmap")  # checks of X's type, which all classes read by the same door


def checks():
    """Yield what is to be checked; types of X are compiled one by one, so one variant has to do for them."""
    for variant in VARIANTS:
        for estimator, check in estimator_checks_generator(variant):
            arguments = ",".join(f"{key}={value}" for key, value in check.keywords.items())
            name = f"{check.func.__name__}({arguments})"
            if variant is VARIANTS[0] or not any(word in name for word in OF_TYPES):
                yield pytest.param(estimator, check, id=f"{variant!r}-{name}")


# One check caps max_iter at 1000 and must then be warned.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
# Another asks for three folds of a class of two rows: scikit-learn's splitter says so.
@pytest.mark.filterwarnings("ignore:The least populated class in y:UserWarning")
@pytest.mark.parametrize(("estimator", "check"), [*checks()])
def test_sklearn_check(estimator, check):
    check(estimator)
