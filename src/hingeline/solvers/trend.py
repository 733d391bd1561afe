"""How long until the stop rule is met: the trend of a run, extrapolated, and the budget that depends on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, log
from statistics import fmean

FEWEST = 4  # sweeps that show a trend
TOLD = 2  # sweeps after which the objective tells whether rows can be separated
MOST = 4096  # sweeps that are remembered; then every second one is forgotten
OPTIMISM = 6.0  # a phase really takes this many times what its trend promises: median of 14 problems (1 to 80)
HOPELESS = 10.0  # most multiples of its budget that a phase gets, even if the previous one's trend shows no end


class Trend:
    """What each sweep has seen: steps so far, and the criterion as a multiple of the tolerance."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._steps: list[float] = []
        self._logs: list[float] = []

    def add(self, steps: float, multiple: float) -> None:
        """Add a sweep; one that tells nothing (0, infinity, NaN) is left out."""
        if 0.0 < multiple < inf:
            self._steps.append(steps)
            self._logs.append(log(multiple))
            if len(self._logs) > self._most:
                del self._logs[::2], self._steps[::2]

    def __len__(self) -> int:
        """Return how many sweeps are remembered."""
        return len(self._logs)

    def steps_left(self) -> float:
        """Return the steps until the multiple is one, if it keeps falling as in the later half of the sweeps.

        Convergence is faster at first and linear in the end, so early answers are too small rather than too large.
        """
        steps, logs = self._steps, self._logs
        n = len(logs)
        if n < FEWEST:
            return inf
        middle = n - n // 4 if n >= 2 * FEWEST else n - n // 2
        before, after = slice(n // 2 if n >= 2 * FEWEST else 0, middle), slice(middle, n)
        fallen = fmean(logs[before]) - fmean(logs[after])
        if fallen <= 0.0:
            return inf
        taken = fmean(steps[after]) - fmean(steps[before])
        return max(0.0, fmean(logs[after]) * taken / fallen - (steps[-1] - fmean(steps[after])))


@dataclass(frozen=True)
class Budget:
    """The budget of a phase, in steps, before the next one takes over.

    Every ``review`` steps the trend is reviewed: the phase goes on while the trend promises the end within ``rival``
    steps, the cost of the next phase, but not beyond ``most``. Conjugate gradients also end after an iteration that has
    taken as many ``products``, and sweeps if the objective is still ``hopeless`` after the second one.
    """

    review: float = inf
    rival: float = inf
    most: float = inf
    products: float = inf
    hopeless: float = inf

    def after(self, left: float) -> Budget:
        """Return the budget of a phase that takes over from one whose trend promised the end after ``left`` steps.

        It lasts at least as long as the other phase would really have taken: giving up earlier gains nothing.
        """
        left = min(OPTIMISM * left, HOPELESS * self.most)
        return replace(self, review=max(self.review, left), most=max(self.most, left))


class Account:
    """What a phase spends of its budget, and the trend that decides whether it may go on."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.trend = Trend()
        self._next_review, self._objectives = budget.review, list[float]()

    def see(self, objective: float) -> None:
        """Remember the objective of a sweep, as far as the first ones matter."""
        if len(self._objectives) < TOLD:
            self._objectives.append(objective)

    def is_spent(self, steps: float) -> bool:
        """Tell whether the next phase takes over after this many steps."""
        if len(self._objectives) == TOLD and self._objectives[-1] > self.budget.hopeless:
            return True
        if steps < self._next_review:
            return False
        self._next_review = steps + self.budget.review
        return steps >= self.budget.most or self.trend.steps_left() > self.budget.rival
