import pickle

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from fault_rows import row
from problems import classification
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import hingeline
import hingeline.dask as on_dask
from hingeline import Hinge, Logistic, SquaredHinge, solve
from hingeline.dask.inputs import partitions_of
from hingeline.dask.target import Binary
from hingeline.dask.train import train
from hingeline.io import load_model, save_model
from hingeline.viz import write_report

rng = np.random.default_rng(1)
X = rng.standard_normal((60, 4))
binary = np.where(X[:, 0] + 0.5 * rng.standard_normal(60) > 0.0, "yes", "no")
three = np.digitize(X[:, 0] + 0.3 * rng.standard_normal(60), [-0.5, 0.5])
targets = X @ [1.0, -2.0, 0.0, 0.5] + 0.1 * rng.standard_normal(60)
weights = rng.uniform(0.0, 2.0, 60)
x = da.from_array(X, chunks=(25, -1))

CASES = {
    "squared hinge": ("LinearSVC", {}, binary, None),
    "hinge": ("LinearSVC", {"loss": "hinge", "C": 10.0, "fit_intercept": "free"}, binary, weights),
    "three classes": ("LinearSVC", {"class_weight": "balanced", "fit_intercept": False}, three, weights),
    "logistic": ("LogisticRegression", {"class_weight": {"yes": 3.0}}, binary, None),
    "logistic, three classes": ("LogisticRegression", {"C": 0.1, "multi_class": "ovr"}, three, None),
    "regression": ("LinearSVR", {"epsilon": 0.1, "intercept_scaling": 2.0}, targets, weights),
    "quantile": ("LinearSVR", {"loss": "pinball", "quantile": 0.9, "C": 0.5}, targets, None),
}


def models_of(case, **more):
    """Return a model of each side, and what they learn from."""
    name, params, y, sample_weight = CASES[case]
    tight = {"gap_tol": 1e-7, **params, **more}
    solver = "auto" if case == "squared hinge" else "newton"  # small problems are trained by one worker, if they may
    return getattr(on_dask, name)(solver=solver, **tight), getattr(hingeline, name)(**tight), y, sample_weight


@pytest.mark.parametrize("case", CASES)
def test_the_optimum_of_one_machine(client, case):
    model, local, y, sample_weight = models_of(case)
    assert model.fit(x, da.from_array(y, chunks=25), sample_weight) is model
    local.fit(X, y, sample_weight)
    assert model.converged_ is True
    assert model.objective_ == pytest.approx(local.objective_, rel=1e-6)
    assert model.objective_ >= model.dual_objective_
    np.testing.assert_allclose(model.coef_, local.coef_, atol=5e-3)
    np.testing.assert_allclose(model.intercept_, local.intercept_, atol=5e-3)
    assert model.coef_.shape == local.coef_.shape
    assert isinstance(model.dual_coef_, da.Array)
    assert model.dual_coef_.shape == local.dual_coef_.shape
    np.testing.assert_allclose(np.atleast_2d(model.dual_coef_.compute()) @ X, np.atleast_2d(model.coef_), atol=1e-2)
    np.testing.assert_array_equal(
        model.support_.compute(), np.flatnonzero(np.atleast_2d(model.dual_coef_.compute()).any(axis=0))
    )
    assert {"seconds", "gap", "computing", "communicating", "bytes"} <= set(model.history_.dtype.names)


@pytest.mark.parametrize("n_parts", [1, 2, 5, 16])
def test_the_optimum_for_any_number_of_partitions(client, n_parts):
    rows = np.array_split(np.arange(60), n_parts)
    placed = partitions_of(client, [dask.delayed(X[r]) for r in rows], [dask.delayed(binary[r]) for r in rows])
    signs = np.where(binary == "yes", 1, -1)
    for loss in (Hinge, SquaredHinge, Logistic):
        for C in (0.01, 1.0, 100.0):
            alone = solve(X, signs, loss(C), gap_tol=1e-7)
            for solver in ("newton", "cocoa") if C == 0.01 else ("newton",):
                found = train(placed, Binary("yes"), loss(C), solver=solver, gap_tol=1e-5)
                assert found.certificate.gap <= 1e-5
                assert found.certificate.primal == pytest.approx(alone.certificate.primal, rel=1.1e-5)


