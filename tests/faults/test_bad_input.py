"""Bad input: a ValueError that says what and where, and an estimator that stays as it was."""

import numpy as np
import pytest
from fault_rows import row, rows_of
from refusals import X, Y, assert_refused
from scipy import sparse
from sklearn.exceptions import NotFittedError

from hingeline import Hinge, LinearSVC, LinearSVCCV, LinearSVR, OneClassSVM, SquaredHinge, c_path, solve


def changed(value, at, base=X):
    """Return a copy of ``base`` with ``value`` at one place."""
    copy = base.copy()
    copy[at] = value
    return copy


BAD_X = {
    "nan": (changed(np.nan, (3, 2)), r"NaN at row 3, column 2"),
    "inf": (changed(np.inf, (0, 1)), r"inf.* at row 0, column 1"),
    "inf: minus": (changed(-np.inf, (11, 0)), r"inf.* at row 11, column 0"),
    "nan: float32": (changed(np.nan, (3, 2)).astype(np.float32), r"NaN at row 3, column 2"),
    "nan: sparse": (sparse.csr_array(changed(np.nan, (3, 2))), r"NaN at row 3, column 2"),
    "inf: sparse": (sparse.csc_array(changed(np.inf, (5, 1))), r"inf.* at row 5, column 1"),
    "overflow": (changed(1e200, (7, 1)), r"squares of row 7 .* overflow.* 1e\+200.*scale"),
    "overflow: sparse": (sparse.csr_array(changed(-1e200, (7, 1))), r"squares of row 7"),
    "shape: vector": (X[:, 0], r"(?s)1 dimension.*Reshape"),
    "shape: cube": (X.reshape(12, 2, 2), r"3 dimension"),
    "shape: scalar": (3.0, r"0 dimension|scalar"),
    "empty: rows": (X[:0], r"0 sample"),
    "empty: columns": (X[:, :0], r"0 feature"),
    "empty: sparse": (sparse.csr_array(X[:0]), r"0 sample"),
    "complex": (X + 0j, r"Complex data not supported"),
    "complex: sparse": (sparse.csr_array(X + 0j), r"Complex data not supported"),
    "text: one": (changed("red", (2, 1), X.astype(object)), r"X\[2, 1\] is 'red'.*Encode it as a number"),
    "text: dicts": (changed({}, (2, 1), X.astype(object)), r"X\[2, 1\] is \{\}"),
    "text: all": (np.full((12, 4), "red"), r"X\[0, 0\] is .*'red'"),
    "text: none": (changed(None, (2, 1), X.astype(object)), r"X\[2, 1\] is None|NaN at row 2, column 1"),
    "huge: integer": ([[10**400, 1.0]] * 12, r"X\[0, 0\] is 1000.*too large"),
    "huge: longdouble": (changed(np.longdouble("1e400"), (3, 2), X.astype(np.longdouble)), r"inf.* at row 3, column 2"),
    "date: moment": (np.full((12, 4), np.datetime64("2020-01-01")), r"datetime64.*turn dates and durations"),
    "date: duration": (np.full((12, 4), np.timedelta64(1, "D")), r"timedelta64"),
    "masked": (np.ma.masked_array(X, mask=changed(True, (3, 2), np.zeros(X.shape, bool))), r"X\[3, 2\] is masked"),
    "object: none at all": (None, r"0 dimension"),
    "object: path": ("data.svm", r"0 dimension"),
    "object: generator": ((x for x in X), r"0 dimension"),
    "ragged": ([[1.0, 2.0], [3.0]] * 6, r"inhomogeneous"),
}
BAD_Y = {
    "length: too short": (Y[:-1], r"\[12, 11\]"),
    "length: too long": (np.append(Y, 1), r"\[12, 13\]"),
    "one-class": (np.ones(12), r"(?i)y holds 1 class \(1.0\).*two"),
    "continuous": (np.linspace(0.0, 1.0, 12), r"(?i)continuous"),
    "nan": (changed(np.nan, 4, Y.astype(float)), r"y\[4\] is nan"),
    "shape: two columns": (np.column_stack([Y, Y]), r"1d array|column"),
    "none": (None, r"requires y"),
    "length: empty": (Y[:0], r"\[12, 0\]|0 class|empty"),
    "mixed": (np.array([0, "a"] * 6, dtype=object), r"cannot be ordered \(int, str\)"),
    "missing: None": (changed(None, 4, np.array(["a", "b"] * 6, dtype=object)), r"y\[4\] is None"),
    "missing: NaN": (changed(np.nan, 4, np.array(["a", "b"] * 6, dtype=object)), r"y\[4\] is nan"),
    "objects": (np.array([0, 1] * 6, dtype=object), r"Python objects \(int\).*y.astype"),
    "objects: tuples": ([(0, 1), (1, 2)] * 6, r"1d array|column|Python objects"),
    "objects: bytes": (np.array([b"a", b"b"] * 6), r"y holds bytes"),
    "complex": (Y + 0j, r"Complex data not supported"),
    "masked": (np.ma.masked_array(Y, mask=np.arange(12) == 4), r"y\[4\] is masked"),
}
BAD_TARGETS = {
    "nan": (changed(np.nan, 4, np.ones(12)), r"y\[4\] is nan"),
    "inf": (changed(np.inf, 4, np.ones(12)), r"y\[4\] is inf"),
    "text": (np.array(["a", "b"] * 6), r"something that is not a number"),
    "complex": (Y + 0j, r"Complex data not supported"),
    "shape": (np.ones((12, 2)), r"1d array"),
    "masked": (np.ma.masked_array(Y, mask=np.arange(12) == 4), r"y\[4\] is masked"),
    "overflow": (np.full(12, 1e300), r"overflows float64"),
}
BAD_WEIGHTS = {
    "negative": (changed(-1.0, 3, np.ones(12)), r"sample_weight\[3\] is -1"),
    "nan": (changed(np.nan, 3, np.ones(12)), r"sample_weight\[3\] is nan"),
    "inf": (changed(np.inf, 3, np.ones(12)), r"sample_weight\[3\] is inf"),
    "zero": (np.zeros(12), r"zero for every row"),
    "zero: next to": (np.full(12, 1e-310), r"below 1e-300 for every row"),
    "shape: too short": (np.ones(11), r"11"),
    "shape: two columns": (np.ones((12, 2)), r"1D"),
    "text: strings": (np.full(12, "a"), r"could not convert|not a number"),
    "overflow": (np.full(12, 1e308), r"overflows float64"),
    "text: dict": ({"a": 1.0}, r"not a number"),
    "masked": (np.ma.masked_array(np.ones(12), mask=np.arange(12) == 3), r"sample_weight\[3\] is masked"),
}
BAD_PARAMETERS = {
    "C: zero": {"C": 0.0},
    "C: negative": {"C": -1.0},
    "C: nan": {"C": np.nan},
    "C: tiny": {"C": 1e-310},
    "C: inf": {"C": np.inf},
    "C: string": {"C": "1"},
    "C-overflow": {"C": 1e308},
    "choice: loss": {"loss": "logistic"},
    "combination: hinge": {"penalty": "l1", "loss": "hinge"},
    "choice: penalty": {"penalty": "l3"},
    "combination: crammer_singer": {"multi_class": "crammer_singer", "penalty": "l1"},
    "choice: solver": {"solver": "sgd"},
    "number: tol": {"tol": 0.0},
    "number: gap_tol": {"gap_tol": -1.0},
    "number: max_iter": {"max_iter": 0},
    "number: max_time": {"max_time": 0.0},
    "number: intercept_scaling": {"intercept_scaling": 0.0},
    "class_weight: text": {"class_weight": "even"},
    "class_weight: negative": {"class_weight": {1: -2.0}},
    "class_weight: unknown class": {"class_weight": {7: 2.0}},
    "choice: warm_start": {"warm_start": "yes"},
    "choice: dual": {"dual": "no"},
    "number: tol of nan": {"tol": np.nan},
    "number: max_iter of float": {"max_iter": 1.5},
    "number: random_state": {"random_state": "a"},
    "n_jobs": {"n_jobs": 0},
}


