"""Types 4, 5, 6 and 21 against LIBLINEAR itself, if it is installed: the same optimum, ours never worse."""

import numpy as np
import pytest
from other_problems import crammer_singer_primal, one_class_primal, sparse_primal
from problems import classification

from hingeline import LinearSVC, LogisticRegression, OneClassSVM

liblinear = pytest.importorskip("liblinear.liblinearutil")


def weights(X, y, options):
    """Return LIBLINEAR's weights, one row a class in the order of its labels, and its model."""
    model = liblinear.train(liblinear.problem(y, X), liblinear.parameter(f"{options} -e 1e-8 -B -1 -q"))
    n_vectors = model.nr_class if model.param.solver_type == 4 else 1
    W = np.ctypeslib.as_array(model.w, shape=(X.shape[1], n_vectors)).T.copy()
    return W, model


def assert_not_worse(ours, theirs):
    assert ours <= theirs + 1e-9 * abs(theirs)
    assert ours == pytest.approx(theirs, rel=1e-5)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_type_4(n_classes):
    X, y = classification(80, 5, seed=1, n_classes=n_classes)
    codes = np.searchsorted(np.unique(y), y)
    W, model = weights(X, codes.astype(float), "-s 4 -c 0.5")
    theirs = crammer_singer_primal(X, codes, W[np.argsort(model.get_labels())], 0.0, 0.5)
    ours = LinearSVC(multi_class="crammer_singer", C=0.5, tol=1e-8, fit_intercept=False).fit(X, codes)
    assert_not_worse(ours.objective_, theirs)


@pytest.mark.parametrize("code", [5, 6])
def test_types_5_and_6(code):
    X, y = classification(90, 8, seed=2)
    W, model = weights(X, y.astype(float), f"-s {code} -c 0.5")
    name = "squared_hinge" if code == 5 else "logistic"
    theirs = sparse_primal(name, X, y, W[0] * model.get_labels()[0], 0.0, 0.5)
    kind = LinearSVC if code == 5 else LogisticRegression
    ours = kind(penalty="l1", C=0.5, tol=1e-8, fit_intercept=False).fit(X, y)
    assert_not_worse(ours.objective_, theirs)


def test_type_21():
    X = np.random.default_rng(3).normal(size=(70, 4)) + 1.0
    W, model = weights(X, np.ones(70), "-s 21 -n 0.2")
    theirs = one_class_primal(X, W[0], model.rho, 0.2, np.ones(70))
    assert_not_worse(OneClassSVM(nu=0.2, tol=1e-8).fit(X).objective_, theirs)
