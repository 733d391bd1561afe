"""A fit that died continues from where it was saved, and only the same fit does."""

import pickle
import warnings

import numpy as np
import pytest
from problems import classification, csr, regression
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hingeline import Checkpoint, LinearSVC, LinearSVCCV, LinearSVR, LogisticRegression, OneClassSVM
from hingeline.estimators.checkpoint import HOW, fingerprint
from hingeline.io.models.native_file import read_native

X3, Y3 = classification(60, 5, seed=3, n_classes=3)
X, Y = classification(70, 6, seed=71)
TARGETS = regression(60, 5, seed=3)[1]


class Died(Exception):
    """In the place of SIGKILL."""


class DiesAfter:
    """Ends a fit after so many sweeps of all problems."""

    def __init__(self, sweeps):
        self.left = sweeps

    def __call__(self, progress):
        self.left -= 1
        if self.left == 0:
            raise Died


SLOW = [
    LinearSVC(solver="avsf", tol=1e-4),
    LinearSVC(loss="hinge", solver="hybrid", tol=1e-3),
    LinearSVC(loss="hinge", solver="newton", tol=1e-9),
    LinearSVC(multi_class="crammer_singer", solver="hybrid", tol=1e-3),
    LinearSVC(multi_class="crammer_singer", tol=1e-6),
    LinearSVC(penalty="l1", tol=1e-9),
    LogisticRegression(solver="hybrid", tol=1e-5),
    LogisticRegression(penalty="elasticnet", l1_ratio=0.5, tol=1e-9),
    LinearSVR(solver="hybrid", epsilon=0.1, tol=1e-3),
    OneClassSVM(solver="avsf", tol=1e-4),
]