@rows_of("x", BAD_X)
@pytest.mark.parametrize("name", BAD_X)
def test_bad_values(name):
    bad, message = BAD_X[name]
    assert_refused(message, bad, Y)


@rows_of("labels", BAD_Y)
@pytest.mark.parametrize("name", BAD_Y)
def test_bad_labels(name):
    bad, message = BAD_Y[name]
    assert_refused(message, X, bad)


@rows_of("targets", BAD_TARGETS)
@pytest.mark.parametrize("name", BAD_TARGETS)
def test_bad_targets(name):
    bad, message = BAD_TARGETS[name]
    model = LinearSVR(loss="squared_epsilon_insensitive")
    with pytest.raises(ValueError, match=message):
        model.fit(X, bad)
    assert not hasattr(model, "coef_")


@rows_of("weights", BAD_WEIGHTS)
@pytest.mark.parametrize("name", BAD_WEIGHTS)
def test_bad_weights(name):
    bad, message = BAD_WEIGHTS[name]
    assert_refused(message, X, Y, bad)


@rows_of("parameter", BAD_PARAMETERS)
@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_bad_parameters(name):
    parameter = BAD_PARAMETERS[name]
    assert_refused(next(iter(parameter)), X, Y, **parameter)  # the message names it


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        (r"y\[0\] is .*labels must be -1 and \+1", {"y": np.where(Y == 1, 2, 3)}),
        (r"y has shape \(11,\), but X has 12 rows", {"y": Y[:-1]}),
        (r"only one class", {"y": np.ones(12)}),
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
        (r"y\[4\] is masked", {"y": BAD_Y["masked"][0]}),
        (r"sample_weight\[3\] is masked", {"sample_weight": BAD_WEIGHTS["masked"][0]}),
    ],
)
def test_solve_refuses(message, arguments):
    with pytest.raises(ValueError, match=message):
        solve(**{"X": X, "y": Y, **arguments})
    if "is masked" in message:
        with pytest.raises(ValueError, match=message):
            c_path(**{"X": X, "y": Y, "Cs": [1.0], **arguments})


