"""X on a device: which place ``device`` names, and X of NumPy, SciPy or another library as an array there."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import array_api_compat as compat
import numpy as np

from ..arrays.namespace import Place, no_warnings
from ..kernels.rows import CsrRows, DenseRows
from .base import read_to_fit


def place_called(device: str) -> Place:
    """Return the place that ``device`` names: PyTorch's if that sees it, else CuPy's; raises if there is none."""
    if find_spec("torch") is not None:
        import torch

        if not device.startswith("cuda") or torch.cuda.is_available():
            try:
                there = torch.empty(0, device=device)
            except (RuntimeError, AssertionError) as error:
                raise ValueError(f"device={device!r} is not a device that PyTorch knows here: {error}") from error
            return Place.of(there)
    if device.startswith("cuda") and find_spec("cupy") is not None:
        import cupy

        with cupy.cuda.Device(int(device.partition(":")[2] or 0)):
            return Place.of(cupy.empty(0))
    raise ValueError(
        f"device={device!r}: neither PyTorch nor CuPy sees it. Install one of them for your GPU, or leave device out."
    )


def moved(X: Any, bias: float, n_jobs: int | None, place: Place) -> tuple[Any, dict[str, Any]]:
    """Return X of NumPy's or SciPy's, checked, as an array of ``place``, and what is remembered of its features."""
    data, features = read_to_fit(X, bias, n_jobs)
    rows, xp = data.rows, place.xp
    if isinstance(rows, DenseRows):
        return place.put(rows.X, xp.float32 if rows.X.dtype == np.float32 else xp.float64), features
    values = np.array(rows.data) if isinstance(rows, CsrRows) else np.ones(rows.indices.size, dtype=np.float32)
    index = np.int32 if max(values.size, data.n_features) <= np.iinfo(np.int32).max else np.int64
    parts = [np.array(part).astype(index) for part in (rows.indptr, rows.indices)]
    shape = (data.n_rows, data.n_features)
    if compat.is_torch_namespace(xp):
        there = [xp.asarray(part, device=place.device) for part in (*parts, values)]
        with no_warnings():  # PyTorch calls its sparse matrices a beta version
            return xp.sparse_csr_tensor(*there, shape, check_invariants=False), features
    if compat.is_cupy_namespace(xp):
        from cupyx.scipy import sparse

        indptr, indices = (xp.asarray(part) for part in parts)
        return sparse.csr_matrix((xp.asarray(values), indices, indptr), shape=shape), features
    raise ValueError(f"{place.name} has no sparse matrices: make X dense.")


def floating(X: Any, place: Place) -> Any:
    """Return X in a floating-point type that is trained on, or raise."""
    xp = place.xp
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead: X needs one row per sample.")
    if 0 in X.shape:
        raise ValueError(f"Found array with shape {tuple(X.shape)}: X needs at least one sample and one feature.")
    if type(X).__module__.startswith("cupyx."):
        return X.tocsr()
    if "strided" not in str(getattr(X, "layout", "strided")):
        return X.to_sparse_csr()
    if X.dtype in (xp.float32, xp.float64):
        return X
    if not xp.isdtype(X.dtype, ("real floating", "integral", "bool")):
        raise ValueError(f"Complex data not supported: X holds {X.dtype}.")
    return xp.astype(X, xp.float32 if xp.isdtype(X.dtype, "real floating") else xp.float64)
