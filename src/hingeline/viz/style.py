"""What the displays share: axes, and colours that the colour-blind can tell apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette without yellow, which is too pale for lines on white.
BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY, BLACK = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#000000",
)
COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, BLACK)
MARKERS = "osD^vPX"
FEW_NAMES, MOST_NAMES = 4, 12  # of a legend: within the axes, and at all
MISSING = "plots need matplotlib, which is not installed: pip install matplotlib"


def panels(ax: Any, rows: int, columns: int, size: tuple[float, float] | None, **how: Any) -> tuple[np.ndarray, Figure]:
    """Return ``rows`` x ``columns`` axes and their figure: those in ``ax``, or new ones that pyplot makes.

    ``size`` is the size of one of them in inches (None: pyplot's own); ``how`` is passed to pyplot's ``subplots``.
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(MISSING) from error
    if ax is None:
        from matplotlib import pyplot

        inches = None if size is None else (size[0] * columns, size[1] * rows)
        axes = pyplot.subplots(rows, columns, figsize=inches, layout="constrained", squeeze=False, **how)[1]
    else:
        axes = np.asarray(ax, dtype=object)
        if axes.size < rows * columns:
            raise ValueError(f"ax holds {axes.size} Axes; {rows * columns} are needed.")
        axes = axes.ravel()[: rows * columns].reshape(rows, columns)
    figure = axes[0, 0].get_figure(root=True)
    assert isinstance(figure, Figure)
    return axes, figure


class Panels:
    """A display of one or several axes in one row or column.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        Exists after ``plot``, like the others.
    ax_ : matplotlib Axes
        The first of them.
    figure_ : matplotlib Figure
    """

    axes_: np.ndarray
    ax_: Axes
    figure_: Figure

    def _make_axes(self, ax: Any, rows: int, columns: int, size: tuple[float, float] | None, **how: Any) -> None:
        """Set the attributes to the axes of ``panels``."""
        axes, self.figure_ = panels(ax, rows, columns, size, **how)
        self.axes_, self.ax_ = axes.ravel(), axes[0, 0]


def many_colours(n: int) -> list[Any]:
    """Return ``n`` colours: those of the palette if it has enough, else steps from dark to light."""
    if n <= len(COLOURS):
        return list(COLOURS[:n])
    from matplotlib import colormaps

    return list(colormaps["viridis"](np.linspace(0.0, 0.9, n)))


def used_lines(ax: Axes) -> int:
    """Return how many labelled lines there are already, so that the next display takes other colours."""
    return len({line.get_color() for line in ax.get_lines() if not str(line.get_label()).startswith("_")})


def finish(ax: Axes, lines: Sequence[Any] = (), meanings: Mapping[str, Any] | None = None) -> None:
    """Draw a grid, and a legend of a few ``lines`` and of what styles of lines mean.

    Many names are written beside the axes, where they hide nothing; too many are left out.
    """
    from matplotlib.lines import Line2D

    ax.grid(True, which="major", alpha=0.3)
    handles = list(lines) if len(lines) <= MOST_NAMES else []
    handles += [Line2D([], [], color="0.4", linestyle=line, label=name) for name, line in (meanings or {}).items()]
    if len(handles) > FEW_NAMES:
        ax.legend(handles=handles, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    elif handles:
        ax.legend(handles=handles, fontsize="small")


def plain_numbers(ax: Axes) -> None:
    """Label a logarithmic y axis 0.02, 0.05, 0.1, ... also if it spans less than a decade."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
