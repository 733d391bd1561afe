"""Where arrays live: their namespace (as array-api-compat gives it) and their device."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, NamedTuple

import array_api_compat as compat
import numpy as np

from ..kernels.types import Vector


class Place(NamedTuple):
    """A namespace of the array API and a device of it."""

    xp: Any
    device: Any

    @classmethod
    def of(cls, X: Any) -> Place:
        """Return where X lives; CuPy's sparse matrices count as CuPy arrays."""
        dense = X.data if type(X).__module__.startswith("cupyx.") else X
        return cls(compat.array_namespace(dense), compat.device(dense))

    @property
    def name(self) -> str:
        """The place as error messages call it."""
        return f"{self.xp.__name__.removeprefix('array_api_compat.')} on {self.device}"

    @property
    def is_torch_cuda(self) -> bool:
        """Whether arrays are PyTorch's, on an NVIDIA GPU."""
        return compat.is_torch_namespace(self.xp) and self.device.type == "cuda"

    def put(self, values: Any, dtype: Any = None) -> Any:
        """Return values of this process as an array there; float64 unless another dtype is given."""
        if isinstance(values, np.ndarray) and not values.flags.writeable:
            values = values.copy()  # PyTorch has no arrays that are read-only
        return self.xp.asarray(values, dtype=self.xp.float64 if dtype is None else dtype, device=self.device)

    def full(self, shape: Any, value: float) -> Any:
        """Return an array of float64, all entries the same."""
        return self.xp.full(shape, value, dtype=self.xp.float64, device=self.device)


def solve_positive(xp: Any, H: Any, B: Any) -> Any:
    """Return H^-1 B for a stack of positive definite matrices; undefined if rounding has made one of them indefinite.

    PyTorch is not asked whether it could factor them, since that would have to wait for the device.
    """
    if compat.is_torch_namespace(xp):
        return xp.cholesky_solve(B, xp.linalg.cholesky_ex(H)[0])
    return xp.linalg.solve(H, B)


def add_to_diagonal(xp: Any, A: Any, values: Any) -> Any:
    """Return A with ``values`` added to its diagonal; A itself may be overwritten."""
    if compat.is_torch_namespace(xp):
        A.diagonal().add_(values)
        return A
    return A + values[:, None] * xp.eye(int(A.shape[0]), dtype=A.dtype, device=compat.device(A))


def is_fused(place: Place) -> bool:
    """Tell whether there are fused kernels for arrays of this place: those of PyTorch on CUDA, if Triton is there."""
    return place.is_torch_cuda and find_spec("triton") is not None


@contextmanager
def no_warnings() -> Iterator[None]:
    """Suppress warnings inside the block."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def to_numpy(array: Any) -> Vector:
    """Return a copy of ``array`` in this process; waits until the device has computed it."""
    if compat.is_torch_array(array):
        return np.asarray(array.detach().cpu().numpy())
    if compat.is_cupy_array(array):
        return np.asarray(array.get())
    try:
        return np.asarray(array)
    except (RuntimeError, TypeError):  # another device of a library that we do not know by name
        return np.asarray(np.from_dlpack(array, device="cpu"))
