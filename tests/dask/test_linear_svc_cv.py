import dask.array as da
import joblib
import numpy as np
import pytest

import hingeline
import hingeline.dask as on_dask
from hingeline.dask.folds import Fold

rng = np.random.default_rng(3)
X = rng.standard_normal((90, 5))
y = np.digitize(X[:, 0] + 0.8 * rng.standard_normal(90), [-0.6, 0.6])
x = da.from_array(X, chunks=(40, -1))


def test_folds_hold_out_every_row_once_and_keep_the_shares_of_classes():
    folds = [Fold(k, 3, 7) for k in range(3)]
    held_out = np.array([fold.holds_out(1, y) for fold in folds])
    assert (held_out.sum(axis=0) == 1).all()
    np.testing.assert_array_equal(folds[0].weights(1, y), ~held_out[0])
    for label in range(3):
        counts = held_out[:, y == label].sum(axis=1)
        assert counts.max() - counts.min() <= 1
    assert (folds[0].holds_out(2, y) != held_out[0]).any()  # each partition draws its own


def test_a_fold_without_a_class_is_refused(client):
    for only in (0, 1):
        labels = np.full(90, 1 - only)
        labels[5] = only
        with pytest.raises(ValueError, match=r"one class"):
            on_dask.LinearSVCCV(Cs=[1.0], cv=3, random_state=0).fit(x, labels)


@pytest.mark.parametrize("labels", [y, y > 1], ids=["three classes", "two classes"])
def test_scores_are_those_of_models_without_the_fold(client, labels):
    weights = rng.uniform(0.5, 2.0, 90)
    Cs = [0.01, 1.0, 100.0]
    model = on_dask.LinearSVCCV(Cs=Cs, cv=3, random_state=0, gap_tol=1e-7, class_weight="balanced")
    model.set_params(early_stopping=False).fit(x, labels, weights)
    assert model.scores_.shape == (3, 3)
    seed = int(np.random.RandomState(0).randint(2**31 - 1))
    fold = Fold(1, 3, seed)
    parts = np.split(np.arange(90), [40, 80])
    held_out = np.concatenate([fold.holds_out(k, labels[part]) for k, part in enumerate(parts)])
    alone = hingeline.LinearSVC(C=1.0, gap_tol=1e-7, class_weight="balanced")
    alone.fit(X[~held_out], labels[~held_out], weights[~held_out])
    assert model.scores_[1, 1] == pytest.approx(
        alone.score(X[held_out], labels[held_out], weights[held_out]), abs=0.04
    )  # a row on the border may fall on either side
    best = hingeline.LinearSVC(C=model.C_, gap_tol=1e-7, class_weight="balanced").fit(X, labels, weights)
    assert model.objective_ == pytest.approx(best.objective_, rel=1e-6)
    assert model.C_ in Cs
    assert model.best_score_ == model.mean_scores_.max()
    local = model.to_local()
    assert type(local) is hingeline.LinearSVCCV
    np.testing.assert_array_equal(local.predict(X), model.predict(x).compute())
    assert type(model.to_model()) is on_dask.LinearSVC


def test_without_a_refit_there_are_scores_alone(client):
    model = on_dask.LinearSVCCV(Cs=2, cv=2, refit=False, solver="newton").fit(x, y)
    assert np.isfinite(model.scores_).all()
    assert not hasattr(model, "coef_")


def test_folds_and_scores_of_one_machine_are_refused(client):
    with pytest.raises(ValueError, match="cv"):
        on_dask.LinearSVCCV(cv=[]).fit(x, y)
    with pytest.raises(ValueError, match="scoring"):
        on_dask.LinearSVCCV(scoring="f1").fit(x, y)


def test_the_search_of_one_machine_under_the_dask_backend_of_joblib(client):
    model = hingeline.LinearSVCCV(Cs=3, cv=3, random_state=0, gap_tol=1e-6)
    done_before = done_by_workers(client)
    with joblib.parallel_config("dask"):
        scores = model.fit(X, y).scores_
    fits = {key for key in done_by_workers(client) - done_before if key.startswith("hingeline-fit")}
    assert len(fits) >= np.isfinite(scores).sum()  # the cluster has done them
    np.testing.assert_array_equal(scores, model.fit(X, y).scores_)


def done_by_workers(client):
    """Return the keys of the tasks that workers have done, as far as they remember."""
    logs = client.run(lambda dask_worker: [story[0] for story in dask_worker.state.log if "memory" in story])
    return {key for log in logs.values() for key in log if isinstance(key, str)}
