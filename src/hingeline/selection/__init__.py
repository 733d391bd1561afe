"""Choosing C: paths and cross-validation."""

from ..estimators.model_files import model_kind
from ..io.models.kinds import register
from .linear_svc_cv import LinearSVCCV
from .linear_svr_cv import LinearSVRCV
from .logistic_regression_cv import LogisticRegressionCV
from .path import CPath, c_path

__all__ = ["CPath", "LinearSVCCV", "LinearSVRCV", "LogisticRegressionCV", "c_path"]

for _estimator in (LinearSVCCV, LinearSVRCV, LogisticRegressionCV):
    register(model_kind(_estimator))
