"""scikit-learn's own checks of estimators that take arrays of other libraries."""

import pytest
import sklearn

from hingeline import LinearSVC, LinearSVCCV, LinearSVR, LinearSVRCV, LogisticRegression, LogisticRegressionCV

torch = pytest.importorskip("torch", reason="needs PyTorch")
pytest.importorskip("array_api_compat")
pytest.importorskip("array_api_strict")
checks = pytest.importorskip("sklearn.utils.estimator_checks")
if not hasattr(checks, "check_array_api_same_namespace"):
    pytest.skip("needs scikit-learn 1.9", allow_module_level=True)
torch.set_num_threads(1)

PLACES = [("torch", "cpu", "float32"), ("array_api_strict", "CPU_DEVICE", "float64")]
PLACES += [
    ("array_api_strict", "device1", "float32"),
    pytest.param(("torch", "cuda", "float64"), marks=pytest.mark.gpu),
]
ESTIMATORS = [
    LinearSVC(),
    LinearSVC(loss="hinge"),
    LogisticRegression(),
    LinearSVR(),
    LinearSVCCV(Cs=2, cv=2),
    LogisticRegressionCV(Cs=2, cv=2),
    LinearSVRCV(Cs=2, cv=2),
]


def checked(estimator):
    """Return the estimator without ``history_``: a record array, which only NumPy has."""

    class Checked(type(estimator)):
        _get_param_names = type(estimator)._get_param_names

        def fit(self, X, y, sample_weight=None):
            super().fit(X, y, sample_weight)
            del self.history_
            return self

    return Checked(**estimator.get_params())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("place", PLACES, ids=str)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_results_are_like_those_of_numpy(monkeypatch, estimator, place):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    library, device, dtype = place
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    how = {"array_namespace": library, "device_name": device, "dtype_name": dtype, "check_sample_weight": True}
    checks.check_array_api_input(type(estimator).__name__, checked(estimator), **how)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_a_model_wants_rows_where_it_lives(monkeypatch, estimator):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    estimator = sklearn.clone(estimator)
    checks.check_array_api_same_namespace(type(estimator).__name__, estimator, array_namespace="array_api_strict")
