"""What rounds cost, counted as they happen."""

from __future__ import annotations

from dataclasses import dataclass


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
