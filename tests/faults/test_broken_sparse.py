"""Sparse matrices whose arrays contradict each other: a ValueError that says where, and never a crash."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fault_rows import rows_of
from refusals import assert_refused
from scipy import sparse

from hingeline import LinearSVC, solve


def compressed(kind, *, data=None, indices=None, indptr=None, shape=(4, 3)):
    """Return a 4 x 3 matrix (3 x 4 blocks of 1 x 1 for BSR) whose arrays were put in place by hand."""
    rows = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [4.0, 0.0, 0.0], [0.0, 5.0, 6.0]])
    if kind == "bsr":
        matrix = sparse.bsr_matrix(rows, blocksize=(1, 1))
    else:
        matrix = getattr(sparse, f"{kind}_matrix")(rows if kind == "csr" else rows.T)
    for name, array in (("data", data), ("indices", indices), ("indptr", indptr)):
        if array is not None:
            setattr(matrix, name, np.asarray(array))
    matrix.has_sorted_indices = matrix.has_canonical_format = True  # or SciPy looks, and may crash, by itself
    return matrix


def coordinates(row, col):
    """Return a 4 x 3 COO matrix with entries where they cannot be."""
    matrix = sparse.coo_matrix((np.ones(4), ([0, 1, 2, 3], [0, 1, 2, 0])), shape=(4, 3))
    matrix.coords = (np.asarray(row), np.asarray(col))
    return matrix


NAMES = {"csr": ("row", "column"), "csc": ("column", "row"), "bsr": ("block row", "block column")}
BROKEN = {
    f"{name}, {kind}": (compressed(kind, **parts), message.format(major=major, minor=minor))
    for kind, (major, minor) in NAMES.items()
    for name, parts, message in [
        ("bounds: decreasing", {"indptr": [0, 2, 1, 4, 6]}, r"indptr is broken at {major} 1: it runs from 2 to 1"),
        ("bounds: beyond", {"indptr": [0, 2, 3, 4, 7]}, r"indptr is broken at {major} 3.* exceed the 6 stored"),
        ("bounds: far beyond", {"indptr": [0, 2, 3, 4, 2**40]}, r"indptr is broken at {major} 3"),
        ("bounds: negative", {"indptr": [0, -2, 3, 4, 6]}, r"indptr is broken at {major} 0"),
        ("bounds: wrap around", {"indptr": [0, 2, -1, 4, 6]}, r"indptr is broken at {major} 1"),
        ("bounds: too short", {"indptr": [0, 2, 6]}, r"indptr has 3 entries, but 4 {major}s need 5"),
        ("bounds: too long", {"indptr": [0, 2, 3, 4, 6, 6]}, r"indptr has 6 entries"),
        ("bounds: not from zero", {"indptr": [1, 2, 3, 4, 6]}, r"indptr\[0\] is 1; it must be 0"),
        (
            "bounds: of floats",
            {"indptr": [0.0, 2.0, 3.0, 4.0, 6.0]},
            r"indptr must be a vector of integers; got float64",
        ),
        ("index: too large", {"indices": [0, 2, 1, 0, 1, 3]}, r"{minor} index 3 in {major} 3, outside \[0, 3\)"),
        ("index: huge", {"indices": [0, 2, 1, 2**31 - 1, 1, 2]}, r"{minor} index 2147483647 in {major} 2"),
        ("index: negative", {"indices": [0, 2, -1, 0, 1, 2]}, r"{minor} index -1 in {major} 1"),
        ("index: of floats", {"indices": [0.0, 2, 1, 0, 1, 2]}, r"indices must be a vector of integers"),
        ("index: too few", {"indices": [0, 2, 1, 0, 1]}, r"indices has 5 entries"),
    ]
    if not (kind == "bsr" and name == "index: too few")
}
BROKEN |= {
    "values: too few": (compressed("csr", data=np.ones(5)), r"X.data has shape \(5,\)"),
    "values: 2d": (compressed("csr", data=np.ones((6, 1))), r"X.data has shape \(6, 1\)"),
    "coordinates: row too large": (coordinates([0, 1, 4, 3], [0, 1, 2, 0]), r"X.row\[2\] is 4, outside \[0, 4\)"),
    "coordinates: column negative": (
        coordinates([0, 1, 2, 3], [0, -1, 2, 0]),
        r"X.col\[1\] is -1, outside \[0, 3\)",
    ),
    "coordinates: too few": (coordinates([0, 1, 2], [0, 1, 2]), r"one integer per entry of X.data"),
    "coordinates: floats": (coordinates([0.0, 1, 2, 3], [0, 1, 2, 0]), r"X.row must hold one integer"),
}


@rows_of("sparse", BROKEN)
@pytest.mark.parametrize("name", BROKEN)
def test_broken_sparse_matrices(name):
    bad, message = BROKEN[name]
    n = bad.shape[0]
    assert_refused(message, bad, np.arange(n) % 2)
    with pytest.raises(ValueError, match=message):
        solve(bad, 2 * (np.arange(n) % 2) - 1)
    model = LinearSVC().fit(np.eye(bad.shape[1]), np.arange(bad.shape[1]) % 2)
    with pytest.raises(ValueError, match=message):
        model.predict(bad)


def test_broken_sparse_matrices_leave_the_process_alive():
    """The same in a separate process: a crash there is a failure here, not the end of all tests."""
    code = (
        "import numpy as np\nfrom test_broken_sparse import BROKEN\nfrom hingeline import LinearSVC\n"
        "for name, (bad, _) in BROKEN.items():\n"
        "    try: LinearSVC().fit(bad, np.arange(bad.shape[0]) % 2)\n"
        "    except ValueError: pass\n"
        "print('alive')"
    )
    here = Path(__file__).resolve().parent
    paths = f"import sys; sys.path[:0] = [{str(here)!r}, {str(here.parent)!r}]\n"
    done = subprocess.run([sys.executable, "-c", paths + code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "alive", done.stderr[-2000:]
    assert done.returncode == 0
