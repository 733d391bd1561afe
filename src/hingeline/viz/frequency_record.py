"""Records the selection frequencies of a run, sweep by sweep."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from hingeline.solution import Progress

KINDS = ("free", "bounded", "zero")
EDGES = 2.0 ** np.arange(-7.0, 7.5, 0.5)  # visits per sweep; values beyond are counted in the outermost bins
EACH, GROWTH = 50, 1.02  # the first sweeps are all recorded; then one whenever their number has grown by this factor


class Moment(NamedTuple):
    """The frequencies after a sweep.

    Attributes
    ----------
    sweeps, steps, seconds
        Since the run began.
    histogram : ndarray
        Share of the variables in each bin of ``EDGES``; the sum is below one if variables were left out.
    visits, variables : ndarray
        Share of visits, and of variables, that are free, bounded and zero.
    """

    sweeps: int
    steps: int
    seconds: float
    histogram: np.ndarray
    visits: np.ndarray
    variables: np.ndarray


class FrequencyRecord:
    """A callback that looks at the preferences p of an adaptive engine ("avsf", "hybrid") after each sweep.

    A variable is *free* strictly between its bounds, *zero* if alpha is zero, and *bounded* at another bound. Its
    frequency is p_i over the mean of p: how often the next sweep will visit it, on average; zero if the engine has left
    the variable out. Of a fit with several problems the first one is recorded.

    Attributes
    ----------
    moments : list of Moment
        In order: the first fifty sweeps, then fewer and fewer.
    """

    def __init__(self) -> None:
        self.moments: list[Moment] = []

    def __call__(self, progress: Progress) -> None:
        """Look at a sweep."""
        last = self.moments[-1].sweeps if self.moments else 0
        if progress.problem != 0 or EACH < progress.n_iter < GROWTH * last:
            return
        _, _, alpha, lower, upper, p = progress.look()
        if p is None or alpha is None or not p.any():
            return
        frequency = p * (np.count_nonzero(p) / p.sum())
        kinds = _kinds(alpha, lower, upper)
        visited = np.clip(frequency[frequency > 0.0], EDGES[0], EDGES[-1])
        self.moments.append(
            Moment(
                progress.n_iter,
                progress.n_steps,
                progress.seconds,
                np.histogram(visited, EDGES)[0] / p.size,
                np.bincount(kinds, frequency, len(KINDS)) / frequency.sum(),
                np.bincount(kinds, minlength=len(KINDS)) / p.size,
            )
        )

    @classmethod
    def of(cls, run: Callable[..., Any], *args: Any, **kwargs: Any) -> FrequencyRecord:
        """Return the record of ``run(*args, callback=record, **kwargs)``."""
        record = cls()
        run(*args, callback=record, **kwargs)
        return record


def _kinds(alpha: np.ndarray, lower: Any, upper: Any) -> np.ndarray:
    """Return the index into ``KINDS`` of each variable."""
    kinds = np.zeros(alpha.size, dtype=np.intp)
    kinds[(alpha <= lower) | (alpha >= upper)] = KINDS.index("bounded")
    kinds[alpha == 0.0] = KINDS.index("zero")
    return kinds
