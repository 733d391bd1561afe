"""The table of all problems, and what an estimator says of them together."""

import numpy as np
import pytest

from hingeline import LinearSVC, OneClassSVM
from hingeline.estimators.per_class import MOST_ROWS, PerClass, overall

TABLE = {
    "label": ["red", "green", "blue"],
    "converged": [True, False, True],
    "stop_reason": ["tol", "max_iter", "rounding"],
    "n_iter": [3, 5, 7],
    "n_steps": [30, 50, 70],
    "fit_time": [0.1, 0.2, 0.3],
    "solver": ["avsf", "hybrid", "newton"],
    "kkt_violation": [1e-3, 1e-1, 0.2],
    "duality_gap": [1e-4, 1e-3, 0.5],
    "objective": [1.0, 2.0, 4.0],
    "dual_objective": [0.5, 1.5, 2.0],
}


def test_an_estimator_says_one_thing_of_all_classes():
    found = overall(PerClass(TABLE))
    del found["per_class_"]
    assert found == {
        "n_iter_": 7,
        "n_steps_": 150,
        "fit_time_": pytest.approx(0.6),
        "solver_": "hybrid",  # that of the class that has not converged, though another has a larger gap
        "converged_": False,
        "stop_reason_": "max_iter",
        "kkt_violation_": 0.2,
        "objective_": 7.0,
        "dual_objective_": 4.0,
        "duality_gap_": 0.5,
    }


def test_of_classes_that_have_converged_the_largest_gap_is_worst():
    found = overall(PerClass({**TABLE, "converged": [True] * 3}))
    assert (found["converged_"], found["solver_"], found["stop_reason_"]) == (True, "newton", "rounding")
    unknown = overall(PerClass({**TABLE, "converged": [True] * 3, "duality_gap": [np.nan, 0.1, 0.2]}))
    assert unknown["solver_"] == "avsf"


def test_the_table_can_be_read():
    table = PerClass(TABLE)
    lines = repr(table).splitlines()
    assert len(lines) == 4
    assert " ".join(lines[0].split()) == "objective relative gap converged ended by iterations seconds engine"
    assert lines[2].split() == ["green", "2", "0.001", "no", "max_iter", "5", "0.2", "hybrid"]
    assert len(set(map(len, lines))) == 1
    assert table.rows()[1]["stop_reason"] == "max_iter"
    assert "<td" in table._repr_html_()
    long = PerClass({name: column * 20 for name, column in TABLE.items()})
    assert repr(long).endswith(f"and {60 - MOST_ROWS} more")


def test_tables_are_equal_or_not():
    assert PerClass(TABLE) == PerClass(TABLE)
    assert PerClass(TABLE) != PerClass({**TABLE, "n_iter": [3, 5, 8]})
    assert PerClass(TABLE) != TABLE


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="same length"):
        PerClass({**TABLE, "n_iter": [1]})


def test_pandas_takes_it():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(dict(PerClass(TABLE))).set_index("label")
    assert frame.loc["green", "stop_reason"] == "max_iter"


def test_attributes_have_one_type_whatever_the_problem():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(0, 3, 60)
    models = [
        LinearSVC().fit(X, y == 1),
        LinearSVC().fit(X, y),
        LinearSVC(multi_class="crammer_singer").fit(X, y),
        OneClassSVM().fit(X),
    ]
    for name in (*overall(PerClass(TABLE)), "history_"):
        assert len({type(getattr(model, name)) for model in models}) == 1, name
    assert len({model.history_.dtype for model in models}) == 1
    assert [model.per_class_.n_rows for model in models] == [1, 3, 1, 1]
    if all(model.converged_ for model in models):  # a scalar: ``if`` takes it
        assert models[1].duality_gap_ < 1e-3
