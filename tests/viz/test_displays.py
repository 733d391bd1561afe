"""What is drawn is what the models hold."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from problems import classification
from runs import make_search

from hingeline import Hinge, LinearSVC, Logistic, SquaredHinge, solve
from hingeline.viz import ConvergenceDisplay, CPathDisplay, FrequencyDisplay, FrequencyRecord, WeightsDisplay
from hingeline.viz.frequency_record import EDGES

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

X, Y = classification(120, 6, seed=5)
X3, Y3 = classification(60, 5, seed=3, n_classes=3)
BINARY = {s: LinearSVC(loss="hinge", solver=s, tol=0.01, random_state=0).fit(X, Y) for s in ("avsf", "hybrid")}
THREE = LinearSVC(solver="hybrid", tol=0.1, random_state=0).fit(X3, Y3)


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    pyplot.close("all")


def lines_of(ax):
    return {line.get_label(): line for line in ax.get_lines()}


class TestConvergence:
    @pytest.mark.parametrize("x", ["seconds", "steps", "sweeps"])
    def test_lines_are_the_histories(self, x):
        display = ConvergenceDisplay.from_estimators(BINARY, x=x, y=("objective", "gap", "violation"))
        assert display.ax_ is display.axes_[0]
        assert display.figure_ is display.ax_.figure
        of_objective, of_gap, of_violation = map(lines_of, display.axes_)
        for name, model in BINARY.items():
            history = model.history_
            at = np.arange(1, history.size + 1) if x == "sweeps" else history[x]
            estimate = (history["objective"] - history["lower_bound"]) / history["objective"]
            gap = np.where(np.isnan(history["gap"]), estimate, history["gap"])
            for line, values in (
                (of_objective[name], history["objective"]),
                (of_objective[f"_lower bound of {name}"], history["lower_bound"]),
                (of_gap[name], gap),
                (of_violation[name], history["violation"]),
            ):
                np.testing.assert_array_equal(line.get_xdata(), at)
                np.testing.assert_allclose(line.get_ydata(), values)
        assert of_violation["_tol"].get_ydata()[0] == 0.01
        assert len({line.get_color() for line in display.axes_[2].get_lines()}) == 3

    @pytest.mark.parametrize("solver", ["auto", "baseline", "avsf", "hybrid", "newton"])
    @pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
    def test_by_default_no_panel_is_empty(self, loss, solver):
        """Two curves that meet, and a gap that falls by orders of magnitude."""
        model = LinearSVC(loss=loss, solver=solver, random_state=0).fit(X, Y)
        for x in ("seconds", "steps", "sweeps"):
            display = ConvergenceDisplay.from_estimator(model, x=x)
            upper, lower, *_ = (line.get_ydata() for line in display.axes_[0].get_lines())
            assert min(upper.size, lower.size) >= 2
            assert upper[-1] - lower[-1] < 0.01 * upper[-1]
            gap = lines_of(display.axes_[1])[model.solver_].get_ydata()
            assert gap.size >= 2
            assert gap[-1] < 0.01 * gap[0]

    def test_a_change_of_engine_is_marked(self):
        s = solve(X, Y, SquaredHinge(C=100.0), solver="hybrid", tol=1e-8, random_state=0)
        assert s.solver == "hybrid+newton"
        display = ConvergenceDisplay.from_solutions({"mine": s}, x="sweeps")
        first = s.history["sweep"][s.history["phase"] == 1][0]
        for ax in display.axes_:
            assert first - 1 < lines_of(ax)["_phase"].get_xdata()[0] < first
            assert "newton" in [text.get_text() for text in ax.texts]

    def test_fits_without_steps_have_no_entry(self):
        fits = {**BINARY, "newton": LinearSVC(loss="hinge", solver="newton").fit(X, Y)}
        display = ConvergenceDisplay.from_estimators(fits, x="steps")
        for ax in display.axes_:
            assert "newton" not in lines_of(ax)
        assert [text.get_text() for text in display.axes_[1].get_legend().get_texts()] == list(BINARY)
        display = ConvergenceDisplay.from_estimator(fits["newton"], x="steps")
        assert display.ax_.get_xlabel() == "iterations (sweeps)"

    def test_without_bounds_the_violation_is_drawn(self):
        history = BINARY["avsf"].history_.copy()
        history["objective"][:-1] = history["lower_bound"][:-1] = np.nan
        display = ConvergenceDisplay(histories={"avsf": history}).plot()
        assert [ax.get_ylabel() for ax in display.axes_] == ["violation", "relative duality gap"]

    def test_histories_of_earlier_versions(self):
        history = BINARY["avsf"].history_[["sweep", "seconds", "steps", "violation", "gap"]]
        display = ConvergenceDisplay(histories={"old": history}).plot()
        np.testing.assert_array_equal(lines_of(display.ax_)["old"].get_ydata(), history["violation"])

    def test_displays_are_overlaid_with_other_colours(self):
        first = ConvergenceDisplay.from_estimator(BINARY["avsf"])
        second = ConvergenceDisplay.from_estimator(BINARY["hybrid"], ax=first.axes_)
        assert second.figure_ is first.figure_
        lines = lines_of(second.ax_)
        assert lines["avsf"].get_color() != lines["hybrid"].get_color()
        assert [text.get_text() for text in second.axes_[1].get_legend().get_texts()] == ["avsf", "hybrid"]

    def test_one_line_a_class_and_one_panel(self):
        ax = Figure().add_subplot()
        ConvergenceDisplay.from_estimator(THREE, ax=ax, y="violation")
        for k in range(3):
            of_class = THREE.history_[THREE.history_["problem"] == k]
            np.testing.assert_array_equal(lines_of(ax)[f"class {k}"].get_ydata(), of_class["violation"])

    def test_many_lines_have_no_legend(self):
        histories = {str(k): BINARY["avsf"].history_ for k in range(20)}
        ax = ConvergenceDisplay(histories=histories).plot().axes_[1]
        assert len(ax.get_lines()) == 20
        assert ax.get_legend() is None

    def test_solutions_and_a_goal_for_the_gap(self):
        solution = solve(X, Y, gap_tol=1e-4, solver="hybrid", random_state=0)
        display = ConvergenceDisplay.from_solutions({"mine": solution})
        assert lines_of(display.axes_[1])["mine"].get_ydata()[-1] == solution.certificate.gap
        model = LinearSVC(gap_tol=1e-4).fit(X, Y)
        display = ConvergenceDisplay.from_estimators([model, model])
        assert {"_gap_tol", model.solver_, f"{model.solver_} (2)"} <= set(lines_of(display.axes_[1]))

    def test_wrong_use(self):
        with pytest.raises(ValueError, match="nothing to draw"):
            ConvergenceDisplay(histories={})
        with pytest.raises(ValueError, match="fit it first"):
            ConvergenceDisplay.from_estimator(LinearSVC())
        with pytest.raises(ValueError, match="choose among seconds"):
            ConvergenceDisplay.from_estimator(THREE, x="time")
        with pytest.raises(ValueError, match="ax holds 1 Axes; 2 are needed"):
            ConvergenceDisplay.from_estimator(THREE, ax=Figure().add_subplot())


class TestWeights:
    def bars(self, ax):
        names = [label.get_text() for label in ax.get_yticklabels()]
        return dict(zip(names, (bar.get_width() for bar in ax.patches), strict=True))

    def test_the_largest_by_name(self):
        names = [f"feature {j}" for j in range(6)]
        model = LinearSVC().fit(pd.DataFrame(X, columns=names), Y)
        ax = WeightsDisplay.from_estimator(model, top=4).ax_
        largest = np.argsort(-np.abs(model.coef_[0]))[:4]
        assert self.bars(ax) == {names[j]: model.coef_[0, j] for j in largest}
        widths = [bar.get_width() for bar in ax.patches]
        assert widths == sorted(widths)
        assert ax.get_title() == "-1  ←  →  1"

    def test_a_panel_a_class_and_some_classes(self):
        display = WeightsDisplay.from_estimator(THREE)
        assert len(display.axes_) == 3
        for k, ax in enumerate(display.axes_):
            assert self.bars(ax) == {f"x{j}": w for j, w in enumerate(THREE.coef_[k])}
            assert ax.get_title() == f"class {k}"
        display = WeightsDisplay.from_estimator(THREE, classes=[2])
        assert [ax.get_title() for ax in display.axes_] == ["class 2"]
        ax = Figure().add_subplot()
        assert WeightsDisplay.from_estimator(THREE, classes=[1], ax=ax).ax_ is ax

    def test_zeros_and_long_names(self):
        display = WeightsDisplay(weights=[0.0, 2.0, -1.0], feature_names=["a", "b" * 50, "c"]).plot()
        assert self.bars(display.ax_) == {"c": -1.0, "b" * 27 + "…": 2.0}
        assert not WeightsDisplay(weights=np.zeros(3)).plot().ax_.patches
        sparse = LinearSVC(penalty="l1", C=0.1).fit(X, Y).sparsify()
        assert WeightsDisplay.from_estimator(sparse).weights.shape == (1, 6)

    def test_wrong_use(self):
        with pytest.raises(ValueError, match="2 entries, the model 3"):
            WeightsDisplay(weights=np.ones(3), feature_names=["a", "b"])
        with pytest.raises(ValueError, match="titles has 2"):
            WeightsDisplay(weights=np.ones(3), titles=["a", "b"])
        with pytest.raises(ValueError, match="fit it first"):
            WeightsDisplay.from_estimator(LinearSVC())
        with pytest.raises(ValueError, match="the model has"):
            WeightsDisplay.from_estimator(THREE, classes=["nobody"])
        with pytest.raises(ValueError, match="top must be"):
            WeightsDisplay.from_estimator(THREE, top=0)


class TestCPath:
    CS = (10.0, 0.1, 1.0)
    SCORES = ((0.5, 0.7), (0.8, 0.6), (0.9, np.nan))
    SECONDS = ((3.0, 4.0), (0.1, 0.2), (1.0, np.nan))

    def check(self, display):
        score, time = display.axes_
        assert score.get_xscale() == time.get_xscale() == time.get_yscale() == "log"
        mean = lines_of(score)["mean"]
        np.testing.assert_array_equal(mean.get_xdata(), [0.1, 1.0, 10.0])
        np.testing.assert_allclose(mean.get_ydata(), [0.7, 0.9, 0.6])
        np.testing.assert_allclose(time.get_lines()[0].get_ydata(), [0.3, 1.0, 7.0])
        band = score.collections[0].get_paths()[0].vertices
        assert band[:, 1].max() == pytest.approx(0.9)  # a single fold has no error
        assert band[:, 1].min() == pytest.approx(0.5)  # 0.6 - 0.1
        assert lines_of(score)["best: C = 1"].get_xdata()[0] == 1.0
        assert lines_of(score)["one standard error: C = 0.1"].get_xdata()[0] == 0.1

    def test_from_an_estimator(self):
        found = {"Cs_": self.CS, "scores_": self.SCORES, "fit_times_": self.SECONDS, "C_": 1.0, "C_1se_": 0.1}
        display = CPathDisplay.from_estimator(SimpleNamespace(**found, scoring="accuracy"))
        self.check(display)
        assert display.ax_.get_ylabel() == "accuracy"

    def test_from_a_search(self, tmp_path):
        cells = [
            {
                "C": C,
                "scores": [None if np.isnan(s) else s for s in scores],
                "seconds": [t if t == t else None for t in ts],
                "gaps": [None for _ in ts],
            }
            | dict.fromkeys(("mean", "std_error"))
            for C, scores, ts in zip(self.CS, self.SCORES, self.SECONDS, strict=True)
        ]
        folds = len(self.SCORES[0])
        make_search(tmp_path, cells=cells, folds=folds, best_C=1.0, one_se_C=0.1)
        self.check(CPathDisplay.from_search(tmp_path))
        self.check(CPathDisplay.from_search(tmp_path / "path.json"))
        make_search(tmp_path, cells=cells, folds=folds, best_C=None, one_se_C=None)
        assert "best" not in str(lines_of(CPathDisplay.from_search(tmp_path).ax_))

    def test_from_a_path(self):
        path = SimpleNamespace(Cs=np.array([0.1, 1.0]), seconds=np.array([0.2, 0.4]), solutions=())
        display = CPathDisplay.from_path(path)
        np.testing.assert_array_equal(display.ax_.get_lines()[0].get_ydata(), [0.2, 0.4])
        assert len(display.axes_) == 1
        display = CPathDisplay.from_path(path, scores=[0.5, 0.6], score_name="accuracy")
        np.testing.assert_array_equal(lines_of(display.ax_)["accuracy"].get_ydata(), [0.5, 0.6])

    def test_one_axes_for_the_scores(self):
        ax = Figure().add_subplot()
        display = CPathDisplay(Cs=self.CS, scores=self.SCORES, seconds=self.SECONDS).plot(ax=ax)
        assert list(display.axes_) == [ax]
        assert ax.get_ylabel() == "score"

    def test_wrong_use(self, tmp_path):
        with pytest.raises(ValueError, match="nothing to draw"):
            CPathDisplay(Cs=[1.0])
        with pytest.raises(ValueError, match="nothing to draw"):
            CPathDisplay(Cs=[], scores=[])
        with pytest.raises(ValueError, match="shape"):
            CPathDisplay(Cs=[1.0], seconds=[1.0, 2.0])
        with pytest.raises(ValueError, match="fit it first"):
            CPathDisplay.from_estimator(LinearSVC())
        for text in ("{", "[]", "{}"):
            (tmp_path / "path.json").write_text(text)
            with pytest.raises(ValueError, match="hingeline search"):
                CPathDisplay.from_search(tmp_path)


class TestFrequency:
    @pytest.mark.parametrize("solver", ["avsf", "hybrid"])
    @pytest.mark.parametrize("loss", [Hinge(0.1), SquaredHinge(0.1), Logistic(0.1)])
    def test_records_are_what_the_run_holds(self, solver, loss):
        looks = []
        solve(X, Y, loss, solver=solver, random_state=0, callback=lambda progress: looks.append(progress.look()))
        record = FrequencyRecord.of(solve, X, Y, loss, solver=solver, random_state=0)
        assert [moment.sweeps for moment in record.moments] == list(range(1, len(looks) + 1))
        for k, look in enumerate(looks):
            kinds = [
                (look.alpha > 0.0) & (look.alpha < look.upper),
                (look.alpha > 0.0) & (look.alpha == look.upper),
                look.alpha == 0.0,
            ]
            np.testing.assert_allclose(record.moments[k].variables, [np.mean(kind) for kind in kinds])
            np.testing.assert_allclose(record.moments[k].visits, [look.p[kind].sum() / look.p.sum() for kind in kinds])
            assert record.moments[k].histogram.sum() == pytest.approx(np.mean(look.p > 0.0))
        if solver == "avsf":
            assert record.moments[0].histogram[EDGES[:-1] == 1.0] == 1.0  # at first all are alike

    def test_panels_show_the_record(self):
        display = FrequencyDisplay.from_data(X, Y, C=0.1, random_state=0)
        record = display.record
        spread, visits = display.axes_
        assert display.ax_ is spread
        mesh = next(c for c in spread.collections if c.get_array() is not None)
        moments = record.moments
        assert len(moments) < 30  # each has a column of its own
        np.testing.assert_allclose(np.ma.filled(mesh.get_array(), 0.0), np.array([m.histogram for m in moments]).T)
        labels = visits.get_legend_handles_labels()[1]
        assert labels == ["free", "bounded", "zero", "share of variables"]
        lowest = visits.collections[0].get_paths()[0].vertices
        assert lowest[:, 1].max() == pytest.approx(max(moment.visits[0] for moment in record.moments))
        dashed = visits.get_lines()[0].get_ydata()
        np.testing.assert_allclose(dashed[:-1], [moment.variables[0] for moment in moments])
        display.figure_.canvas.draw()

    def test_few_sweeps_other_losses_and_axes(self):
        axes = Figure().subplots(2)
        display = FrequencyDisplay.from_data(
            X, Y, loss="squared_hinge", solver="hybrid", max_iter=1, x="steps", ax=axes, random_state=0
        )
        assert list(display.axes_) == list(axes)
        labels = axes[1].get_legend_handles_labels()[1]
        assert "bounded" not in labels  # the squared hinge has no upper bound
        display.figure_.canvas.draw()

    def test_many_sweeps_make_few_records_and_fewer_columns(self):
        record = FrequencyRecord.of(solve, X, Y, Hinge(10.0), solver="avsf", tol=1e-9, max_iter=3000, random_state=0)
        sweeps = [moment.sweeps for moment in record.moments]
        assert sweeps[:50] == list(range(1, 51))
        assert 120 < len(sweeps) < 300
        assert sweeps[-1] > 2 * len(sweeps)
        mesh = FrequencyDisplay(record).plot().ax_.collections[0]
        assert 50 < mesh.get_array().shape[1] <= 100
        last = np.array(sweeps) >= sweeps[-1] ** (99 / 100)
        mean = np.mean([moment.histogram for moment, late in zip(record.moments, last, strict=True) if late], axis=0)
        np.testing.assert_allclose(np.ma.filled(mesh.get_array(), 0.0)[:, -1], mean)

    def test_wrong_use(self):
        with pytest.raises(ValueError, match='"avsf" or "hybrid"'):
            FrequencyDisplay.from_data(X, Y, solver="baseline")
        with pytest.raises(ValueError, match="loss must be"):
            FrequencyDisplay.from_data(X, Y, loss="huber")
        with pytest.raises(ValueError, match="choose among sweeps"):
            FrequencyDisplay.from_data(X, Y, x="time")
