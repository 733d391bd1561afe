"""scikit-learn estimators."""

from .linear_svc import LinearSVC
from .linear_svr import LinearSVR
from .logistic_regression import LogisticRegression
from .one_class_svm import OneClassSVM

__all__ = ["LinearSVC", "LinearSVR", "LogisticRegression", "OneClassSVM"]
