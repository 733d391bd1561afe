"""Estimators on arrays of other libraries, with scikit-learn's dispatch, and with ``device``."""

import subprocess
import sys

import numpy as np
import pytest
import sklearn
from fault_rows import row
from problems import classification, regression
from truth import complaints

from hingeline import Checkpoint, LinearSVC, LinearSVR, LogisticRegression

torch = pytest.importorskip("torch", reason="needs PyTorch")
pytest.importorskip("array_api_compat")
torch.set_num_threads(1)  # problems are small, and cores may be busy


def on_cpu(model):
    """Return the model with its arrays in NumPy, as ``truth`` reads it."""
    for name, value in vars(model).items():
        if isinstance(value, torch.Tensor):
            setattr(model, name, value.cpu().numpy())
    return model


MODELS = [
    LinearSVC(loss="hinge", class_weight="balanced"),
    LinearSVC(fit_intercept="free"),
    LinearSVC(C=2.0, class_weight="balanced"),
    LogisticRegression(multi_class="ovr", C=0.5),
    LinearSVR(epsilon=0.1, loss="epsilon_insensitive"),
    LinearSVR(epsilon=0.1, loss="squared_epsilon_insensitive", fit_intercept="free"),
]


def data_for(model, n_classes=2):
    if isinstance(model, LinearSVR):
        return regression(150, 5, seed=3)
    return classification(150, 5, seed=3, n_classes=n_classes)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", MODELS, ids=str)
def test_results_live_where_the_input_lives_and_are_true(dispatch, device, model, n_classes):
    X, y = data_for(model, n_classes)
    weights = np.random.default_rng(0).uniform(0.5, 1.5, len(y))
    here = sklearn.clone(model).fit(X, y, weights)
    there = sklearn.clone(model).fit(*(torch.asarray(a, device=device) for a in (X, y, weights)))
    Xt = torch.asarray(X, device=device)
    for name in ("coef_", "intercept_", "dual_coef_", "support_"):
        assert getattr(there, name).device == Xt.device, name
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-6)
    predicted = there.predict(Xt)
    assert predicted.device == Xt.device
    np.testing.assert_allclose(predicted.cpu().numpy(), here.predict(X), rtol=1e-3, atol=1e-3)
    if hasattr(there, "decision_function"):
        assert there.decision_function(Xt).dtype == torch.float64
        assert there.score(Xt, torch.asarray(y, device=device)) == pytest.approx(here.score(X, y), abs=0.02)
    if hasattr(there, "predict_proba"):
        found = there.predict_proba(Xt)
        np.testing.assert_allclose(found.cpu().numpy(), here.predict_proba(X), atol=1e-3)
    assert not complaints(on_cpu(there), X, y, weights)


def test_device_moves_numpy_once_and_results_are_numpy(device):
    """Without a GPU, PyTorch's "cpu" stands in for "cuda"."""
    X, y = classification(200, 6, seed=1)
    names = np.where(y > 0, "yes", "no")
    model = LinearSVC(loss="hinge", device=device).fit(X.astype(np.float32), names)
    assert all(type(a) is np.ndarray for a in (model.coef_, model.intercept_, model.dual_coef_, model.classes_))
    assert set(model.predict(X)) == {"yes", "no"}
    assert not complaints(model, X.astype(np.float32), names)
    from scipy.sparse import csr_array

    sparse = LinearSVC(loss="hinge", device=device).fit(csr_array(X), names)
    dense = LinearSVC(loss="hinge").fit(X, names)
    assert sparse.objective_ == pytest.approx(dense.objective_, rel=1e-6)


def test_a_warm_start_begins_at_the_last_model(dispatch, device):
    X, y = (torch.asarray(a, device=device) for a in classification(300, 5, seed=2))
    model = LinearSVC(loss="hinge", warm_start=True, gap_tol=1e-6).fit(X, y)
    before = model.n_iter_
    assert model.fit(X, y).n_iter_ < before


@row("device-places")
def test_one_place_for_all(dispatch):
    X, y = classification(60, 4)
    Xt, yt = torch.asarray(X), torch.asarray(y)
    with pytest.raises(ValueError, match="y is in numpy"):
        LinearSVC().fit(Xt, y)
    with pytest.raises(ValueError, match="sample_weight is in numpy"):
        LinearSVC().fit(Xt, yt, np.ones(60))
    with pytest.raises(ValueError, match=r"device='meta', but X"):
        LinearSVC(device="meta").fit(Xt, yt)
    strict = pytest.importorskip("array_api_strict")
    with pytest.raises(ValueError, match="y is in array_api_strict"):
        LinearSVC().fit(Xt, strict.asarray(y))
    model = LinearSVC().fit(Xt, yt)
    with pytest.raises(ValueError, match=r"decision_function\(\) must use the same namespace"):
        model.decision_function(strict.asarray(X))
    with pytest.raises(ValueError, match="features"):
        model.decision_function(Xt[:, :2])


@row("device-cpu-alone")
@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LinearSVC(solver="hybrid"), "one row at a time"),
        (LinearSVC(penalty="l1"), "penalty"),
        (LinearSVC(multi_class="crammer_singer"), "crammer_singer"),
        (LogisticRegression(), "ovr"),
        (LogisticRegression(penalty=None, multi_class="ovr"), "a penalty is needed"),
        (LinearSVC().set_callbacks(Checkpoint("file")), "Checkpoint"),
    ],
    ids=str,
)
def test_what_is_not_trained_on_a_device(dispatch, model, message):
    X, y = classification(60, 4, n_classes=3)
    with pytest.raises(ValueError, match=message):
        model.fit(torch.asarray(X), torch.asarray(y))


@row("device-values")
def test_bad_arrays(dispatch):
    X, y = (torch.asarray(a) for a in classification(60, 4))
    holed = X.clone()
    holed[7, 2] = float("nan")
    for bad_X, bad_y, message in (
        (holed, y, "row 7"),
        (X[:, 0], y, "2D"),
        (X.to(torch.complex128), y, "[Cc]omplex"),
        (X, y[:-1], "inconsistent"),
        (X, torch.ones(60), "classes"),
        (X, torch.full((60,), 0.5), "continuous"),
    ):
        with pytest.raises(ValueError, match=message):
            LinearSVC().fit(bad_X, bad_y)
    with pytest.raises(ValueError, match="negative"):
        LinearSVC().fit(X, y, -torch.ones(60))


@row("device-unknown")
@pytest.mark.parametrize("name", ["cuda:99", "gpu"])
def test_a_device_that_is_not_there(name):
    with pytest.raises(ValueError, match=f"device='{name}'"):
        LinearSVC(device=name).fit(*classification(60, 4))


def test_without_the_setting_arrays_are_read_as_scikit_learn_does():
    X, y = classification(60, 4)
    model = LinearSVC().fit(torch.asarray(X), torch.asarray(y))
    assert type(model.coef_) is np.ndarray
    assert type(model.predict(torch.asarray(X))) is np.ndarray


def test_a_model_of_arrays_says_where_it_lives(dispatch):
    X, y = classification(60, 4)
    model = LinearSVC().fit(torch.asarray(X), torch.asarray(y))
    with pytest.raises(ValueError, match="torch"):
        model.decision_function(X)


def test_nothing_is_imported_unless_it_is_asked_for():
    code = (
        "import sys, numpy as np; from hingeline import LinearSVC\n"
        "X = np.random.default_rng(0).normal(size=(20, 2)); LinearSVC().fit(X, X[:, 0] > 0).predict(X)\n"
        "print([m for m in ('torch', 'cupy', 'triton', 'array_api_compat', 'hingeline.arrays') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
