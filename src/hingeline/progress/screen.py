"""The screen that bars are drawn on: one per process, drawn by a separate thread.

Nothing is drawn in the first moment, so that short work stays quiet. Nested fits, and fits in several threads, share
the screen of the first one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from multiprocessing import current_process
from threading import Event, Lock, Thread
from typing import Any, TypeVar

from ..runtime.training_clock import compile_seconds, is_compiling
from .bars import Bar, CountBar, FitBar, Line
from .drawing import Drawing, PlainLines, is_terminal
from .notebook import NotebookLines
from .text import duration

B = TypeVar("B", bound=Bar)

QUIET_SECONDS = 0.4  # before anything is drawn
REDRAW_SECONDS = 0.25  # between two drawings
COMPILING = "compiling, once"  # the times that bars show stand still meanwhile

_lock = Lock()
_current: Screen | None = None


class Screen:
    """Bars, and the thread that draws them.

    Parameters
    ----------
    drawing : Drawing, optional
        How bars are drawn. None draws nothing, and costs nothing.
    """

    def __init__(self, drawing: Drawing | None) -> None:
        self.users = 0
        self._drawing = drawing
        self._bars: list[Bar] = []
        self._over = Event()
        self._thread: Thread | None = None
        if drawing is not None:
            self._thread = Thread(target=self._draw, name="hingeline progress", daemon=True)
            self._thread.start()

    @property
    def shows(self) -> bool:
        """Whether anything is drawn."""
        return self._drawing is not None

    @contextmanager
    def showing(self, bar: B) -> Iterator[B]:
        """Show ``bar`` during a ``with`` statement."""
        self.add(bar)
        try:
            yield bar
        finally:
            self.remove(bar)

    def add(self, bar: Bar) -> None:
        """Show ``bar`` below the others from now on."""
        with _lock:
            self._bars.append(bar)

    def remove(self, bar: Bar) -> None:
        """Remove ``bar``."""
        with _lock:
            self._bars.remove(bar)

    def close(self) -> None:
        """Remove everything, and end the thread."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _draw(self) -> None:
        assert self._drawing is not None
        if self._over.wait(QUIET_SECONDS):
            return
        with self._drawing as drawing:
            while True:
                with _lock:
                    bars = list(self._bars)
                lines = [line for bar in bars if (line := bar.line()) is not None]
                if is_compiling():
                    lines.append(Line(COMPILING, None, duration(compile_seconds())))
                drawing.draw(lines)
                if self._over.wait(REDRAW_SECONDS):
                    return


@contextmanager
def open_screen(wanted: Any = True) -> Iterator[Screen]:
    """Yield the screen of the process, or one that shows nothing if it is not ``wanted``."""
    global _current
    if not wanted:
        yield Screen(None)
        return
    with _lock:
        if _current is None:
            _current = Screen(drawing())
        screen = _current
        screen.users += 1
    try:
        yield screen
    finally:
        with _lock:
            screen.users -= 1
            last = screen.users == 0
            if last:
                _current = None
        if last:
            screen.close()


@contextmanager
def fitting(title: str, **goal: Any) -> Iterator[FitBar]:
    """Show a fit: ``with fitting("solve", tol=1e-3) as bar: solve(X, y, tol=1e-3, callback=bar)``."""
    with open_screen() as screen, screen.showing(FitBar(title, **goal)) as bar:
        yield bar


@contextmanager
def counting(title: str, unit: str = "B", wanted: bool = True) -> Iterator[CountBar]:
    """Show how much is read or written: ``with counting("reading") as bar: load_svmlight(path, progress=bar)``."""
    with open_screen(wanted) as screen, screen.showing(CountBar(title, unit)) as bar:
        yield bar


def drawing() -> Drawing | None:
    """Return how bars are drawn here; None in pipes and worker processes, where nobody would see them."""
    if current_process().name != "MainProcess":
        return None
    notebook = in_notebook()
    if not notebook and not is_terminal(sys.stderr):
        return None
    if notebook and (find_spec("rich") is None or find_spec("ipywidgets") is None):
        return NotebookLines()
    if find_spec("rich") is None:
        return PlainLines()
    from .rich_drawing import RichBars

    return RichBars()


def in_notebook() -> bool:
    """Tell whether the process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return any(kind.__name__ == "ZMQInteractiveShell" for kind in type(shell).__mro__)
