"""Training on a Dask cluster: rows stay in partitions on their workers, and the model is the same as on one machine."""

from __future__ import annotations

from .dataset import open_dataset
from .svmlight import read_svmlight

__all__ = ["open_dataset", "read_svmlight"]
