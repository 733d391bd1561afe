"""Training time over a grid of C, as in the figures of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = style.MARKERS[:5]
PANEL = (4.8, 3.6)  # inches


class CGridDisplay(style.Panels):
    """Seconds against C for several engines, on logarithmic axes.

    Parameters
    ----------
    C : sequence of float
        The grid.
    seconds : mapping of str to sequence of float
        For each engine the seconds at each C.
    capped : mapping of str to sequence of bool, optional
        Whether a limit ended training: drawn with a hollow marker, since the true time is longer.
    styles : mapping of str to mapping, optional
        For each engine, arguments of matplotlib's ``plot`` (color, marker, linestyle) that differ from the default.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
        Both exist after ``plot``.
    """

    def __init__(
        self,
        *,
        C: Sequence[float],
        seconds: Mapping[str, Sequence[float]],
        capped: Mapping[str, Sequence[bool]] | None = None,
        styles: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.C = C
        self.seconds = seconds
        self.capped = capped
        self.styles = styles

    def plot(self, ax: Axes | None = None) -> CGridDisplay:
        """Draw on ``ax``, or on new axes that pyplot makes; return the display."""
        self._make_axes(ax, 1, 1, PANEL)
        ax = self.ax_
        C = np.asarray(self.C, dtype=float)
        order = np.argsort(C)
        colours = style.many_colours(len(self.seconds))
        for k, (name, values) in enumerate(self.seconds.items()):
            seconds = np.asarray(values, dtype=float)
            look = {"marker": MARKERS[k % len(MARKERS)], "color": colours[k], **(self.styles or {}).get(name, {})}
            (line,) = ax.plot(C[order], seconds[order], label=name, **look)
            hollow = np.asarray(self.capped[name] if self.capped else np.zeros(C.size), dtype=bool)
            if hollow.any():
                colour = line.get_color()
                white: dict[str, Any] = {"linestyle": "", "markerfacecolor": "white", "label": f"{name}, capped"}
                ax.plot(C[hollow], seconds[hollow], marker=look["marker"], color=colour, **white)
        ax.set(xscale="log", yscale="log", xlabel="C", ylabel="training time [s]")
        ax.grid(True, which="major", alpha=0.3)
        ax.legend(fontsize="small")
        return self
