"""Who is told of a fit, what they see, and what they can do to it."""

import pickle
import subprocess
import sys
import warnings
from threading import Lock

import numpy as np
import pytest
from problems import classification, regression
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hingeline import LinearSVC, LinearSVR, LogisticRegression, OneClassSVM, Progress
from hingeline.estimators import watch
from hingeline.estimators.callbacks import EachSweep

X, Y = classification(70, 6, seed=71)
X3, Y3 = classification(60, 5, seed=3, n_classes=3)


class Listener:
    """Keeps what it is told, and ends training after some sweeps."""

    def __init__(self, last=None):
        self.seen, self.last = [], last

    def __call__(self, progress):
        self.seen.append(progress)
        return progress.n_iter == self.last


def test_a_callable_sees_every_sweep_of_every_class():
    listener = Listener()
    model = LinearSVC(solver="hybrid", random_state=0).set_callbacks(listener).fit(X3, Y3)
    assert all(isinstance(progress, Progress) for progress in listener.seen)
    for k in range(3):
        of_class = [p for p in listener.seen if p.problem == k]
        assert [p.n_iter for p in of_class] == list(range(1, model.per_class_["n_iter"][k] + 1))
        np.testing.assert_array_equal(
            [p.violation for p in of_class], model.history_["violation"][model.history_["problem"] == k]
        )


def test_watching_changes_nothing():
    alone = LinearSVC(solver="avsf", random_state=0).fit(X3, Y3)
    watched = LinearSVC(solver="avsf", random_state=0).set_callbacks(Listener()).fit(X3, Y3)
    np.testing.assert_array_equal(alone.coef_, watched.coef_)


@pytest.mark.parametrize(
    "estimator",
    [
        LinearSVC(solver="avsf", tol=1e-9),
        LinearSVC(solver="newton", tol=1e-12, loss="hinge"),
        LinearSVC(multi_class="crammer_singer", solver="hybrid", tol=1e-12),
        LinearSVC(penalty="l1", tol=1e-12),
        LogisticRegression(solver="newton_cg", tol=1e-12),
        LinearSVR(solver="hybrid", tol=1e-9),
        OneClassSVM(tol=1e-12, solver="hybrid"),
    ],
)
def test_a_true_answer_ends_training_with_a_usable_model_and_no_warning(estimator):
    y = regression(60, 5, seed=3)[1] if isinstance(estimator, LinearSVR) else Y3
    model = clone(estimator).set_callbacks(Listener(last=2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X3, y)
    assert set(model.per_class_["stop_reason"]) == {model.stop_reason_} == {"callback"}
    assert set(model.per_class_["n_iter"]) == {model.n_iter_} == {2}
    assert not model.per_class_["converged"].any()
    assert np.isfinite(model.predict(X3)).all()
    assert (model.per_class_["duality_gap"] > 0.0).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_one_that_raises_leaves_the_estimator_as_it_was(n_jobs):
    def raises(progress):
        if progress.n_iter == 2:
            raise ZeroDivisionError("mine")

    model = LinearSVC(solver="avsf", n_jobs=n_jobs).fit(X3, Y3)
    before = dict(vars(model))
    model.set_callbacks(raises)
    with pytest.raises(ZeroDivisionError, match="mine"):
        model.fit(X3 + 1.0, Y3)
    after = {name: value for name, value in vars(model).items() if name != "_skl_callbacks"}
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)
    model.set_callbacks().fit(X3 + 1.0, Y3)


def test_one_at_a_time_whatever_n_jobs():
    lock = Lock()

    def callback(progress):
        assert lock.acquire(blocking=False)
        lock.release()

    LinearSVC(solver="avsf", tol=1e-6, n_jobs=3).set_callbacks(callback).fit(X3, Y3)


def test_set_callbacks_replaces_hands_on_and_forgets():
    first, second = Listener(), Listener()
    model = LinearSVC().set_callbacks(first).set_callbacks(second)
    clone(model).fit(X, Y)
    assert second.seen
    assert not first.seen
    assert not hasattr(model.set_callbacks(), "_skl_callbacks")
    for wrong in (1, LinearSVC):
        with pytest.raises(TypeError, match="allbacks must be"):
            model.set_callbacks(wrong)


