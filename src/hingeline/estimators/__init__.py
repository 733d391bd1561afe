"""scikit-learn estimators."""

from .linear_svc import LinearSVC

__all__ = ["LinearSVC"]