@pytest.mark.parametrize("estimator", SLOW, ids=str)
def test_it_goes_on_where_it_died(estimator, tmp_path):
    y = TARGETS if isinstance(estimator, LinearSVR) else Y3
    rows = abs(X3) if isinstance(estimator, OneClassSVM) else X3
    alone = clone(estimator).set_params(random_state=0).fit(rows, y)
    model = clone(estimator).set_params(random_state=0)
    total, died = alone.per_class_["n_iter"].sum(), 0
    for _ in range(3):
        dying = DiesAfter(max(2, total // 4))
        try:
            model.set_callbacks(Checkpoint(tmp_path / "file", every=0.0), dying).fit(rows, y)
        except Died:
            died += 1
    assert died
    model.set_callbacks(Checkpoint(tmp_path / "file", every=0.0)).fit(rows, y)
    assert model.converged_
    np.testing.assert_allclose(model.per_class_["objective"], alone.per_class_["objective"], rtol=1e-3)
    assert model.per_class_["n_iter"].sum() <= max(0.9 * total, total - 2)  # what was done need not be done again


def test_a_file_of_all_classes(tmp_path):
    """Classes that are done are in it, on any number of threads."""
    model = LinearSVC(solver="avsf", tol=1e-6, random_state=0, n_jobs=2)
    with pytest.raises(Died):
        model.set_callbacks(Checkpoint(tmp_path / "file", every=0.0), DiesAfter(300)).fit(X3, Y3)
    reached = read_native(tmp_path / "file")["reached"]
    assert {part.shape for part in reached.values()} == {(60,)}
    assert len(reached) >= 2
    model.set_callbacks(Checkpoint(tmp_path / "file")).fit(X3, Y3)
    assert sorted(read_native(tmp_path / "file")["reached"]) == [0, 1, 2]


def test_saving_changes_nothing(tmp_path):
    alone = LinearSVC(solver="hybrid", random_state=0).fit(X3, Y3)
    saved = LinearSVC(solver="hybrid", random_state=0).set_callbacks(Checkpoint(tmp_path / "file", every=0.0))
    np.testing.assert_array_equal(saved.fit(X3, Y3).coef_, alone.coef_)
    np.testing.assert_array_equal(saved.dual_coef_, alone.dual_coef_)


def test_nothing_is_written_before_it_is_time(tmp_path):
    model = LinearSVC(solver="avsf", tol=1e-6).set_callbacks(Checkpoint(tmp_path / "file"), DiesAfter(50))
    with pytest.raises(Died):
        model.fit(X, Y)
    assert not list(tmp_path.iterdir())


def test_what_a_cap_has_ended_goes_on(tmp_path):
    model = LinearSVC(solver="avsf", tol=1e-9, max_iter=30, random_state=0)
    model.set_callbacks(Checkpoint(tmp_path / "file"))
    duals = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(3):
            duals.append(model.fit(X, Y).dual_objective_)
    assert duals[0] < duals[1] < duals[2]
    assert read_native(tmp_path / "file")["finished"] is False


def test_a_finished_fit_is_kept_until_another_problem_replaces_it(tmp_path):
    path = tmp_path / "file"
    first = LinearSVC(solver="avsf", tol=1e-5).set_callbacks(Checkpoint(path)).fit(X, Y)
    again = clone(first).set_params(tol=1e-4, solver="hybrid", max_time=1e3).fit(X, Y)
    assert again.n_iter_ <= 2 < first.n_iter_
    other = clone(first).set_params(C=2.0).fit(X, Y)
    np.testing.assert_allclose(other.objective_, LinearSVC(C=2.0).fit(X, Y).objective_, rtol=1e-4)
    assert read_native(path)["problem"]["C"] == 2.0


def test_the_file_of_another_fit_that_died_is_refused(tmp_path):
    path = tmp_path / "file"
    model = LinearSVC(solver="avsf", tol=1e-6).set_callbacks(Checkpoint(path, every=0.0), DiesAfter(5))
    with pytest.raises(Died):
        model.fit(X, Y)
    before = path.read_bytes()
    for other, rows, y, differs in (
        (LinearSVC(C=2.0), X, Y, "C"),
        (LinearSVC(fit_intercept=False), X, Y, "fit_intercept"),
        (LinearSVC(class_weight={Y[0]: 3.0}), X, Y, "class_weight"),
        (LinearSVC(), X + 1.0, Y, "data"),
        (LinearSVC(), X, Y[::-1], "data"),
        (LinearSVC(), csr(X), Y, "data"),
        (LinearSVC(), X[1:], Y[1:], "rows, data"),
        (LogisticRegression(), X, Y, "estimator"),
    ):
        with pytest.raises(ValueError, match=rf"another problem \(differs in {differs}"):
            other.set_callbacks(Checkpoint(path)).fit(rows, y)
    assert path.read_bytes() == before


def test_sample_weights_are_part_of_the_problem():
    estimator, weights = LinearSVC(), np.ones(len(Y))
    own = fingerprint(estimator, estimator._read(X, Y, weights))
    weights[3] = 2.0
    assert fingerprint(estimator, estimator._read(X, Y, weights)) != own


@pytest.mark.parametrize("estimator", [LinearSVC(), LinearSVR(), LogisticRegression(), OneClassSVM()])
def test_every_parameter_belongs_to_the_problem_or_to_how_it_is_solved(estimator):
    assert set(estimator.get_params()) - HOW <= {
        "C",
        "class_weight",
        "epsilon",
        "fit_intercept",
        "intercept_scaling",
        "l1_ratio",
        "loss",
        "multi_class",
        "nu",
        "penalty",
        "quantile",
    }


def test_a_damaged_file(tmp_path):
    path = tmp_path / "file"
    model = LinearSVC().set_callbacks(Checkpoint(path)).fit(X, Y)
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[: len(whole) // 2], b"hello", b"", whole[:-4] + b"oops"):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="file"):
            model.fit(X, Y)


def test_in_a_pipeline_a_clone_and_a_pickle(tmp_path):
    model = LinearSVC().set_callbacks(Checkpoint(tmp_path / "file", every=1.0))
    make_pipeline(StandardScaler(), model).fit(X, Y)
    assert (tmp_path / "file").exists()
    callbacks = pickle.loads(pickle.dumps(clone(model)))._skl_callbacks
    assert [repr(callback) for callback in callbacks] == [repr(Checkpoint(tmp_path / "file", every=1.0))]


def test_what_is_refused(tmp_path):
    for every in (-1.0, np.nan, np.inf, "often"):
        with pytest.raises(ValueError, match="every must be"):
            Checkpoint("file", every=every)
    search = LinearSVCCV(Cs=[1.0]).set_callbacks(Checkpoint(tmp_path / "file"))
    with pytest.raises(ValueError, match="hingeline search"):
        search.fit(X, Y)


def test_scikit_learns_estimators_do_not_ignore_it(tmp_path):
    pytest.importorskip("sklearn.callback")
    pipeline = make_pipeline(StandardScaler(), LinearSVC()).set_callbacks(Checkpoint(tmp_path / "file"))
    with pytest.raises(TypeError, match="Pipeline saves no checkpoints"):
        pipeline.fit(X, Y)


def test_a_place_that_cannot_be_written_is_told_before_training(tmp_path):
    for path, error in ((tmp_path / "no" / "file", "create it first"), (tmp_path, "is a folder")):
        with pytest.raises(OSError, match=error):
            LinearSVC().set_callbacks(Checkpoint(path), DiesAfter(1)).fit(X, Y)
