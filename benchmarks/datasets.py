"""Real data for the benchmarks: svmlight text from a folder, parsed once and kept as .npz under .cache/data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from hingeline.bench.datasets import find, read_arrays

HERE = Path(__file__).resolve().parent
DATA_DIR = HERE.parent.parent / "shared" / "data"
CACHE = HERE.parent / ".cache" / "data"


def load(name: str, data_dir: Path = DATA_DIR, dtype: type = np.float64) -> tuple[Any, np.ndarray]:
    """Return X (CSR, int32 indices, values of ``dtype``) and class codes y."""
    there, missing = find(data_dir, [name])
    if missing:
        raise SystemExit(f"{name} is not in {data_dir}: pass the folder of the data sets as --data-dir")
    X, y = read_arrays(there[0].parsed(CACHE))
    return X.astype(dtype, copy=False), y
