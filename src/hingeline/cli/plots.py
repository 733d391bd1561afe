"""Plots of commands: drawn to files by matplotlib, which is optional."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MISSING_MATPLOTLIB = "no plot, since matplotlib is not installed: pip install matplotlib"


def can_plot() -> bool:
    """Tell whether matplotlib is installed; if it is not, print how to install it."""
    if find_spec("matplotlib") is None:
        print(MISSING_MATPLOTLIB, file=sys.stderr)
        return False
    return True


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure, in inches, that is drawn to a file and needs no display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure
