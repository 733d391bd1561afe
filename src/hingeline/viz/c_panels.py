"""Several displays of training time against C in one figure, as in the paper."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING, Any

from .c_grid import CGridDisplay

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_COLUMNS = 3
PANEL, ENTRY = (4.2, 3.3), 1.9  # inches: a panel, and the width of an entry of the legend


class CPanelsDisplay:
    """One panel per data set, one legend for all.

    Parameters
    ----------
    panels : mapping of str to CGridDisplay
        The displays by title; at least one.

    Attributes
    ----------
    figure_ : matplotlib Figure
        Exists after ``plot``.
    """

    figure_: Figure

    def __init__(self, panels: Mapping[str, CGridDisplay]) -> None:
        if not panels:
            raise ValueError("panels is empty: there is nothing to draw.")
        self.panels = panels

    def plot(self, figure: Figure | None = None) -> CPanelsDisplay:
        """Draw on ``figure``, or on a new one that needs no screen; return the display."""
        columns = min(MOST_COLUMNS, len(self.panels))
        rows = ceil(len(self.panels) / columns)
        if figure is None:
            figure = _new_figure((PANEL[0] * columns, PANEL[1] * rows + 0.5))
        self.figure_ = figure
        lines: dict[str, Any] = {}
        for k, (title, panel) in enumerate(self.panels.items(), 1):
            ax = panel.plot(ax=figure.add_subplot(rows, columns, k)).ax_
            ax.set_title(title)
            handles, labels = ax.get_legend_handles_labels()
            lines.update(zip(labels, handles, strict=True))
            if (legend := ax.get_legend()) is not None:
                legend.remove()
        lines = {label: line for label, line in lines.items() if not label.endswith(", capped")}
        fit = max(1, int(figure.get_figwidth() / ENTRY))
        figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=fit)
        return self


def _new_figure(size: tuple[float, float]) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)  # draws to a file, needs no display
    return figure
