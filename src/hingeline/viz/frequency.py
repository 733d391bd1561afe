"""The idea of the paper as a picture: how selection frequencies change during a run, and who gets the visits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import style
from .frequency_record import EDGES, KINDS, FrequencyRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes

X_LABELS = {"sweeps": "sweeps", "steps": "steps (visits of rows)", "seconds": "seconds"}
RIGHT_EDGE = 1.05  # times the last moment
MOST_COLUMNS = 100  # of the picture: moments that are close on its axis are averaged
COLOURS = {"free": style.VERMILION, "bounded": style.SKY, "zero": "0.75"}


class FrequencyDisplay(style.Panels):
    """How often variables are visited as a run goes on (above), and which kind of variable gets the visits (below).

    All variables begin with one visit per sweep. Soon those whose steps gain much are visited often, and those at their
    bounds rarely: a small fraction of free variables gets most of the visits.

    Parameters
    ----------
    record : FrequencyRecord
        From a run of an engine that adapts frequencies.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        Both panels. Exists after ``plot``, like the others.
    ax_ : matplotlib Axes
        The first of them.
    figure_ : matplotlib Figure
    """

    def __init__(self, record: FrequencyRecord) -> None:
        if not record.moments:
            raise ValueError(
                'There are no preferences to draw: another engine ran. Use solver="avsf" or "hybrid", which have them.'
            )
        self.record = record

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: Any,
        *,
        C: float = 1.0,
        loss: Any = "hinge",
        solver: str = "avsf",
        ax: Any = None,
        x: str = "sweeps",
        **how: Any,
    ) -> FrequencyDisplay:
        """Train, and draw what the frequencies did.

        Parameters
        ----------
        X, y
            As for ``solve``: labels -1 and +1, or targets.
        C : float
        loss : {"hinge", "squared_hinge"} or Loss
            A loss as for ``solve`` has a C of its own, which is then used.
        solver : {"avsf", "hybrid"}
        ax, x
            As for ``plot``.
        **how
            More arguments of ``solve``: tol, gap_tol, max_iter, random_state, bias, ...
        """
        from hingeline import Hinge, SquaredHinge, solve

        if isinstance(loss, str):
            losses = {"hinge": Hinge, "squared_hinge": SquaredHinge}
            if loss not in losses:
                raise ValueError(f"loss must be one of {', '.join(losses)}, or a loss as for solve; got {loss!r}.")
            loss = losses[loss](float(C))
        return cls(FrequencyRecord.of(solve, X, y, loss, solver=solver, **how)).plot(ax=ax, x=x)

    def plot(self, ax: Any = None, *, x: str = "sweeps") -> FrequencyDisplay:
        """Draw; return the display.

        Parameters
        ----------
        ax : array of two Axes, optional
            Default: new ones that pyplot makes.
        x : {"sweeps", "steps", "seconds"}
        """
        if x not in X_LABELS:
            raise ValueError(f"{x!r} is unknown: choose among {', '.join(X_LABELS)}.")
        self._make_axes(ax, 2, 1, (6.4, 2.9))
        at = np.array([getattr(moment, x) for moment in self.record.moments], dtype=float)
        columns = _columns(at)
        edges = np.append(at[np.searchsorted(columns, np.arange(columns[-1] + 1))], RIGHT_EDGE * at[-1])
        self._spread(self.axes_[0], edges, self._mean("histogram", columns))
        self._visits(self.axes_[1], edges, self._mean("visits", columns), self._mean("variables", columns))
        for panel in self.axes_:
            panel.set(xscale="log", xlim=(edges[0], edges[-1]))
        self.axes_[1].set_xlabel(X_LABELS[x])
        return self

    def _mean(self, what: str, columns: np.ndarray) -> np.ndarray:
        """Return the mean of a property over the moments of each column."""
        values = np.array([getattr(moment, what) for moment in self.record.moments])
        sums = np.zeros((columns[-1] + 1, values.shape[1]))
        np.add.at(sums, columns, values)
        return (sums / np.bincount(columns)[:, None]).T

    def _spread(self, ax: Axes, edges: np.ndarray, share: np.ndarray) -> None:
        from matplotlib.colors import LogNorm

        shown = np.ma.masked_less_equal(share, 0.0)
        norm = LogNorm(vmin=max(1e-4, float(shown.min())) * 0.999, vmax=1.0)
        mesh = ax.pcolormesh(edges, EDGES, shown, norm=norm, cmap="viridis_r", rasterized=True)
        ax.axhline(1.0, color="0.2", linewidth=0.8, linestyle=":")
        left_out = 1.0 - share.sum(axis=0)
        title = "how often each variable is visited"
        if left_out.max() > 1e-12:
            title += f" (up to {left_out.max():.0%} are left out)"
        ax.set_title(title, fontsize="medium")
        ax.set(yscale="log", ylabel="visits per sweep")
        self.figure_.colorbar(mesh, ax=ax, label="share of variables")

    def _visits(self, ax: Axes, edges: np.ndarray, visits: np.ndarray, variables: np.ndarray) -> None:
        visits, variables = (np.column_stack([shares, shares[:, -1]]) for shares in (visits, variables))
        there = [k for k in range(len(KINDS)) if variables[k].any()]
        names = [KINDS[k] for k in there]
        ax.stackplot(
            edges, visits[there], labels=names, colors=[COLOURS[name] for name in names], alpha=0.9, linewidth=0
        )
        below = np.cumsum(variables[there], axis=0)
        for k in range(len(there) - 1):
            label = "share of variables" if k == 0 else None
            ax.plot(edges, below[k], color="black", linestyle="--", linewidth=1.2, label=label)
        ax.set_title("which variables get the visits", fontsize="medium")
        ax.set(ylim=(0.0, 1.0), ylabel="share of visits")
        ax.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=4, frameon=False)


def _columns(at: np.ndarray) -> np.ndarray:
    """Return the column of the picture that each moment belongs to, counted without gaps."""
    place = np.log(at / at[0]) / max(np.log(at[-1] / at[0]), 1e-300)
    return np.unique(np.minimum(place * MOST_COLUMNS, MOST_COLUMNS - 1).astype(int), return_inverse=True)[1]
