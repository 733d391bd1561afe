"""Tables that grow while a command works: drawn live by rich on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table as RichTable

MISSING_RICH = "plain table, since rich is not installed; for a live one: pip install rich"


class PlainTable:
    """Right-aligned columns, a line printed as soon as it is complete. Used in a ``with`` statement."""

    def __init__(self, header: Sequence[str], widths: Sequence[int], out: Any = None) -> None:
        self.header, self.widths = header, widths
        self.out = sys.stdout if out is None else out

    def __enter__(self) -> PlainTable:
        self.add(self.header)
        self.add(["-" * width for width in self.widths])
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def show(self, cells: Sequence[str]) -> None:
        """Show the current row, some of its cells still empty. (Not here: a printed line cannot change.)"""

    def tell(self, text: str) -> None:
        """Show a line below the table, until the next one: how far the work is. (Not here.)"""

    def add(self, cells: Sequence[str]) -> None:
        """Print a complete row, and flush it, so that the reader of a pipe sees it at once."""
        line = "  ".join(cell.rjust(width) for cell, width in zip(cells, self.widths, strict=True)).rstrip()
        print(line, file=self.out, flush=True)


class LiveTable(PlainTable):
    """The same as a table of rich's, which is redrawn with every change."""

    def __init__(self, header: Sequence[str], widths: Sequence[int], out: Any = None) -> None:
        from rich.console import Console
        from rich.live import Live

        super().__init__(header, widths, out)
        self.rows: list[Sequence[str]] = []
        self.told = ""
        self.live = Live(self._draw([]), console=Console(file=self.out), auto_refresh=False)

    def __enter__(self) -> LiveTable:
        self.live.start(refresh=True)
        return self

    def __exit__(self, *error: object) -> None:
        self.live.update(self._draw(self.rows))
        self.live.stop()

    def show(self, cells: Sequence[str]) -> None:
        """Show the current row below the complete ones."""
        self.live.update(self._draw([*self.rows, cells]), refresh=True)

    def tell(self, text: str) -> None:
        """Show a line below the table from its next change on."""
        self.told = text

    def add(self, cells: Sequence[str]) -> None:
        """Add a complete row."""
        self.rows.append(cells)
        self.live.update(self._draw(self.rows), refresh=True)

    def _draw(self, rows: Sequence[Sequence[str]]) -> RichTable:
        from rich.table import Table as RichTable

        table = RichTable(caption=self.told or None, caption_justify="left")
        for name, width in zip(self.header, self.widths, strict=True):
            table.add_column(name, justify="right", min_width=width, no_wrap=True)
        for cells in rows:
            table.add_row(*cells)
        return table


class NoTable(PlainTable):
    """Shows nothing."""

    def add(self, cells: Sequence[str]) -> None:
        """Do nothing."""


def make_table(header: Sequence[str], widths: Sequence[int], *, json: bool = False) -> PlainTable:
    """Return the table that suits standard output; beside ``json`` it goes to standard error, on terminals only."""
    from hingeline.progress.drawing import is_terminal

    out = sys.stderr if json else sys.stdout
    if not is_terminal(out):
        return NoTable(header, widths, out) if json else PlainTable(header, widths, out)
    try:
        return LiveTable(header, widths, out)
    except ModuleNotFoundError:
        print(MISSING_RICH, file=sys.stderr)
        return PlainTable(header, widths, out)
