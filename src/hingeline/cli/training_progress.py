"""The progress of a training: a bar for each problem that is being solved, and one over all classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hingeline.progress import FitBar, Screen, StepsBar

if TYPE_CHECKING:
    import numpy as np

    from hingeline.liblinear.settings import Settings
    from hingeline.solution import Progress


class ProgressBars:
    """Shows each problem on ``screen`` from its first sweep to its end; ``titles`` has a name for each of them."""

    def __init__(self, screen: Screen, settings: Settings, titles: list[str]) -> None:
        self._screen, self._settings, self._titles = screen, settings, titles
        self._bars: dict[int, FitBar] = {}
        self._all = StepsBar("training", len(titles), "classes") if len(titles) > 1 else None
        if self._all is not None:
            screen.add(self._all)

    def report(self, k: int, progress: Progress | None) -> None:
        """Show the progress of problem ``k``; None: it is solved."""
        if progress is None:
            if k in self._bars:
                self._screen.remove(self._bars.pop(k))
            if self._all is not None:
                self._all.advance()
            return
        if k not in self._bars:
            limits = self._settings
            self._bars[k] = FitBar(self._titles[k], gap_tol=limits.gap, max_time=limits.max_time)
            self._screen.add(self._bars[k])
        self._bars[k](progress)


def titles_of(labels: tuple[int, ...] | None, settings: Settings) -> list[str]:
    """Return a name for each problem of a training: classes by number and label, anything else by what is done."""
    if labels is None or len(labels) == 2 or settings.solver_type.task != "one_versus_rest":
        return ["training"]
    return [f"class {k + 1} of {len(labels)} (label {label})" for k, label in enumerate(labels)]


def bars_for(screen: Screen, y: np.ndarray, settings: Settings) -> ProgressBars:
    """Return the bars of a training on the labels ``y``."""
    from hingeline.liblinear.labels import ordered_labels

    labels = ordered_labels(y)[0] if settings.solver_type.is_classifier else None
    return ProgressBars(screen, settings, titles_of(labels, settings))
