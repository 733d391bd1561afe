"""Real data for the benchmarks: svmlight text from a folder, parsed once and kept as .npz under .cache/data."""

from __future__ import annotations

import bz2
import lzma
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file

HERE = Path(__file__).resolve().parent
DATA_DIR = HERE.parent.parent / "shared" / "data"
CACHE = HERE.parent / ".cache" / "data"
FILES = {
    "covtype": "covtype.binary.scale.bz2",
    "news20": "news20.binary.rebuilt.xz",
    "nycflights": "nycflights.xz",
    "debian_paths": "debian_paths.xz",
    "debian_text": "debian_text.binary.xz",
    "a9a": "a9a.xz",
    "w8a": "w8a.xz",
}


def load(name: str, data_dir: Path = DATA_DIR, dtype: type = np.float64) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return X (CSR, int32 indices, values of ``dtype``) and y in {-1, +1} of a binary data set."""
    kept = CACHE / f"{name}.npz"
    if not kept.exists():
        path = data_dir / FILES[name]
        if not path.exists():
            raise SystemExit(f"{path} is not there: give --data-dir the folder of the data sets")
        opened = bz2.open if path.suffix == ".bz2" else lzma.open
        with opened(path, "rb") as file:
            X, y = load_svmlight_file(file, zero_based=False)
        CACHE.mkdir(parents=True, exist_ok=True)
        y = np.where(y == y.max(), 1.0, -1.0)
        parts = {"data": X.data, "indices": X.indices.astype(np.int32), "indptr": X.indptr.astype(np.int32)}
        np.savez(kept, shape=X.shape, y=y, **parts)
    with np.load(kept) as z:
        arrays = (z["data"].astype(dtype, copy=False), z["indices"], z["indptr"])
        return sparse.csr_matrix(arrays, shape=tuple(z["shape"])), z["y"]
