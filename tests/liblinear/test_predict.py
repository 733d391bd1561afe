"""LIBLINEAR's predictions by hand."""

import numpy as np
import pytest
from scipy import sparse

from hingeline.io.models.liblinear_file import LinearModel
from hingeline.io.text.small import PlainRows
from hingeline.liblinear.predict import decide, probabilities, scores

X = np.array([[1.0, 0.0, 2.0, 5.0], [0.0, 0.0, 0.0, 5.0], [0.5, -1.0, 0.0, 0.0]])


def test_features_that_the_model_has_not_seen_count_for_nothing():
    model = LinearModel(1, (7, 3), 3, -1.0, np.array([[1.0], [2.0], [3.0]]))
    assert scores(model, sparse.csr_matrix(X)).ravel().tolist() == [7.0, 0.0, -1.5]
    wide = LinearModel(1, (7, 3), 5, -1.0, np.arange(1.0, 6.0).reshape(-1, 1))  # nor do those that rows lack
    assert scores(wide, sparse.csr_matrix(X)).ravel().tolist() == [27.0, 20.0, -1.5]


def test_the_constant_feature_and_rho():
    w = np.array([[1.0], [2.0], [3.0], [10.0]])
    assert scores(LinearModel(1, (7, 3), 3, 0.5, w), sparse.csr_matrix(X)).ravel().tolist() == [12.0, 5.0, 3.5]
    one_class = LinearModel(21, None, 3, -1.0, w[:3], rho=1.0)
    assert scores(one_class, sparse.csr_matrix(X)).ravel().tolist() == [6.0, -1.0, -2.5]


def test_unsorted_rows_are_added_up_in_the_order_of_the_indices():
    w = np.array([[1.0], [1e16], [-1e16]])
    row = sparse.csr_matrix((np.ones(3), [2, 1, 0], [0, 3]), shape=(1, 3))
    assert scores(LinearModel(1, (1, -1), 3, -1.0, w), row)[0, 0] == (1.0 + 1e16) - 1e16


def test_plain_rows_give_the_same_bits_as_scipys():
    rng = np.random.default_rng(0)
    dense = rng.standard_normal((50, 30)) * 10.0 ** rng.integers(-8, 8, (50, 30)) * (rng.random((50, 30)) < 0.4)
    dense[7] = 0.0
    X = sparse.csr_matrix(dense)
    plain = PlainRows(X.indptr, X.indices, X.data, X.shape)
    for n_features, bias in ((30, -1.0), (12, 0.7), (40, 1.0)):
        w = rng.standard_normal((n_features + (bias >= 0.0), 3))
        model = LinearModel(0, (1, 2, 3), n_features, bias, w)
        assert scores(model, plain).tobytes() == scores(model, X).tobytes()


def test_decisions_and_ties():
    two = LinearModel(1, (7, 3), 1, -1.0, np.ones((1, 1)))
    assert decide(two, np.array([[0.1], [0.0], [-0.1]])).tolist() == [7, 3, 3]  # only above zero is it the first
    many = LinearModel(1, (5, -2, 9), 1, -1.0, np.ones((1, 3)))
    assert decide(many, np.array([[0.0, 2.0, 1.0], [1.0, 1.0, 0.0]])).tolist() == [-2, 5]
    assert decide(LinearModel(11, None, 1, -1.0, np.ones((1, 1))), np.array([[0.25]])).tolist() == [0.25]
    one_class = LinearModel(21, None, 1, -1.0, np.ones((1, 1)), rho=0.0)
    assert decide(one_class, np.array([[0.1], [-0.1]])).tolist() == [1, -1]


def test_probabilities():
    two = LinearModel(0, (7, 3), 1, -1.0, np.ones((1, 1)))
    p = probabilities(two, np.array([[0.0], [np.log(3.0)], [-1e9]]))
    np.testing.assert_allclose(p, [[0.5, 0.5], [0.75, 0.25], [0.0, 1.0]])
    many = LinearModel(0, (5, -2, 9), 1, -1.0, np.ones((1, 3)))
    np.testing.assert_allclose(probabilities(many, np.array([[0.0, 0.0, np.log(3.0)]])), [[2 / 7, 2 / 7, 3 / 7]])
    assert probabilities(many, np.array([[1.0, 2.0, 3.0]])).sum() == pytest.approx(1.0)