def test_a_worker_with_a_few_rows_gives_none_to_a_sample(client):
    """One row in sixteen is sampled, and the second worker has five."""
    rows, labels = classification(4005, 3, seed=1)
    chunks = da.from_array(rows, chunks=((4000, 5), -1)), da.from_array(labels, chunks=((4000, 5),))
    found = on_dask.LinearSVC(loss="hinge", solver="newton", gap_tol=1e-4).fit(*chunks)
    alone = hingeline.LinearSVC(loss="hinge", gap_tol=1e-4).fit(rows, labels)
    assert found.objective_ == pytest.approx(alone.objective_, rel=2e-4)


def test_workers_forget_what_another_one_has_solved_alone(client):
    def problems_kept(dask_worker):
        return sum(len(host._residents) for host in dask_worker.state.actors.values())

    partitions = partitions_of(client, x, three)  # the workers' actors live as long
    on_dask.LinearSVC(solver="one_worker").fit(partitions).dual_coef_.compute()
    assert list(client.run(problems_kept).values()) == [0, 0]


@pytest.mark.parametrize("case", ["squared hinge", "three classes", "logistic, three classes", "regression"])
def test_predictions_are_lazy_and_the_same(client, case):
    model, _, y, _ = models_of(case)
    model.fit(x, y)
    local = model.to_local()
    frame = dd.from_pandas(pd.DataFrame(X), npartitions=2)
    csr = x.map_blocks(sparse.csr_matrix)
    delayed = [dask.delayed(X[:10]), dask.delayed(X[:0]), dask.delayed(X[10:])]
    for method in ("predict", "decision_function", "predict_proba", "predict_log_proba"):
        assert hasattr(model, method) == hasattr(local, method)
        if not hasattr(model, method):
            continue
        expected = getattr(local, method)(X)
        at_once = getattr(model, method)(X)
        np.testing.assert_array_equal(at_once, expected)
        for collection in (x, csr, frame):
            values = getattr(model, method)(collection)
            assert isinstance(values, da.Array)
            assert values.dtype == expected.dtype
            assert_same(values.compute(), expected)
        listed = dask.compute(*getattr(model, method)(delayed))
        assert np.concatenate(listed).shape == expected.shape
    assert model.predict(x).chunks[0] == x.chunks[0]
    lazy = model.score(x, da.from_array(y, chunks=20), weights)
    assert lazy.compute() == pytest.approx(local.score(X, y, weights))
    assert model.score(X, y, weights) == pytest.approx(local.score(X, y, weights))
    assert model.score(frame, [dask.delayed(y[:30]), dask.delayed(y[30:])]).compute() == pytest.approx(
        local.score(X, y)
    )


def assert_same(found, expected):
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected)  # products of blocks round differently
    else:
        np.testing.assert_array_equal(found, expected)


def test_wrong_columns_are_refused_when_values_are_computed(client):
    model = on_dask.LinearSVC().fit(x, binary)
    with pytest.raises(ValueError, match="2 features"):
        model.predict(da.from_array(X[:, :2])).compute()


def test_a_plain_estimator(client, tmp_path):
    model = on_dask.LinearSVC(solver="newton").fit(x, three)
    local = model.to_local()
    assert type(local) is hingeline.LinearSVC
    assert not hasattr(local, "dual_coef_")
    np.testing.assert_array_equal(local.coef_, model.coef_)
    with pytest.raises(ValueError, match="save what its to_local"):
        save_model(model, tmp_path / "model")
    save_model(local, tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(X), model.predict(X))
    np.testing.assert_array_equal(local.to_sklearn().predict(X), model.predict(X))
    with_dual = model.to_local(dual=True)
    np.testing.assert_array_equal(with_dual.dual_coef_, model.dual_coef_.compute())
    np.testing.assert_array_equal(with_dual.support_, model.support_.compute())


