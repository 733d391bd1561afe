"""Vectors in ``.npy`` files: written block by block in bounded memory, and mapped after a check of every length.

The header of a file always takes 128 bytes, so that it can be written at the end, when the length is known.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HEADER_BYTES = 128
MAGIC = b"\x93NUMPY\x01\x00"
CHUNK_BYTES = 1 << 22  # read, changed or hashed at a time
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
DAMAGED = "the dataset is damaged; convert the data again."


class DatasetError(ValueError):
    """A dataset on disk that is not what it should be."""


class ArrayFile(NamedTuple):
    """The description of a vector on disk; the checksum covers its elements, not the header."""

    dtype: str
    size: int
    sha256: str


class GrowingArray:
    """A vector on disk that grows, in the first of ``dtypes`` that holds every element exactly.

    When an element needs a wider type, the elements so far are written again; the last type must hold anything.
    """

    def __init__(self, path: Path, dtypes: tuple[Any, ...]) -> None:
        self.path = path
        self.dtype, *self.wider = (np.dtype(dtype) for dtype in dtypes)
        self._begin()

    def _begin(self) -> None:
        self.size = 0
        self.sha256 = hashlib.sha256()
        self.file = open(self.path, "wb")  # noqa: SIM115 (``close`` or ``finish`` close it)
        self.file.write(bytes(HEADER_BYTES))

    def append(self, part: np.ndarray) -> None:
        """Add the elements of ``part``."""
        dtype = self.dtype
        while self.wider and not _fits(part, dtype):
            dtype = self.wider.pop(0)
        if dtype != self.dtype:
            self.rewrite(lambda old: old, dtype)
        stored = np.ascontiguousarray(part, dtype=_on_disk(dtype)).view(np.uint8).data
        self.file.write(stored)
        self.sha256.update(stored)
        self.size += part.size

    def rewrite(self, change: Callable[[np.ndarray], np.ndarray], dtype: Any = None) -> None:
        """Replace every element so far, a chunk at a time; ``change`` maps a vector to one of the same length."""
        self.close()
        old_path, old_dtype, size = self.path.with_suffix(f".{self.size}.old"), _on_disk(self.dtype), self.size
        os.replace(self.path, old_path)
        self.dtype = self.dtype if dtype is None else dtype
        self._begin()
        with open(old_path, "rb") as file:
            file.seek(HEADER_BYTES)
            while self.size < size:
                count = min(CHUNK_BYTES // old_dtype.itemsize, size - self.size)
                self.append(change(np.fromfile(file, old_dtype, count)))
        old_path.unlink()

    def finish(self) -> ArrayFile:
        """Complete the file, make sure that it is on disk, and return its description."""
        self.file.seek(0)
        self.file.write(_header(self.dtype, self.size))
        self.file.flush()
        os.fsync(self.file.fileno())
        self.close()
        return ArrayFile(self.dtype.name, self.size, self.sha256.hexdigest())

    def close(self) -> None:
        """Close the file, complete or not."""
        self.file.close()


def map_array(path: Path, expected: ArrayFile) -> np.ndarray:
    """Return the vector in ``path`` as a read-only view of the file, which must hold exactly what is ``expected``.

    Only the header is read, and no memory is allocated.
    """
    dtype, size = _on_disk(expected.dtype), expected.size
    try:
        found = path.stat()
    except OSError as error:
        raise DatasetError(f"{path}: {error.strerror}: {DAMAGED}") from None
    length = HEADER_BYTES + size * dtype.itemsize
    if not stat.S_ISREG(found.st_mode) or found.st_size != length:
        raise DatasetError(
            f"{path} has {found.st_size} bytes; {size} elements of {expected.dtype} need {length}: {DAMAGED}"
        )
    with open(path, "rb") as file:
        if file.read(HEADER_BYTES) != _header(dtype, size):
            raise DatasetError(f"{path} does not begin as a vector of {size} {expected.dtype}: {DAMAGED}")
    if size == 0:  # an empty file cannot be mapped
        return np.empty(0, dtype)
    return np.memmap(path, dtype, mode="r", offset=HEADER_BYTES, shape=(size,)).view(np.ndarray)


def check_sha256(array: np.ndarray, expected: ArrayFile, path: Path) -> None:
    """Raise unless the elements are those that were written."""
    sha256 = hashlib.sha256()
    elements = array.view(np.uint8)
    for begin in range(0, elements.size, CHUNK_BYTES):
        sha256.update(elements[begin : begin + CHUNK_BYTES].data)
    if sha256.hexdigest() != expected.sha256:
        raise DatasetError(f"{path}: its elements have changed since they were written: {DAMAGED}")


def _header(dtype: np.dtype, size: int) -> bytes:
    """Return the first 128 bytes of a ``.npy`` file, version 1.0, that holds a vector."""
    fields = f"{{'descr': {_on_disk(dtype).str!r}, 'fortran_order': False, 'shape': ({size},), }}"
    space = HEADER_BYTES - len(MAGIC) - 2
    return MAGIC + space.to_bytes(2, "little") + fields.ljust(space - 1).encode("ascii") + b"\n"


def _on_disk(dtype: Any) -> np.dtype:
    return np.dtype(dtype).newbyteorder("<")


def _fits(part: np.ndarray, dtype: np.dtype) -> bool:
    """Tell whether ``dtype`` holds every element exactly."""
    if part.size == 0 or np.can_cast(part.dtype, dtype):
        return True
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return np.array_equal(part.astype(dtype), part, equal_nan=True)
    limits = np.iinfo(dtype)
    return bool(limits.min <= part.min() and part.max() <= limits.max)
