"""How rows come out under a model, counted in blocks."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix
from svmlight_files import make_rows

from hingeline.io.models.liblinear_file import LinearModel
from hingeline.liblinear import outcome as module
from hingeline.liblinear.fit import fit
from hingeline.liblinear.outcome import Pairs, outcome
from hingeline.liblinear.predict import decide, scores
from hingeline.liblinear.settings import Settings


def dense(counts, n):
    found = np.zeros((n, n), dtype=int)
    for truth, predicted, number in counts:
        found[truth, predicted] = number
    return found


@pytest.mark.parametrize("block", [1, 7, 1 << 22])
def test_counts_are_those_of_a_confusion_matrix(block, monkeypatch):
    monkeypatch.setattr(module, "BLOCK", block)
    X, y = make_rows("many")
    model = fit(X, y, Settings(type=3)).model
    found = outcome(model, X, y.astype(float), "some rows")
    predicted = decide(model, scores(model, X))
    assert (found["data"], found["rows"], found["labels"]) == ("some rows", 80, ["-2", "5", "9"])
    np.testing.assert_array_equal(dense(found["counts"], 3), confusion_matrix(y, predicted))
    assert found["figures"] == {"accuracy": np.mean(predicted == y)}


def test_labels_that_abound_are_not_counted():
    pairs = Pairs()
    pairs.add(np.arange(3.0), np.zeros(3))
    pairs.add(np.arange(2000.0), np.zeros(2000))
    assert pairs.counts() == {}


def test_damaged_columns_are_found():
    X, y = make_rows("signs")
    X.indices[5] = 99
    with pytest.raises(ValueError, match="column outside"):
        outcome(LinearModel(1, (1, -1), 12, -1.0, np.ones((12, 1))), X, y, "broken")