def test_clones_and_copies(client):
    model = on_dask.LinearSVC("l2", "hinge", C=2.0, client=client).fit(x, binary)
    twin = clone(model)
    assert twin.client is client
    assert twin.get_params() == model.get_params()
    assert not hasattr(twin, "coef_")
    copied = pickle.loads(pickle.dumps(model))
    assert copied.client is None
    np.testing.assert_array_equal(copied.predict(X), model.predict(X))
    assert "C=2.0" in repr(model)
    assert "relative gap" in model._repr_html_()


def test_names_of_features(client):
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")).assign(y=binary), npartitions=2)
    model = on_dask.LogisticRegression().fit(frame[list("abcd")], frame["y"])
    assert list(model.feature_names_in_) == list("abcd")
    assert list(model.classes_) == ["no", "yes"]
    assert model.predict_proba(frame[list("abcd")]).compute().shape == (60, 2)


def test_warm_start(client):
    model = on_dask.LinearSVC(warm_start=True, solver="newton", gap_tol=1e-6).fit(x, three)
    before = model.coef_
    rounds = model.n_iter_
    model.fit(x, three)
    assert model.n_iter_ < rounds
    np.testing.assert_allclose(model.coef_, before, atol=1e-2)


def test_a_cap_warns_where_the_fit_was_called(client):
    with pytest.warns(ConvergenceWarning, match="max_iter") as caught:
        on_dask.LinearSVC(loss="hinge", solver="newton", C=100.0, gap_tol=1e-9, max_iter=1).fit(x, binary)
    assert caught[0].filename == __file__


def test_what_is_seen_of_a_fit(client, tmp_path, capsys):
    seen = []
    model = on_dask.LinearSVC(loss="hinge", solver="newton", verbose=1).set_callbacks(seen.append).fit(x, three)
    assert "[LinearSVC]" in capsys.readouterr().out
    assert {progress.problem for progress in seen} == {0, 1, 2}
    assert all(progress.traffic.bytes > 0 for progress in seen)
    for number, fitted in enumerate((model, model.to_local())):
        page = tmp_path / f"{number}.html"
        write_report(fitted, page)
        assert "LinearSVC" in page.read_text(encoding="utf-8")
    on_dask.LinearSVC(keep_dual=False).fit(x, three).to_local(dual=True)


def test_without_a_client_a_cluster_is_started_and_closed():
    model = on_dask.LinearSVC(gap_tol=1e-6).fit(X, binary)
    assert model.objective_ == pytest.approx(hingeline.LinearSVC(gap_tol=1e-6).fit(X, binary).objective_, rel=1e-5)
    assert model.dual_coef_.compute().shape == (60,)


@row("dask-one-machine")
@pytest.mark.parametrize(
    ("model", "message"),
    [
        (on_dask.LinearSVC(penalty="l1"), "penalty='l1' is not available on Dask"),
        (on_dask.LinearSVC(multi_class="crammer_singer"), "multi_class='crammer_singer' is not available on Dask"),
        (on_dask.LinearSVC(n_jobs=2), "n_jobs=2 is not available on Dask"),
        (on_dask.LinearSVC(solver="avsf"), "solver"),
        (on_dask.LinearSVC(C=-1.0), "C"),
        (on_dask.LinearSVC().set_callbacks(hingeline.Checkpoint("file")), "plain callables"),
    ],
)
def test_what_is_for_one_machine_is_refused(client, model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(x, binary)


@pytest.mark.parametrize(
    ("y", "sample_weight", "message"),
    [
        (np.full(60, "no"), None, "y holds 1 class"),
        (targets, None, "Unknown label type: continuous"),
        (np.where(np.arange(60) == 30, np.nan, 1.0), None, r"Partition 1 .*y\[5\] is nan"),
    ],
)
def test_labels_that_make_no_classes(client, y, sample_weight, message):
    with pytest.raises(ValueError, match=message):
        on_dask.LinearSVC().fit(x, y, sample_weight)


@row("dask-labels")
def test_labels_of_different_types(client):
    with pytest.raises(ValueError, match="strings in some partitions and numbers in others"):
        on_dask.LinearSVC().fit([dask.delayed(X), dask.delayed(X)], [dask.delayed(binary), dask.delayed(three)])
