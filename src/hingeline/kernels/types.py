"""Names for what kernels take, so that their signatures say it. numba finds the exact types at the first call."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

Vector: TypeAlias = np.ndarray  # numbers, one per row, per feature or per variable
Matrix: TypeAlias = np.ndarray  # numbers in two dimensions
Indices: TypeAlias = np.ndarray  # unsigned numbers of rows, columns or entries
Counts: TypeAlias = np.ndarray  # integers
Flags: TypeAlias = np.ndarray  # truth values
Generator: TypeAlias = np.ndarray  # the state of a random generator, see random.py
Index: TypeAlias = int | np.uint64  # the number of a row, a column or an entry: int from Python, unsigned in loops
