"""Tables that grow while a command works: drawn live by rich on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table as RichTable

MISSING_RICH = 'rich is not installed: plain table (pip install "hingeline[demo]" for the live one)'


class PlainTable:
    """Right-aligned columns, a line printed as soon as it is complete. Used in a ``with`` statement."""

    def __init__(self, header: Sequence[str], widths: Sequence[int]) -> None:
        self.header, self.widths = header, widths

    def __enter__(self) -> PlainTable:
        self.add(self.header)
        self.add(["-" * width for width in self.widths])
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def show(self, cells: Sequence[str]) -> None:
        """Show the current row, some of its cells still empty. (Not here: a printed line cannot change.)"""

    def add(self, cells: Sequence[str]) -> None:
        """Print a complete row, and flush it, so that the reader of a pipe sees it at once."""
        print("  ".join(cell.rjust(width) for cell, width in zip(cells, self.widths, strict=True)).rstrip(), flush=True)


class LiveTable(PlainTable):
    """The same as a table of rich's, which is redrawn with every change."""

    def __init__(self, header: Sequence[str], widths: Sequence[int]) -> None:
        from rich.live import Live

        super().__init__(header, widths)
        self.rows: list[Sequence[str]] = []
        self.live = Live(self._draw([]), auto_refresh=False)

    def __enter__(self) -> LiveTable:
        self.live.start(refresh=True)
        return self

    def __exit__(self, *error: object) -> None:
        self.live.update(self._draw(self.rows))
        self.live.stop()

    def show(self, cells: Sequence[str]) -> None:
        """Show the current row below the complete ones."""
        self.live.update(self._draw([*self.rows, cells]), refresh=True)

    def add(self, cells: Sequence[str]) -> None:
        """Add a complete row."""
        self.rows.append(cells)
        self.live.update(self._draw(self.rows), refresh=True)

    def _draw(self, rows: Sequence[Sequence[str]]) -> RichTable:
        from rich.table import Table as RichTable

        table = RichTable()
        for name, width in zip(self.header, self.widths, strict=True):
            table.add_column(name, justify="right", min_width=width, no_wrap=True)
        for cells in rows:
            table.add_row(*cells)
        return table


def make_table(header: Sequence[str], widths: Sequence[int]) -> PlainTable:
    """Return the table that suits standard output."""
    if not sys.stdout.isatty():
        return PlainTable(header, widths)
    try:
        return LiveTable(header, widths)
    except ModuleNotFoundError:
        print(MISSING_RICH, file=sys.stderr)
        return PlainTable(header, widths)
