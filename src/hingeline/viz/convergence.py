"""How a fit converged: violation and gap against seconds or steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

X_LABELS = {"seconds": "seconds", "steps": "steps (visits of rows)", "sweeps": "sweeps"}
Y_LABELS = {"violation": "violation", "gap": "relative duality gap"}
FEW = 60  # points that are marked one by one
APART = 10.0  # if one fit took so many times as long as another, both are seen only on a logarithmic axis


class ConvergenceDisplay(style.Panels):
    """Histories of fits, overlaid: one panel for the violation, one for the gap.

    Parameters
    ----------
    histories : mapping of str to structured array
        ``history_`` of an estimator (or ``Solution.history``), by the name of the fit.
    tol, gap_tol : float, optional
        The goals, drawn as horizontal lines.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        One for each of ``y``. Exists after ``plot``, like the others.
    ax_ : matplotlib Axes
        The first of them.
    figure_ : matplotlib Figure
    """

    def __init__(
        self, *, histories: Mapping[str, np.ndarray], tol: float | None = None, gap_tol: float | None = None
    ) -> None:
        if not histories:
            raise ValueError("histories is empty: there is nothing to draw.")
        self.histories = dict(histories)
        self.tol, self.gap_tol = tol, gap_tol

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
        goals: list[tuple[Any, Any]] = []
        for name, estimator in named:
            if not hasattr(estimator, "history_"):
                raise ValueError(f"{type(estimator).__name__} has no history_: fit it first.")
            goals.append((None if estimator.gap_tol is not None else estimator.tol, estimator.gap_tol))
            labels, whole = estimator.per_class_["label"], estimator.history_
            for k, part in enumerate([f"class {label}" for label in labels] if labels.size > 1 else [""]):
                label = f"{name}, {part}" if name and part else name or part or estimator.solver_
                histories[_unused(label, histories)] = whole[whole["problem"] == k]
        tol, gap_tol = (goal if len(set(goal)) == 1 else (None,) for goal in zip(*goals, strict=True))
        return cls(histories=histories, tol=tol[0], gap_tol=gap_tol[0]).plot(ax=ax, **how)

    @classmethod
    def from_solutions(cls, solutions: Mapping[str, Any], *, ax: Any = None, **how: Any) -> Any:
        """Draw what ``solve`` returned, by name."""
        return cls(histories={name: s.history for name, s in solutions.items()}).plot(ax=ax, **how)

    def plot(
        self, ax: Any = None, *, x: str = "seconds", y: str | Sequence[str] = ("violation", "gap")
    ) -> ConvergenceDisplay:
        """Draw; return the display.

        Parameters
        ----------
        ax : Axes or array of Axes, optional
            One for each of ``y``. Default: new ones that pyplot makes.
        x : {"seconds", "steps", "sweeps"}
        y : {"violation", "gap"}, or both
            The gap is drawn for the sweeps that computed it: those that checked it for ``gap_tol``, and the last one.
        """
        ys = [y] if isinstance(y, str) else list(y)
        for value, known in ((x, X_LABELS), *((name, Y_LABELS) for name in ys)):
            if value not in known:
                raise ValueError(f"{value!r} is unknown: choose among {', '.join(known)}.")
        self._make_axes(ax, 1, len(ys), (5.2, 3.8))
        for panel, what in zip(self.axes_, ys, strict=True):
            self._draw(panel, x, what)
        return self

    def _draw(self, ax: Axes, x: str, what: str) -> None:
        before = style.used_lines(ax)
        colours = style.many_colours(before + len(self.histories))[before:]
        for k, ((name, history), colour) in enumerate(zip(self.histories.items(), colours, strict=True)):
            at = history["sweep" if x == "sweeps" else x]
            there = history[what] > 0.0  # NaN if it was not computed; zero has no logarithm
            crowded = len(self.histories) > len(style.COLOURS)
            marked = np.count_nonzero(there) <= (1 if crowded else FEW)
            marker = style.MARKERS[(before + k) % len(style.MARKERS)] if marked else None
            thin = 0.8 if crowded else 1.4
            ax.plot(
                at[there], history[what][there], color=colour, marker=marker, markersize=4, linewidth=thin, label=name
            )
        goal = self.tol if what == "violation" else self.gap_tol
        if goal is not None:
            label = "tol" if what == "violation" else "gap_tol"
            ax.axhline(goal, color="0.4", linestyle=":", linewidth=1.2, label=f"_{label}")
            ax.annotate(label, (1.0, goal), xycoords=("axes fraction", "data"), xytext=(-3, 3),
                        textcoords="offset points", ha="right", fontsize="small", color="0.4")  # fmt: skip
        ends = [
            float(np.max(points)) for line in ax.get_lines() if np.size(points := line.get_xdata()) and _named(line)
        ]
        apart = bool(ends) and max(ends) > APART * min(ends)
        ax.set(xscale="log" if apart else "linear", yscale="log", xlabel=X_LABELS[x], ylabel=Y_LABELS[what])
        style.finish(ax, [str(line.get_label()) for line in ax.get_lines() if _named(line)])


def _named(line: Any) -> bool:
    return not str(line.get_label()).startswith("_")


def _unused(name: str, taken: Mapping[str, Any]) -> str:
    k, found = 2, name
    while found in taken:
        k, found = k + 1, f"{name} ({k})"
    return found
