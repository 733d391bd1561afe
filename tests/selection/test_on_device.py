"""Searches for C with rows on a device find what they find on the CPU. Without a GPU, PyTorch's "cpu" is the device."""

import numpy as np
import pytest
import sklearn
from fault_rows import row
from problems import classification, csr, regression
from sklearn.exceptions import ConvergenceWarning

from hingeline import LinearSVC, LinearSVCCV, LinearSVRCV, LogisticRegressionCV

torch = pytest.importorskip("torch", reason="needs PyTorch")
pytest.importorskip("array_api_compat")
torch.set_num_threads(1)  # problems are small, and cores may be busy

CS = [0.01, 1.0, 100.0]
BINARY, THREE = (classification(120, 5, seed=1, n_classes=n) for n in (2, 3))
WEIGHTS = np.random.default_rng(0).integers(0, 3, 120).astype(float)


def back(array):
    return array.cpu().numpy()


SEARCHES = [
    (LinearSVCCV(), BINARY),
    (LinearSVCCV(class_weight="balanced"), THREE),
    (LinearSVCCV(loss="hinge"), BINARY),
    (LinearSVCCV(loss="hinge", fit_intercept="free", gap_tol=1e-8), THREE),
    (LinearSVCCV(fit_intercept="free", gap_tol=1e-8), BINARY),
    (LinearSVCCV(solver="newton", gap_tol=1e-8), BINARY),
    (LogisticRegressionCV(multi_class="ovr", class_weight="balanced", tol=1e-3), THREE),
    (LinearSVRCV(epsilon=0.1, tol=1e-3), regression(120, 5, seed=3)),
    (LinearSVRCV(epsilon=0.1, fit_intercept="free", gap_tol=1e-6), regression(60, 3, seed=3)),
]


@pytest.mark.parametrize(("search", "data"), SEARCHES, ids=lambda part: str(part) if hasattr(part, "fit") else "")
def test_the_table_and_the_model_are_those_of_the_cpu(dispatch, device, search, data):
    X, y = data
    weights = WEIGHTS[: len(y)]
    search = sklearn.clone(search).set_params(Cs=CS, early_stopping=False)
    here = sklearn.clone(search).fit(X, y, weights)
    there = search.fit(*(torch.asarray(a, device=device) for a in (X, y, weights)))
    np.testing.assert_allclose(back(there.scores_), here.scores_, atol=1e-3)
    np.testing.assert_allclose(back(there.std_errors_), here.std_errors_, atol=1e-3)
    assert there.C_ == here.C_
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-5)
    assert np.all(back(there.fit_gaps_) <= 1e-4)
    Xt = torch.asarray(X, device=device)
    assert there.coef_.device == there.dual_coef_.device == there.predict(Xt).device == Xt.device
    np.testing.assert_allclose(back(there.predict(Xt)), here.predict(X), atol=1e-2)
    assert there.to_model().predict(Xt).device == Xt.device


def test_numpy_in_numpy_out_and_other_scores(device):
    X, y = BINARY
    names = np.where(y > 0, "yes", "no")

    def share_of_yes(estimator, rows, labels):
        assert rows.shape == (24, 5)
        return float(np.mean(estimator.predict(rows) == "yes"))

    for scoring in ("roc_auc", "balanced_accuracy", share_of_yes):
        search = LinearSVCCV(Cs=CS, loss="hinge", scoring=scoring, early_stopping=False)
        here, there = search.fit(X, names), sklearn.clone(search).set_params(device=device).fit(X, names)
        np.testing.assert_allclose(there.scores_, here.scores_, atol=1e-3)
    assert type(there.coef_) is type(there.classes_) is np.ndarray
    sparse = LinearSVCCV(Cs=CS, device=device).fit(csr(X).astype(np.float32), names)
    assert sparse.C_ == LinearSVCCV(Cs=CS).fit(csr(X), names).C_
    assert not hasattr(LinearSVCCV(Cs=CS, refit=False, device=device).fit(X, names), "coef_")


def test_values_of_C_in_chunks_and_an_early_end(dispatch, device, monkeypatch):
    from hingeline.selection import on_device

    X, y = classification(200, 20, seed=5)
    data = [torch.asarray(a, device=device) for a in (X, y)]
    grid = np.logspace(-3, 3, 5)
    whole = LinearSVCCV(Cs=grid).fit(*data)
    monkeypatch.setattr(on_device, "most_together", lambda rows: 10)
    chunked = LinearSVCCV(Cs=grid).fit(*data)
    np.testing.assert_allclose(back(chunked.scores_), back(whole.scores_))
    here = LinearSVCCV(Cs=grid).fit(X, y)
    np.testing.assert_allclose(back(whole.scores_), here.scores_, atol=1e-3)


def test_time_ends_a_search(dispatch):
    X, y = (torch.asarray(a) for a in BINARY)
    with pytest.warns(ConvergenceWarning):
        search = LinearSVCCV(Cs=CS, solver="newton", max_time=1e-6).fit(X, y)
    assert search.coef_.shape == (1, 5)


@row("device-search")
def test_what_a_search_on_a_device_refuses(dispatch):
    X, y = (torch.asarray(a) for a in BINARY)
    with pytest.raises(ValueError, match="function of your own"):
        LinearSVCCV(scoring=lambda estimator, rows, labels: 0.0).fit(X, y)
    with pytest.raises(ValueError, match="one class"):
        LinearSVCCV(cv=[(torch.nonzero(y == y[0])[:, 0].numpy(), np.arange(5))]).fit(X, y)
    with pytest.raises(ValueError, match="ovr"):
        LogisticRegressionCV().fit(X, torch.asarray(THREE[1]))
    assert LinearSVC().fit(X, y).coef_.shape == (1, 5)
