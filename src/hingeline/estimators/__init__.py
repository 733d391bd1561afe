"""scikit-learn estimators."""

from ..io.models.kinds import register
from .checkpoint import Checkpoint
from .linear_svc import LinearSVC
from .linear_svr import LinearSVR
from .logistic_regression import LogisticRegression
from .model_files import model_kind
from .one_class_svm import OneClassSVM

__all__ = ["Checkpoint", "LinearSVC", "LinearSVR", "LogisticRegression", "OneClassSVM"]

for _estimator in (LinearSVC, LinearSVR, LogisticRegression, OneClassSVM):
    register(model_kind(_estimator))
