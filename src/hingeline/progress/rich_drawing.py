"""Drawing with rich, in terminals and notebooks."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from .bars import Line
from .drawing import is_terminal

WIDEST_BAR = 24
NOTEBOOK = 90  # columns: rich assumes 115, and a notebook of the usual width cuts off the rest


class RichBars:
    """One row per bar. They are erased at the end, and what comes after is printed in their place."""

    def __enter__(self) -> RichBars:
        self._console = Console(stderr=True)
        self._spinner = Spinner("dots")
        # What is printed meanwhile appears above the bars, unless standard output goes into a file.
        shared = is_terminal(sys.stdout)
        self._live = Live(console=self._console, auto_refresh=False, transient=True, redirect_stdout=shared)
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def draw(self, lines: Sequence[Line]) -> None:
        """Draw a table of the lines."""
        self._live.update(self._table(lines), refresh=True)

    def _table(self, lines: Sequence[Line]) -> Table:
        table = Table.grid(padding=(0, 1), expand=False)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, overflow="ellipsis")
        text = max((len(line.title) + len(line.text) + 4 for line in lines), default=0)
        columns = min(self._console.width, NOTEBOOK) if self._console.is_jupyter else self._console.width
        width = max(8, min(WIDEST_BAR, columns - text))
        for line in lines:
            bar = self._spinner if line.fraction is None else ProgressBar(1.0, line.fraction, width=width)
            table.add_row(Text(line.title, style="bold"), bar, Text(line.text))
        return table
