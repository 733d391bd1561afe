"""Score and training time along a path of C."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hingeline.io.records.json_file import JsonFileError
from hingeline.io.records.search_folder import read_search

from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class CPathDisplay(style.Panels):
    """Cross-validated score, and seconds, against C; the axes of C and of the seconds are logarithmic.

    Parameters
    ----------
    Cs : sequence of float
    scores : array of shape (n_Cs, n_folds), optional
        NaN for cells that were skipped.
    seconds : array of shape (n_Cs, n_folds) or (n_Cs,), optional
        The sum over the folds is drawn.
    best_C, one_se_C : float, optional
        The C of the best mean score, and the smallest within one standard error of it.
    score_name : str

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        One for the scores and one for the seconds, if there are both. Exists after ``plot``, like the others.
    ax_ : matplotlib Axes
        The first of them.
    figure_ : matplotlib Figure
    """

    def __init__(
        self,
        *,
        Cs: Sequence[float] | np.ndarray,
        scores: Any = None,
        seconds: Any = None,
        best_C: float | None = None,
        one_se_C: float | None = None,
        score_name: str = "score",
    ) -> None:
        C = np.asarray(Cs, dtype=float)
        if C.size == 0 or (scores is None and seconds is None):
            raise ValueError("There is nothing to draw: neither scores nor seconds at any C.")
        order = np.argsort(C, kind="stable")
        self.Cs = C[order]
        self.scores = _rows(scores, order, "scores")
        self.seconds = _rows(seconds, order, "seconds")
        self.best_C, self.one_se_C, self.score_name = best_C, one_se_C, score_name

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> CPathDisplay:
        """Draw the search of a fitted ``LinearSVCCV``, ``LinearSVRCV`` or ``LogisticRegressionCV``."""
        if not hasattr(estimator, "scores_"):
            raise ValueError(f"{type(estimator).__name__} has no scores_: fit it first.")
        scoring = getattr(estimator, "scoring", None)
        return cls(
            Cs=estimator.Cs_,
            scores=estimator.scores_,
            seconds=estimator.fit_times_,
            best_C=estimator.C_,
            one_se_C=getattr(estimator, "C_1se_", None),
            score_name=scoring if isinstance(scoring, str) else "score",
        ).plot(ax=ax)

    @classmethod
    def from_path(cls, path: Any, *, scores: Any = None, score_name: str = "score", ax: Any = None) -> CPathDisplay:
        """Draw what ``c_path`` returned: its seconds, and ``scores`` at each C if they are given."""
        return cls(Cs=path.Cs, seconds=path.seconds, scores=scores, score_name=score_name).plot(ax=ax)

    @classmethod
    def from_search(cls, folder: str | Path, *, ax: Any = None) -> CPathDisplay:
        """Draw what ``hingeline search`` wrote to ``folder``; an unfinished search is drawn as far as it has come."""
        try:
            found = read_search(folder)
        except JsonFileError as error:
            raise ValueError(f"{error} Name a folder that `hingeline search` wrote.") from None
        cells = found["cells"]
        return cls(
            Cs=[cell["C"] for cell in cells],
            scores=np.array([cell["scores"] for cell in cells], dtype=float),  # null is NaN
            seconds=np.array([cell["seconds"] for cell in cells], dtype=float),
            best_C=found["best_C"],
            one_se_C=found["one_se_C"],
            score_name=found["scoring"],
        ).plot(ax=ax)

    def plot(self, ax: Any = None) -> CPathDisplay:
        """Draw; return the display.

        Parameters
        ----------
        ax : Axes or array of Axes, optional
            One for the scores and one for the seconds; a single one is for the scores, if there are any. Default: new
            ones that pyplot makes.
        """
        draw = [f for f, there in ((self._score, self.scores), (self._time, self.seconds)) if there is not None]
        if ax is not None:
            draw = draw[: np.asarray(ax, dtype=object).size]
        shared = {"sharex": True} if ax is None else {}
        self._make_axes(ax, len(draw), 1, (5.2, 2.6), **shared)
        for panel, function in zip(self.axes_, draw, strict=True):
            function(panel)
            panel.set(xscale="log")
            panel.grid(True, which="major", alpha=0.3)
        self.axes_[-1].set_xlabel("C")
        return self

    def _score(self, ax: Axes) -> None:
        assert self.scores is not None
        there = ~np.isnan(self.scores).all(axis=1)
        C, scores = self.Cs[there], self.scores[there]
        n = np.count_nonzero(~np.isnan(scores), axis=1)
        mean = np.nanmean(scores, axis=1)
        spread = np.sqrt(np.nansum((scores - mean[:, None]) ** 2, axis=1) / np.maximum(n - 1, 1) / n)
        if scores.shape[1] > 1:
            ax.fill_between(C, mean - spread, mean + spread, color=style.SKY, alpha=0.35, linewidth=0,
                            label="± one standard error")  # fmt: skip
            each = np.repeat(C, scores.shape[1])
            ax.plot(each, scores.ravel(), ".", color="0.5", markersize=3, alpha=0.7, label="folds")
        ax.plot(C, mean, marker="o", color=style.BLUE, label="mean" if scores.shape[1] > 1 else self.score_name)
        for value, colour, line, name in ((self.best_C, style.VERMILION, "--", "best"),
                                          (self.one_se_C, style.GREEN, ":", "one standard error")):  # fmt: skip
            if value is not None:
                ax.axvline(value, color=colour, linestyle=line, label=f"{name}: C = {value:.3g}")
        ax.set_ylabel(self.score_name)
        ax.legend(fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)

    def _time(self, ax: Axes) -> None:
        assert self.seconds is not None
        there = ~np.isnan(self.seconds).all(axis=1)
        total = np.nansum(self.seconds[there], axis=1)
        ax.plot(self.Cs[there], total, marker="s", color=style.BLACK)
        folds = "" if self.seconds.shape[1] == 1 else ", all folds"
        ax.set(yscale="log", ylabel=f"training time [s]{folds}")
        style.plain_numbers(ax)


def _rows(values: Any, order: np.ndarray, name: str) -> np.ndarray | None:
    """Return one row per C, in the order of C."""
    if values is None:
        return None
    array = np.asarray(values, dtype=float)
    if array.ndim not in (1, 2) or array.shape[0] != order.size:
        raise ValueError(f"{name} has shape {array.shape}: pass one value or one row per C, for {order.size} Cs.")
    return array.reshape(order.size, -1)[order]
