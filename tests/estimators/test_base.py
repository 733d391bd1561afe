"""Scores: whatever the layout, in blocks or in slices, they are X coef' + intercept."""

import gc
import weakref

import numpy as np
import pytest
from problems import classification, every_layout

from hingeline import LinearSVC
from hingeline.data.read import read_matrix
from hingeline.estimators.base import decision_values, support_of

RNG = np.random.default_rng(0)
X = (RNG.normal(size=(3000, 100)) * (RNG.random((3000, 100)) < 0.3)).astype(np.float32)  # more than one block
LAYOUTS = dict(every_layout(X))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_scores(layout, n_outputs):
    coef, intercept = RNG.normal(size=(n_outputs, 100)), RNG.normal(size=n_outputs)
    found = decision_values(read_matrix(LAYOUTS[layout]), coef, intercept)
    np.testing.assert_allclose(found, X.astype(np.float64) @ coef.T + intercept, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_found(layout, value):
    bad = LAYOUTS[layout].copy()
    if "dense" in layout:
        bad[2500, 7] = value
    else:
        bad.data[bad.indptr[2500]] = value
    with pytest.raises(ValueError, match="row 2500"):
        decision_values(read_matrix(bad), RNG.normal(size=(1, 100)), np.zeros(1))


@pytest.mark.parametrize("solver", ["avsf", "auto"])
def test_a_model_does_not_hold_on_to_its_data(solver):
    """Nor does a cycle of references, until the next collection."""
    data, y = classification(50, 4, seed=91)
    alive = weakref.ref(data)
    gc.collect()
    gc.disable()
    try:
        model = LinearSVC(solver=solver).fit(data, y)
        model.predict(data)
        del data
        assert alive() is None
    finally:
        gc.enable()


def test_support_of_any_problem():
    dual_coef = np.array([[0.0, 1.0, 0.0, -2.0], [0.0, 0.0, 3.0, 0.0]])
    np.testing.assert_array_equal(support_of(dual_coef), [1, 2, 3])
    np.testing.assert_array_equal(support_of(dual_coef[0]), [1, 3])
