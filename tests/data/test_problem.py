"""The one door for data: what comes in as X, y and weights, and the problem that goes to the solvers."""

import numpy as np
import pytest
from problems import EVERY_LOSS, TARGET_LOSSES, classification, csr, every_layout
from scipy import sparse

from hingeline import Hinge, SquaredHinge
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.kernels.rows import CsrRows, DenseRows, OnesRows

X, Y = classification(30, 5, seed=1, density=0.6)
LABELS = Y.astype(np.float32)


def dense(data):
    """Return the matrix that a row view stands for."""
    rows = data.rows
    if isinstance(rows, DenseRows):
        return np.asarray(rows.X, dtype=np.float64)
    values = rows.data if isinstance(rows, CsrRows) else np.ones(rows.indices.size)
    return sparse.csr_array((values, rows.indices, rows.indptr), shape=(data.n_rows, data.n_features)).toarray()


@pytest.mark.parametrize("bias", [0.0, 2.0])
@pytest.mark.parametrize("ones", [False, True])
def test_rows_and_squared_norms_are_those_of_x(ones, bias):
    base = (X != 0.0).astype(np.float64) if ones else X
    for name, matrix in every_layout(base):
        data = read_data(matrix, bias)
        full = base.astype(np.float32).astype(np.float64)
        assert (data.n_rows, data.n_features, data.rows.bias, data.distinct) == (30, 5, bias, True), name
        np.testing.assert_array_equal(dense(data), full, err_msg=name)
        np.testing.assert_allclose(data.q, (full**2).sum(axis=1) + bias**2, rtol=1e-12, err_msg=name)
        assert data.largest_q == data.q.max()
        assert data.n_stored == (full.size if isinstance(data.rows, DenseRows) else np.count_nonzero(full)), name


def test_values_of_one_that_are_all_alike_are_not_stored():
    pattern = (X != 0.0).astype(np.float64)
    assert isinstance(read_data(csr(pattern)).rows, OnesRows)
    pattern[np.nonzero(pattern)[0][0], np.nonzero(pattern)[1][0]] = 2.0
    assert isinstance(read_data(csr(pattern)).rows, CsrRows)


def test_repeated_columns_count_as_their_sum():
    repeated = sparse.csr_array((np.array([1.0, 2.0, 3.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 3))
    data = read_data(repeated, 1.0)
    assert not data.distinct
    np.testing.assert_allclose(data.q, [9.0 + 1.0, 9.0 + 1.0])


@pytest.mark.parametrize("threads", [1, 3])
def test_what_was_read_is_taken_as_it_is(threads):
    data = read_data(X, 1.0, threads)
    assert read_data(data, 1.0) is data
    with pytest.raises(ValueError, match="read it again"):
        read_data(data, 0.5)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [(np.int8, np.float32), (bool, np.float32), (np.float16, np.float32), (np.int32, np.float64), (object, np.float64)],
)
def test_other_numbers_become_the_smallest_floats_that_hold_them(dtype, expected):
    data = read_data(np.array([[1, 0], [0, 1]], dtype=dtype))
    assert data.rows.X.dtype == expected
    assert dense(data).tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.ones(3), "must be a matrix"),
        (np.ones((0, 3)), r"0 sample\(s\)"),
        (np.ones((3, 0)), r"0 feature\(s\)"),
        (np.array([[1.0, np.nan]]), "NaN at row 0, column 1"),
        (np.array([[1.0], [-np.inf]]), r"infinity \(inf\) at row 1, column 0"),
        (np.array([[1.0], [1e200]]), "squares of row 1"),
        (np.array([[1.0, "x"]], dtype=object), r"X\[0, 1\] is 'x'"),
        (np.ones((2, 2)) * 1j, "Complex"),
    ],
)
def test_bad_values_are_named_by_their_place(wrong, message):
    with pytest.raises(ValueError, match=message):
        read_data(wrong)


@pytest.mark.parametrize("name", EVERY_LOSS)
def test_a_problem_keeps_labels_or_targets_and_its_signs(name):
    y = np.linspace(-2.0, 2.0, 30) if name in TARGET_LOSSES else LABELS
    problem = make_problem(read_data(X), y, None, EVERY_LOSS[name](0.5))
    assert problem.C == 0.5
    assert problem.y is y
    np.testing.assert_array_equal(problem.signs, np.ones(30) if name in TARGET_LOSSES else LABELS)


def test_every_row_is_visited_unless_it_is_of_zeros_or_has_no_weight():
    data = X.copy()
    data[[2, 7]] = 0.0
    whole = make_problem(read_data(X + 1.0), LABELS, None, Hinge(1.0))
    assert whole.every_row
    assert whole.n_variables == 30
    assert whole.variables_in_order().tolist() == list(range(30))
    weights = np.ones(30)
    weights[[7, 9]] = 0.0
    problem = make_problem(read_data(data), LABELS, weights, Hinge(1.0))
    left = [i for i in range(30) if i not in (2, 7, 9) and data[i].any()]
    assert problem.variables_in_order().tolist() == left
    assert problem.n_variables == len(left)
    problem.variables_in_order()[:] = 0  # a copy: the engine shuffles it
    assert problem.variables_in_order().tolist() == left
    with_bias = make_problem(read_data(data, 1.0), LABELS, None, Hinge(1.0))
    assert with_bias.every_row  # the constant feature is there in every row


def test_weights_multiply_C_and_what_is_next_to_zero_is_zero():
    weights = np.arange(30.0)
    weights[3] = 1e-310
    problem = make_problem(read_data(X + 1.0), LABELS, weights, SquaredHinge(0.5))
    expected = 0.5 * np.arange(30.0)
    expected[3] = 0.0
    np.testing.assert_array_equal(problem.C, expected)
    assert problem.n_variables == 28
    assert weights[3] == 1e-310  # the user's array stays as it is


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(29), "shape"),
        (np.full(30, np.nan), "must be finite"),
        (np.where(np.arange(30) == 4, -1.0, 1.0), r"sample_weight\[4\] is -1"),
        (np.zeros(30), "zero for every row"),
        (np.full(30, 1e-320), "there is nothing to train on"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        make_problem(read_data(X), LABELS, weights, Hinge(1.0))


@pytest.mark.parametrize("loss", [Hinge(1e300), SquaredHinge(1e160)])
def test_what_would_overflow_is_refused(loss):
    with pytest.raises(ValueError, match="overflows float64"):
        make_problem(read_data(1e10 * X), LABELS, None, loss)
    make_problem(read_data(1e-160 * X), LABELS, None, Hinge(1e100))  # large and small together are fine


@pytest.mark.parametrize("C", [0.0, -1.0, np.inf, np.nan])
def test_a_C_that_is_none(C):
    with pytest.raises(ValueError, match="C must be"):
        make_problem(read_data(X), LABELS, None, Hinge(C))