def test_a_callable_reaches_the_fits_of_a_search():
    listener = Listener()
    GridSearchCV(LinearSVC().set_callbacks(listener), {"C": [0.1, 1.0]}, cv=2).fit(X, Y)
    assert sum(p.n_iter == 1 for p in listener.seen) == 5


def test_models_with_callbacks_can_be_pickled():
    model = LinearSVC().set_callbacks(print_nothing).fit(X, Y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).coef_, model.coef_)


def print_nothing(progress):
    pass


def test_what_is_seen_with_look_is_the_model_so_far():
    snapshots = []
    model = LinearSVC(solver="hybrid").set_callbacks(lambda p: snapshots.append(p.look()) or p.n_iter == 3).fit(X, Y)
    np.testing.assert_allclose(model.coef_[0], snapshots[-1].w, rtol=1e-9)
    np.testing.assert_allclose(model.intercept_[0], snapshots[-1].intercept, rtol=1e-9)
    np.testing.assert_array_equal(np.abs(model.dual_coef_), snapshots[-1].alpha)


BEFORE_1_9 = """
import sys
import numpy as np
import sklearn.linear_model, sklearn.svm
from sklearn.base import clone

known = sys.modules.pop("sklearn.callback", None)
sys.modules["sklearn.callback"] = None  # cannot be imported
from hingeline import Checkpoint, LinearSVC
del sys.modules["sklearn.callback"]
if known is not None:
    sys.modules["sklearn.callback"] = known

X, y = np.eye(4), [0, 1, 0, 1]
seen = []
model = LinearSVC(solver="avsf").set_callbacks(lambda progress: seen.append(progress.n_iter) or len(seen) == 2)
clone(model).fit(X, y)
assert seen == [1, 2], seen
model.fit(X, y)
assert len(seen) > 2
assert not hasattr(model.set_callbacks(), "_skl_callbacks")
saved = LinearSVC(solver="avsf").set_callbacks(Checkpoint(sys.argv[1]))
assert clone(saved).fit(X, y).n_iter_ > 1
assert saved.fit(X, y).n_iter_ == 1
try:
    model.set_callbacks(object())
except TypeError as error:
    print(error)
"""