OTHER_PARAMETERS = {
    "nu": (lambda: OneClassSVM(nu=0.0).fit(X), "nu"),
    "epsilon": (lambda: LinearSVR(epsilon=-1.0).fit(X, Y), "epsilon"),
    "quantile": (lambda: LinearSVR(loss="pinball", quantile=1.0).fit(X, Y), "quantile"),
    "Cs: empty": (lambda: LinearSVCCV(Cs=[]).fit(X, Y), "Cs is empty"),
    "Cs: not positive": (lambda: LinearSVCCV(Cs=[1.0, np.nan]).fit(X, Y), "Every C must be a positive finite number"),
    "cv": (lambda: LinearSVCCV(cv=20).fit(X, Y), "n_splits=20"),
}


@rows_of("parameter", OTHER_PARAMETERS)
@pytest.mark.parametrize("name", OTHER_PARAMETERS)
def test_bad_parameters_of_others(name):
    fit, message = OTHER_PARAMETERS[name]
    with pytest.raises(ValueError, match=message):
        fit()


@row("parameter-name")
def test_a_name_that_is_none():
    with pytest.raises(TypeError, match="unexpected keyword argument 'c'"):
        LinearSVC(c=1.0)
    with pytest.raises(ValueError, match="Invalid parameter 'c'"):
        LinearSVC().set_params(c=1.0)


UNUSABLE = {
    "features": (X[:, :3], ValueError, "X has 3 features, but LinearSVC is expecting 4"),
    "values: nan": (changed(np.nan, (3, 2)), ValueError, "NaN at row 3, column 2"),
    "values: text": (np.full((2, 4), "red"), ValueError, r"X\[0, 0\] is .*'red'"),
    "shape": (X[0], ValueError, "1 dimension"),
    "empty": (X[:0], ValueError, "0 sample"),
}


@rows_of("predict", UNUSABLE)
@pytest.mark.parametrize("name", UNUSABLE)
def test_data_that_a_model_cannot_predict(name):
    bad, error, message = UNUSABLE[name]
    with pytest.raises(error, match=message):
        LinearSVC().fit(X, Y).predict(bad)


@row("predict-unfitted")
def test_a_model_that_is_not_fitted():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        LinearSVC().predict(X)


@row("x-matrix")
def test_a_matrix_of_numpy():
    with pytest.warns(PendingDeprecationWarning, match="matrix subclass"):
        bad = np.matrix(X)
    with pytest.raises(TypeError, match=r"np\.matrix is not supported"):
        LinearSVC().fit(bad, Y)


@row("labels-sparse")
def test_sparse_labels():
    with pytest.raises(TypeError, match="dense data is required"):
        LinearSVC().fit(X, sparse.csr_array(Y[:, None]))
