"""How a fit converged: objective and lower bound, gap and violation against seconds, steps or sweeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hingeline.estimators.per_class import present_history

from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

X_LABELS = {"seconds": "seconds", "steps": "steps (visits of rows)", "sweeps": "iterations (sweeps)"}
Y_LABELS = {"objective": "objective", "gap": "relative duality gap", "violation": "violation"}
PANEL = (3.6, 2.8)  # inches: two panels fill the width of a page
FEW = 40  # points that are marked one by one
APART = 10.0  # if one fit took so many times as long as another, both are seen only on a logarithmic axis
ROUNDING = 1e-16  # smaller relative gaps are drawn as this one
MOST_NAMED_PHASES = 3  # fits whose change of engine is marked


class _Curve(NamedTuple):
    """One line of a panel: its values (NaN if there is none), and how it is drawn."""

    values: np.ndarray
    line: str = "-"
    named: bool = True


class ConvergenceDisplay(style.Panels):
    """Histories of fits, overlaid: objective and lower bound, which meet, and the gap between them.

    Parameters
    ----------
    histories : mapping of str to structured array
        ``history_`` of an estimator (or ``Solution.history``), by the name of the fit.
    tol, gap_tol : float, optional
        The goals, drawn as horizontal lines.
    solvers : mapping of str to str, optional
        The engines that each fit has used, such as "hybrid+newton": a change is marked by a vertical line.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        One for each of ``y``. Exists after ``plot``, like the others.
    ax_ : matplotlib Axes
        The first of them.
    figure_ : matplotlib Figure
    """

    def __init__(
        self,
        *,
        histories: Mapping[str, np.ndarray],
        tol: float | None = None,
        gap_tol: float | None = None,
        solvers: Mapping[str, str] | None = None,
    ) -> None:
        if not histories:
            raise ValueError("histories is empty: there is nothing to draw.")
        self.histories = {name: present_history(history) for name, history in histories.items()}
        self.tol, self.gap_tol, self.solvers = tol, gap_tol, dict(solvers or {})

    @classmethod
    def from_estimator(cls, estimator: Any, *, name: str | None = None, ax: Any = None, **how: Any) -> Any:
        """Draw the fit of an estimator: one line per problem.

        Parameters
        ----------
        estimator : fitted estimator
        name : str, optional
            Default: the engine that ran.
        ax, **how
            As for ``plot``. On the ``axes_`` of another display, both are overlaid.
        """
        return cls.from_estimators({name: estimator} if name else [estimator], ax=ax, **how)

    @classmethod
    def from_estimators(cls, estimators: Mapping[str, Any] | Sequence[Any], *, ax: Any = None, **how: Any) -> Any:
        """Draw the fits of several estimators, named by a mapping or by their engines."""
        named = estimators.items() if isinstance(estimators, Mapping) else [(None, e) for e in estimators]
        histories: dict[str, np.ndarray] = {}
        solvers: dict[str, str] = {}
        goals: list[tuple[Any, Any]] = []
        for name, estimator in named:
            if not hasattr(estimator, "history_"):
                raise ValueError(f"{type(estimator).__name__} has no history_: fit it first.")
            goals.append((None if estimator.gap_tol is not None else estimator.tol, estimator.gap_tol))
            labels, whole = estimator.per_class_["label"], estimator.history_
            for k, part in enumerate([f"class {label}" for label in labels] if labels.size > 1 else [""]):
                label = f"{name}, {part}" if name and part else name or part or estimator.solver_
                label = _unused(label, histories)
                histories[label] = whole[whole["problem"] == k]
                solvers[label] = str(estimator.per_class_["solver"][k])
        tol, gap_tol = (goal if len(set(goal)) == 1 else (None,) for goal in zip(*goals, strict=True))
        return cls(histories=histories, tol=tol[0], gap_tol=gap_tol[0], solvers=solvers).plot(ax=ax, **how)

    @classmethod
    def from_solutions(cls, solutions: Mapping[str, Any], *, ax: Any = None, **how: Any) -> Any:
        """Draw what ``solve`` returned, by name."""
        histories = {name: s.history for name, s in solutions.items()}
        return cls(histories=histories, solvers={name: s.solver for name, s in solutions.items()}).plot(ax=ax, **how)

    def plot(
        self, ax: Any = None, *, x: str = "seconds", y: str | Sequence[str] = ("objective", "gap")
    ) -> ConvergenceDisplay:
        """Draw; return the display.

        Parameters
        ----------
        ax : Axes or array of Axes, optional
            One for each of ``y``. Default: new ones that pyplot makes.
        x : {"seconds", "steps", "sweeps"}
            "sweeps" are Newton's iterations too. Newton's method makes no steps: with "steps" its fits are left out, or
            all are drawn against sweeps if no fit makes any.
        y : {"objective", "gap", "violation"}, or several of them
            The smallest objective (solid) and the largest lower bound (dashed) so far; the relative gap between them;
            the largest violation of the optimality conditions. If a history has no bounds, as in some fits with a free
            intercept, its violation is drawn instead.
        """
        ys = [y] if isinstance(y, str) else list(y)
        for value, known in ((x, X_LABELS), *((name, Y_LABELS) for name in ys)):
            if value not in known:
                raise ValueError(f"{value!r} is unknown: choose among {', '.join(known)}.")
        if not any(np.any(np.isfinite(h["objective"][:-1])) for h in self.histories.values()):
            ys = list(dict.fromkeys("violation" if name == "objective" else name for name in ys))
        if x == "steps" and not any(history["steps"].any() for history in self.histories.values()):
            x = "sweeps"
        self._make_axes(ax, 1, len(ys), PANEL)
        for panel, what in zip(self.axes_, ys, strict=False):
            self._draw(panel, x, what, is_last=what == ys[-1])
        return self

    def _draw(self, ax: Axes, x: str, what: str, is_last: bool) -> None:
        before = style.used_lines(ax)
        drawn = {name: h for name, h in self.histories.items() if x != "steps" or h["steps"].any()}
        colours = style.many_colours(before + len(drawn))[before:]
        crowded = len(drawn) > len(style.COLOURS)
        for k, ((name, history), colour) in enumerate(zip(drawn.items(), colours, strict=True)):
            at = history["sweep" if x == "sweeps" else x]
            marker = style.MARKERS[(before + k) % len(style.MARKERS)]
            for curve in _curves(history, what):
                there = np.isfinite(curve.values)
                marked = np.count_nonzero(there) <= (1 if crowded else FEW) and curve.named
                label = name if curve.named else f"_lower bound of {name}"
                how: dict[str, Any] = {"marker": marker if marked else None, "markersize": 3.5, "linestyle": curve.line}
                ax.plot(at[there], curve.values[there], color=colour, linewidth=0.8 if crowded else 1.4, label=label,
                        **how)  # fmt: skip
            if len(drawn) <= MOST_NAMED_PHASES:
                self._mark_phases(ax, name, history["phase"], at, colour)
        lines = [line for line in ax.get_lines() if _named(line)]
        values = [np.asarray(line.get_ydata()) for line in ax.get_lines() if _is_curve(line)]
        self._goal(ax, what)
        ends = [float(np.max(points)) for line in lines if np.size(points := line.get_xdata())]
        apart = bool(ends) and max(ends) > APART * min(ends)
        log = what != "objective" or _spans_decades(values)
        ax.set(xscale="log" if apart else "linear", yscale="log" if log else "linear")
        ax.set(xlabel=X_LABELS[x], ylabel=Y_LABELS[what])
        if x == "steps" and not apart:
            from matplotlib.ticker import EngFormatter

            ax.xaxis.set_major_formatter(EngFormatter(sep=""))  # 200k
        meanings = {"objective": "-", "lower bound": "--"} if what == "objective" else {}
        style.finish(ax, lines if is_last else (), meanings)

    def _goal(self, ax: Axes, what: str) -> None:
        """Draw what was asked for, if the panel shows it."""
        goal = {"violation": self.tol, "gap": self.gap_tol}.get(what)
        if goal is not None:
            label = "tol" if what == "violation" else "gap_tol"
            ax.axhline(goal, color="0.4", linestyle=":", linewidth=1.2, label=f"_{label}")
            ax.annotate(label, (1.0, goal), xycoords=("axes fraction", "data"), xytext=(-3, 3),
                        textcoords="offset points", ha="right", fontsize="small", color="0.4")  # fmt: skip

    def _mark_phases(self, ax: Axes, name: str, phase: np.ndarray, at: np.ndarray, colour: Any) -> None:
        """Draw a vertical line for each engine that took over from another one, with its name."""
        engines = self.solvers.get(name, "").split("+")
        for k in np.flatnonzero(np.diff(phase)) + 1:
            where = 0.5 * (at[k - 1] + at[k])
            ax.axvline(where, color=colour, linestyle="-.", linewidth=0.8, alpha=0.7, label="_phase")
            if phase[k] < len(engines):
                side, shift = ("right", -3) if where > 0.5 * at[-1] else ("left", 3)
                ax.annotate(engines[phase[k]], (where, 0.5), xycoords=("data", "axes fraction"), xytext=(shift, 0),
                            textcoords="offset points", ha=side, fontsize="small", color=colour)  # fmt: skip


def _curves(history: np.ndarray, what: str) -> list[_Curve]:
    """Return the lines of one history; NaN where there is nothing to draw."""
    objective, lower = history["objective"], history["lower_bound"]
    if what == "objective":
        if objective.size and objective[-1] > 0.0:
            lower = np.where(lower >= 0.0, lower, np.nan)  # zero would be a better bound
        return [_Curve(objective), _Curve(lower, "--", named=False)]
    if what == "violation":
        return [_Curve(np.where(history["violation"] > 0.0, history["violation"], np.nan))]
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = np.minimum((objective - lower) / np.abs(objective), 1.0)
    gap = np.where(np.isfinite(history["gap"]), history["gap"], estimate)
    return [_Curve(np.where(gap >= 0.0, np.maximum(gap, ROUNDING), np.nan))]


def _spans_decades(values: Sequence[np.ndarray]) -> bool:
    """Tell whether values are all positive and so far apart that a logarithmic axis shows more."""
    there = np.concatenate([np.ravel(v) for v in values]) if values else np.empty(0)
    return bool(there.size and there.min() > 0.0 and there.max() > APART * there.min())


def _is_curve(line: Any) -> bool:
    return _named(line) or str(line.get_label()).startswith("_lower bound")


def _named(line: Any) -> bool:
    return not str(line.get_label()).startswith("_")


def _unused(name: str, taken: Mapping[str, Any]) -> str:
    k, found = 2, name
    while found in taken:
        k, found = k + 1, f"{name} ({k})"
    return found