def test_callables_before_scikit_learn_1_9(tmp_path):
    done = subprocess.run([sys.executable, "-c", BEFORE_1_9, tmp_path / "state"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "need scikit-learn 1.9" in done.stdout


class TestScikitLearn:
    """Its own callbacks, from version 1.9 on."""

    @pytest.fixture(autouse=True)
    def _callback(self):
        self.callback = pytest.importorskip("sklearn.callback")

    def log_of(self, model, X, y, scoring="accuracy", **kwargs):
        monitor = self.callback.ScoringMonitor(scoring=scoring)
        model.set_callbacks(monitor).fit(X, y, **kwargs)
        return monitor.get_logs().data

    def test_a_plain_callable_follows_the_protocol(self):
        assert isinstance(EachSweep(print), self.callback.FitCallback)

    def test_the_progress_bar(self, capsys):
        pytest.importorskip("rich")
        LinearSVC(n_jobs=2).set_callbacks(self.callback.ProgressBar()).fit(X3, Y3)
        shown = capsys.readouterr().out
        for text in ("LinearSVC - fit", "class 0 #0", "class 1 #1", "class 2 #2", "100%"):
            assert text in shown

    def test_it_reaches_through_a_pipeline(self, capsys):
        pytest.importorskip("rich")
        pipeline = make_pipeline(StandardScaler(), LinearSVC(max_iter=1000, solver="avsf", tol=1e-2))
        pipeline.set_callbacks(self.callback.ProgressBar(max_propagation_depth=None)).fit(X, Y)
        assert "LinearSVC - fit" in capsys.readouterr().out

    def test_a_score_for_each_sweep_and_for_the_fit(self):
        model = LinearSVC(solver="hybrid", random_state=0)
        log = self.log_of(model, X, Y, sample_weight=np.ones(Y.size))
        sweeps = [row for row in log if row["task_name"] == "sweep"]
        assert [row["task_id"] for row in sweeps] == list(range(model.n_iter_))
        (fit,) = (row for row in log if row["task_name"] == "fit")
        assert sweeps[-1]["accuracy"] == fit["accuracy"] == model.score(X, Y)

    def test_a_score_for_each_sweep_of_each_class(self):
        model = LinearSVC(solver="avsf", tol=1e-2, random_state=0)
        log = self.log_of(model, X3, Y3)
        for k in range(3):
            assert sum(row["parent_task_id_path"] == (0, k) for row in log) == model.per_class_["n_iter"][k]
        assert log[-1]["accuracy"] == model.score(X3, Y3)

    @pytest.mark.parametrize(
        "model",
        [
            LinearSVC(multi_class="crammer_singer"),
            LinearSVC(penalty="l1"),
            LogisticRegression(solver="newton_cg"),
            LinearSVC(fit_intercept="free"),
            LinearSVC(solver="newton"),
        ],
    )
    def test_every_engine_shows_its_model(self, model):
        log = self.log_of(clone(model), X3, Y3)
        assert log[-1]["accuracy"] == pytest.approx(model.fit(X3, Y3).score(X3, Y3))

    def test_models_of_the_other_estimators(self):
        y = regression(60, 5, seed=3)[1]
        log = self.log_of(LinearSVR(), X3, y, scoring="r2")
        assert log[-1]["r2"] == pytest.approx(LinearSVR().fit(X3, y).score(X3, y))
        log = self.log_of(OneClassSVM(), X3, Y3, scoring=lambda model, X, y: {"s": model.decision_function(X).sum()})
        assert log[-1]["s"] == pytest.approx(OneClassSVM().fit(X3).decision_function(X3).sum(), abs=1e-6)

    def test_one_that_asks_to_stop_or_raises(self):
        class Impatient(EachSweep):
            def on_fit_task_end(self, estimator, context):
                if context.task_name == "sweep" and context.task_id == 2:
                    return self.function()

        class Protocol:
            """The same, but none of ours."""

            def __init__(self, answer):
                for name in ("setup", "teardown", "on_fit_task_begin", "on_fit_task_end"):
                    setattr(self, name, getattr(Impatient(answer), name))

        model = LinearSVC(solver="avsf", tol=1e-9).set_callbacks(Protocol(lambda: True)).fit(X, Y)
        assert (model.stop_reason_, model.n_iter_) == ("callback", 3)
        model = LinearSVC(solver="avsf", tol=1e-9).set_callbacks(Protocol(lambda: 1 / 0))
        with pytest.raises(ZeroDivisionError):
            model.fit(X, Y)
        assert set(vars(model)) == {*model.get_params(), "_skl_callbacks"}

    def test_begun_tasks_are_ended_and_long_fits_make_few(self, monkeypatch):
        monkeypatch.setattr(watch, "EACH", 10)
        monkeypatch.setattr(watch, "GROWTH", 1.5)
        events = []

        class Counts(EachSweep):
            def on_fit_task_begin(self, estimator, context):
                events.append((context.task_name, "begin"))

            def on_fit_task_end(self, estimator, context):
                events.append((context.task_name, "end"))

        class Protocol:
            def __init__(self):
                for name in ("setup", "teardown", "on_fit_task_begin", "on_fit_task_end"):
                    setattr(self, name, getattr(Counts(None), name))

        model = LinearSVC(solver="avsf", tol=1e-9, random_state=0).set_callbacks(Protocol()).fit(X, Y)
        assert model.n_iter_ > 100
        for name in ("fit", "sweep"):
            assert events.count((name, "begin")) == events.count((name, "end"))
        assert 10 < events.count(("sweep", "end")) < 10 + np.log(model.n_iter_ / 10) / np.log(1.5) + 3
        assert events[0] == ("fit", "begin")
        assert events[-1] == ("fit", "end")
