"""Bad input: a ValueError that says what and where, and an estimator that stays as it was."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from problems import classification
from scipy import sparse

from hingeline import Hinge, LinearSVC, SquaredHinge, solve

X, Y = classification(12, 4, seed=41)


def changed(value, at, base=X):
    """Return a copy of ``base`` with ``value`` at one place."""
    copy = base.copy()
    copy[at] = value
    return copy


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
    f"{kind}-{name}": (compressed(kind, **parts), message.format(major=major, minor=minor))
    for kind, (major, minor) in NAMES.items()
    for name, parts, message in [
        ("decreasing", {"indptr": [0, 2, 1, 4, 6]}, r"indptr is broken at {major} 1: it runs from 2 to 1"),
        ("beyond", {"indptr": [0, 2, 3, 4, 7]}, r"indptr is broken at {major} 3.* exceed the 6 stored"),
        ("far-beyond", {"indptr": [0, 2, 3, 4, 2**40]}, r"indptr is broken at {major} 3"),
        ("negative", {"indptr": [0, -2, 3, 4, 6]}, r"indptr is broken at {major} 0"),
        ("wrap-around", {"indptr": [0, 2, -1, 4, 6]}, r"indptr is broken at {major} 1"),
        ("too-short", {"indptr": [0, 2, 6]}, r"indptr has 3 entries, 4 {major}s need 5"),
        ("too-long", {"indptr": [0, 2, 3, 4, 6, 6]}, r"indptr has 6 entries"),
        ("not-from-zero", {"indptr": [1, 2, 3, 4, 6]}, r"indptr\[0\] is 1; it must be 0"),
        ("of-floats", {"indptr": [0.0, 2.0, 3.0, 4.0, 6.0]}, r"indptr must be a vector of integers; got float64"),
        ("index-too-large", {"indices": [0, 2, 1, 0, 1, 3]}, r"{minor} index 3 in {major} 3, outside of \[0, 3\)"),
        ("index-huge", {"indices": [0, 2, 1, 2**31 - 1, 1, 2]}, r"{minor} index 2147483647 in {major} 2"),
        ("index-negative", {"indices": [0, 2, -1, 0, 1, 2]}, r"{minor} index -1 in {major} 1"),
        ("index-of-floats", {"indices": [0.0, 2, 1, 0, 1, 2]}, r"indices must be a vector of integers"),
        ("indices-too-few", {"indices": [0, 2, 1, 0, 1]}, r"indices has 5 entries"),
    ]
    if not (kind == "bsr" and name == "indices-too-few")
}
BROKEN |= {
    "csr-data-too-few": (compressed("csr", data=np.ones(5)), r"X.data has shape \(5,\)"),
    "csr-data-2d": (compressed("csr", data=np.ones((6, 1))), r"X.data has shape \(6, 1\)"),
    "coo-row-too-large": (coordinates([0, 1, 4, 3], [0, 1, 2, 0]), r"X.row\[2\] is 4, outside of \[0, 4\)"),
    "coo-column-negative": (coordinates([0, 1, 2, 3], [0, -1, 2, 0]), r"X.col\[1\] is -1, outside of \[0, 3\)"),
    "coo-too-few": (coordinates([0, 1, 2], [0, 1, 2]), r"one integer for each entry of X.data"),
    "coo-of-floats": (coordinates([0.0, 1, 2, 3], [0, 1, 2, 0]), r"X.row must hold one integer"),
}

BAD_X = {
    "nan": (changed(np.nan, (3, 2)), r"NaN at row 3, column 2"),
    "inf": (changed(np.inf, (0, 1)), r"inf.* at row 0, column 1"),
    "minus-inf": (changed(-np.inf, (11, 0)), r"inf.* at row 11, column 0"),
    "nan-float32": (changed(np.nan, (3, 2)).astype(np.float32), r"NaN at row 3, column 2"),
    "nan-sparse": (sparse.csr_array(changed(np.nan, (3, 2))), r"NaN at row 3, column 2"),
    "inf-sparse": (sparse.csc_array(changed(np.inf, (5, 1))), r"inf.* at row 5, column 1"),
    "overflow": (changed(1e200, (7, 1)), r"squares of row 7 .* overflow.* 1e\+200.*scale"),
    "overflow-sparse": (sparse.csr_array(changed(-1e200, (7, 1))), r"squares of row 7"),
    "vector": (X[:, 0], r"(?s)1 dimension.*Reshape"),
    "cube": (X.reshape(12, 2, 2), r"3 dimension"),
    "scalar": (3.0, r"0 dimension|scalar"),
    "no-rows": (X[:0], r"0 sample"),
    "no-columns": (X[:, :0], r"0 feature"),
    "no-rows-sparse": (sparse.csr_array(X[:0]), r"0 sample"),
    "complex": (X + 0j, r"Complex data not supported"),
    "complex-sparse": (sparse.csr_array(X + 0j), r"Complex data not supported"),
    "strings": (changed("red", (2, 1), X.astype(object)), r"X\[2, 1\] is 'red'.*Encode it as a number"),
    "dicts": (changed({}, (2, 1), X.astype(object)), r"X\[2, 1\] is \{\}"),
    "strings-only": (np.full((12, 4), "red"), r"X\[0, 0\] is .*'red'"),
    "none": (changed(None, (2, 1), X.astype(object)), r"X\[2, 1\] is None|NaN at row 2, column 1"),
    "ragged": ([[1.0, 2.0], [3.0]] * 6, r"inhomogeneous"),
}
BAD_Y = {
    "too-short": (Y[:-1], r"\[12, 11\]"),
    "too-long": (np.append(Y, 1), r"\[12, 13\]"),
    "one-class": (np.ones(12), r"(?i)y holds 1 class \(1.0\).*two"),
    "continuous": (np.linspace(0.0, 1.0, 12), r"(?i)continuous"),
    "nan": (changed(np.nan, 4, Y.astype(float)), r"y\[4\] is nan"),
    "two-columns": (np.column_stack([Y, Y]), r"1d array|column"),
    "none": (None, r"requires y"),
    "empty": (Y[:0], r"."),
}
BAD_WEIGHTS = {
    "negative": (changed(-1.0, 3, np.ones(12)), r"sample_weight\[3\] is -1"),
    "nan": (changed(np.nan, 3, np.ones(12)), r"sample_weight\[3\] is nan"),
    "inf": (changed(np.inf, 3, np.ones(12)), r"sample_weight\[3\] is inf"),
    "zero": (np.zeros(12), r"zero for every row"),
    "next-to-zero": (np.full(12, 1e-310), r"below 1e-300 for every row"),
    "one-class-left": ((Y > 0).astype(float), r"zero for every row but those of one class"),
    "too-short": (np.ones(11), r"11"),
    "two-columns": (np.ones((12, 2)), r"1D"),
    "strings": (np.full(12, "a"), r"."),
    "overflow": (np.full(12, 1e308), r"overflows float64"),
}
BAD_PARAMETERS = {
    "C-zero": {"C": 0.0},
    "C-negative": {"C": -1.0},
    "C-nan": {"C": np.nan},
    "C-tiny": {"C": 1e-310},
    "C-inf": {"C": np.inf},
    "C-string": {"C": "1"},
    "C-overflow": {"C": 1e308},
    "loss": {"loss": "logistic"},
    "l1": {"penalty": "l1", "loss": "hinge"},
    "penalty": {"penalty": "l3"},
    "crammer_singer": {"multi_class": "crammer_singer", "penalty": "l1"},
    "solver": {"solver": "sgd"},
    "tol": {"tol": 0.0},
    "gap_tol": {"gap_tol": -1.0},
    "max_iter": {"max_iter": 0},
    "max_time": {"max_time": 0.0},
    "intercept_scaling": {"intercept_scaling": 0.0},
    "class_weight": {"class_weight": "even"},
    "class_weight-negative": {"class_weight": {1: -2.0}},
    "class_weight-unknown": {"class_weight": {7: 2.0}},
    "warm_start": {"warm_start": "yes"},
    "dual": {"dual": "no"},
}


def state_of(estimator):
    """Return what an estimator knows, in a form that can be compared."""
    return {name: repr(value) for name, value in vars(estimator).items()}


def assert_refused(message, *data, error=ValueError, **parameters):
    """Fit must raise, with the message, an estimator that is fresh and one that is trained; neither may change."""
    for trained in (False, True):
        estimator = LinearSVC(random_state=0)
        if trained:
            estimator.fit(X, Y)
        estimator.set_params(**parameters)
        before = state_of(estimator)
        with pytest.raises(error, match=message):
            estimator.fit(*data)
        assert state_of(estimator) == before


@pytest.mark.parametrize("name", BAD_X)
def test_bad_values(name):
    bad, message = BAD_X[name]
    assert_refused(message, bad, Y)


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
    """The same in a process of its own: a crash there is a failure here, not the end of all tests."""
    code = (
        "import numpy as np\nfrom test_bad_input import BROKEN\nfrom hingeline import LinearSVC\n"
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


@pytest.mark.parametrize("name", BAD_Y)
def test_bad_labels(name):
    bad, message = BAD_Y[name]
    assert_refused(message, X, bad)


@pytest.mark.parametrize("name", BAD_WEIGHTS)
def test_bad_weights(name):
    bad, message = BAD_WEIGHTS[name]
    assert_refused(message, X, Y, bad)


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_bad_parameters(name):
    parameter = BAD_PARAMETERS[name]
    assert_refused(next(iter(parameter)), X, Y, **parameter)


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        (r"y\[0\] is .*labels must be -1 and \+1", {"y": np.where(Y == 1, 2, 3)}),
        (r"y has shape \(11,\), X has 12 rows", {"y": Y[:-1]}),
        (r"one class only", {"y": np.ones(12)}),
        (r"loss must be one of Hinge, SquaredHinge", {"loss": "hinge"}),
        (r"C must be a positive finite number", {"loss": Hinge(C=0.0)}),
        (r"C must be a positive finite number", {"loss": SquaredHinge(C=np.inf)}),
        (r"solver must be 'auto' or one of", {"solver": "sgd"}),
        (r"tol must be a positive number", {"tol": 0.0}),
        (r"gap_tol must be a positive number", {"gap_tol": np.nan}),
        (r"max_time must be a positive number", {"max_time": -1.0}),
        (r"max_iter must be at least 1", {"max_iter": 0}),
        (r"bias must be finite", {"bias": np.inf}),
        (r"alpha0 has shape \(3,\)", {"alpha0": np.ones(3)}),
        (r"alpha0\[1\] is not finite", {"alpha0": changed(np.nan, 1, np.ones(12))}),
        (r"sample_weight has shape \(3,\)", {"sample_weight": np.ones(3)}),
        (r"sample_weight\[2\] is -1", {"sample_weight": changed(-1.0, 2, np.ones(12))}),
    ],
)
def test_solve_refuses(message, arguments):
    with pytest.raises(ValueError, match=message):
        solve(**{"X": X, "y": Y, **arguments})
