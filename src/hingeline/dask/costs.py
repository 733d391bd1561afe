"""What rounds cost, counted as they happen."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from ..runtime.training_clock import now


@dataclass
class Costs:
    """What rounds have cost so far: seconds that the slowest worker computed, the rest of the time, and bytes."""

    rounds: int = 0
    computing: float = 0.0
    communicating: float = 0.0
    bytes: int = 0
    last: tuple[float, float] = (0.0, 0.0)  # seconds of the last round: computing, and the rest

    def add(self, seconds: float, computing: float, n_bytes: int) -> None:
        """Count a round."""
        self.rounds += 1
        self.last = (computing, max(0.0, seconds - computing))
        self.computing += computing
        self.communicating += self.last[1]
        self.bytes += n_bytes


class Stopwatch:
    """Seconds since it was made: by the clock of training, and those for which that clock stood still."""

    def __init__(self) -> None:
        self._began, self._began_by_clock = perf_counter(), now()

    @property
    def seconds(self) -> float:
        """Seconds by the clock of training."""
        return now() - self._began_by_clock

    @property
    def compiled(self) -> float:
        """Seconds for which kernels were compiled or loaded in this process."""
        return perf_counter() - self._began - self.seconds
