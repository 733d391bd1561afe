"""How long until the stop rule holds: the trend of a run, extrapolated, and the budget that it decides."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf, log
from statistics import fmean

FEWEST = 4  # sweeps that show a trend
HOPELESS = 10.0  # times what a phase was given: it has no end in sight, whatever the one before it had


@dataclass
class Trend:
    """What each sweep has seen: steps so far, and the criterion as a multiple of what is asked for."""

    steps: list[float] = field(default_factory=list)
    logs: list[float] = field(default_factory=list)

    def add(self, steps: float, multiple: float) -> None:
        """Take a sweep down."""
        if 0.0 < multiple < inf:
            self.steps.append(steps)
            self.logs.append(log(multiple))

    def steps_left(self) -> float:
        """Return the steps until the multiple is one, if it goes on falling as in the later half of the sweeps.

        Convergence is linear in the end and faster before, so early answers are too small rather than too large.
        """
        n = len(self.logs)
        if n < FEWEST:
            return inf
        middle = n - n // 4 if n >= 2 * FEWEST else n - n // 2
        before, after = slice(n // 2 if n >= 2 * FEWEST else 0, middle), slice(middle, n)
        fallen = fmean(self.logs[before]) - fmean(self.logs[after])
        if fallen <= 0.0:
            return inf
        taken = fmean(self.steps[after]) - fmean(self.steps[before])
        return max(0.0, fmean(self.logs[after]) * taken / fallen - (self.steps[-1] - fmean(self.steps[after])))


@dataclass
class Budget:
    """The steps of a phase that another one may follow.

    Every ``review`` steps the trend is asked; where it promises the end for less than ``rival`` steps, which is what
    the next phase would cost, this one goes on, but not beyond ``most``.
    """

    review: float = inf
    rival: float = inf
    most: float = inf

    def after(self, left: float) -> Budget:
        """Return the budget where the phase before would have taken ``left`` more steps: that is not to be undercut."""
        left = min(left, HOPELESS * self.most)
        return Budget(max(self.review, left), self.rival, max(self.most, left))

    def __post_init__(self) -> None:
        self._next_review = self.review
        self.trend = Trend()

    def is_spent(self, steps: float) -> bool:
        """Tell whether the next phase is to take over after so many steps."""
        if steps < self._next_review:
            return False
        self._next_review = steps + self.review
        return steps >= self.most or self.trend.steps_left() > self.rival
