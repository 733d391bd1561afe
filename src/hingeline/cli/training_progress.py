"""The progress of a training: a bar for each problem that is being solved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hingeline.progress import FitBar, Screen

if TYPE_CHECKING:
    from hingeline.liblinear.settings import Settings
    from hingeline.solution import Progress


class ProgressBars:
    """Shows each problem on ``screen`` from its first sweep to its end."""

    def __init__(self, screen: Screen, settings: Settings) -> None:
        self._screen, self._settings = screen, settings
        self._bars: dict[int, FitBar] = {}

    def report(self, k: int, progress: Progress | None) -> None:
        """Show the progress of problem ``k``; None: it is solved."""
        if progress is None:
            if k in self._bars:
                self._screen.remove(self._bars.pop(k))
            return
        if k not in self._bars:
            limits = self._settings
            self._bars[k] = FitBar(f"problem {k + 1}", gap_tol=limits.gap, max_time=limits.max_time)
            self._screen.add(self._bars[k])
        self._bars[k](progress)
