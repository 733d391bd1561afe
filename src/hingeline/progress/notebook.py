"""Drawing in a notebook without widgets: text below the cell, rewritten in place and removed at the end."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from .bars import Line
from .drawing import text_of

STYLE = "margin: 0; padding: 0; line-height: 1.4"


class NotebookLines:
    """One output of the cell, which every drawing replaces."""

    def __enter__(self) -> NotebookLines:
        self._output: Any = None
        return self

    def __exit__(self, *error: object) -> None:
        if self._output is not None:
            self._output.update({"text/plain": "", "text/html": ""}, raw=True)

    def draw(self, lines: Sequence[Line]) -> None:
        """Show the lines in place of the last ones."""
        text = "\n".join(map(text_of, lines))
        shown = {"text/plain": text, "text/html": f'<pre style="{STYLE}">{escape(text)}</pre>'}
        if self._output is not None:
            self._output.update(shown, raw=True)
        elif lines:
            from IPython.display import display

            self._output = display(shown, raw=True, display_id=True)
