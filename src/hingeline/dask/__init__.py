"""Training on a Dask cluster: rows stay in partitions on their workers, and the model is the same as on one machine."""

from __future__ import annotations

try:
    import dask.array  # noqa: F401
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError(f'hingeline.dask needs Dask ({error}): pip install "dask[dataframe]" distributed.') from error

from .dataset import open_dataset
from .estimators import LinearSVC, LinearSVR, LogisticRegression
from .linear_svc_cv import LinearSVCCV
from .svmlight import read_svmlight

__all__ = ["LinearSVC", "LinearSVCCV", "LinearSVR", "LogisticRegression", "open_dataset", "read_svmlight"]
