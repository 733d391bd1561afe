"""The largest weights of a linear model, by the names of their features."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_COLUMNS = 3
LONGEST_NAME = 28


class WeightsDisplay(style.Panels):
    """The largest weights, one panel per class: to the right those in favour of it, to the left those against it.

    Parameters
    ----------
    weights : ndarray of shape (n_features,) or (n_panels, n_features)
    feature_names : sequence of str, optional
        Default: x0, x1, ...
    titles : sequence of str, optional
        One per panel.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        One per panel. Exists after ``plot``, like the others.
    ax_ : matplotlib Axes
        The first of them.
    figure_ : matplotlib Figure
    """

    def __init__(
        self, *, weights: Any, feature_names: Sequence[str] | None = None, titles: Sequence[str] | None = None
    ) -> None:
        self.weights = np.atleast_2d(np.asarray(weights, dtype=float))
        panels, n = self.weights.shape
        names = [f"x{j}" for j in range(n)] if feature_names is None else [str(name) for name in feature_names]
        if len(names) != n:
            raise ValueError(f"feature_names has {len(names)} entries, the model {n} features.")
        if titles is not None and len(titles) != panels:
            raise ValueError(f"titles has {len(titles)} entries for {panels} rows of weights.")
        self.feature_names, self.titles = names, None if titles is None else [str(title) for title in titles]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        feature_names: Sequence[str] | None = None,
        classes: Sequence[Any] | None = None,
        top: int = 10,
        ax: Any = None,
    ) -> WeightsDisplay:
        """Draw the weights of a linear model.

        Parameters
        ----------
        estimator : fitted estimator
            With ``coef_``, dense or sparse.
        feature_names : sequence of str, optional
            Default: ``feature_names_in_``, if the model was trained with a data frame.
        classes : sequence, optional
            Which of more than two classes to draw. Default: all.
        top, ax
            As for ``plot``.
        """
        if not hasattr(estimator, "coef_"):
            raise ValueError(f"{type(estimator).__name__} has no coef_: fit it first.")
        coef = estimator.coef_
        weights = np.atleast_2d(coef.toarray() if hasattr(coef, "toarray") else coef)
        if feature_names is None:
            feature_names = getattr(estimator, "feature_names_in_", None)
        known = list(getattr(estimator, "classes_", ()))
        titles: list[str] | None = None
        if len(known) == 2 and weights.shape[0] == 1:
            titles = [f"{known[0]}  ←  →  {known[1]}"]
        elif len(known) == weights.shape[0]:
            titles = [f"class {label}" for label in known]
        if classes is not None:
            missing = [label for label in classes if label not in known]
            if missing or titles is None or len(titles) != len(known):
                raise ValueError(f"classes: {missing or list(classes)} cannot be drawn alone; the model has {known}.")
            chosen = [known.index(label) for label in classes]
            weights, titles = weights[chosen], [titles[k] for k in chosen]
        return cls(weights=weights, feature_names=feature_names, titles=titles).plot(ax=ax, top=top)

    def plot(self, ax: Any = None, *, top: int = 10) -> WeightsDisplay:
        """Draw; return the display.

        Parameters
        ----------
        ax : Axes or array of Axes, optional
            One per panel. Default: new ones that pyplot makes.
        top : int
            How many weights per panel; zeros are left out.
        """
        if top < 1:
            raise ValueError(f"top must be at least 1; got {top!r}.")
        n = self.weights.shape[0]
        columns = min(MOST_COLUMNS, n)
        rows = ceil(n / columns) if ax is None else 1
        shape = (rows, columns) if ax is None else (1, n)
        self._make_axes(ax, *shape, (3.4, 0.7 + 0.22 * min(top, self.weights.shape[1])))
        for panel in self.axes_[n:]:
            panel.set_visible(False)
        self.axes_ = self.axes_[:n]
        for k, panel in enumerate(self.axes_):
            self._draw(panel, self.weights[k], top)
            if self.titles is not None:
                panel.set_title(self.titles[k], fontsize="medium")
        return self

    def _draw(self, ax: Axes, w: np.ndarray, top: int) -> None:
        largest = np.argsort(-np.abs(w), kind="stable")[: min(top, np.count_nonzero(w))]
        order = largest[np.argsort(w[largest], kind="stable")]  # from the most negative, at the bottom, upwards
        at = np.arange(order.size)
        ax.barh(at, w[order], color=[style.BLUE if value > 0.0 else style.VERMILION for value in w[order]])
        ax.set_yticks(at, [_shortened(self.feature_names[j]) for j in order], fontsize="small")
        ax.axvline(0.0, color="0.3", linewidth=0.8)
        ax.set_xlabel("weight")
        ax.margins(y=0.02)
        ax.grid(True, axis="x", alpha=0.3)
        ax.set_axisbelow(True)


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
