"""The passes of several problems over the same rows, by the kernels of fused_passes.py: a row of the grid for each."""

from __future__ import annotations

from typing import Any

import torch

from ..kernels.losses import Loss
from .fused_losses import KINDS
from .fused_passes import (
    BLOCK,
    BRACKET,
    FEW_PROGRAMS,
    LADDER,
    LADDER_BLOCK,
    LADDER_WARPS,
    NUMBERS,
    PROGRAMS,
    ROUNDS,
    derivatives_kernel,
    narrow_kernel,
    processors,
    respond_kernel,
    room_for_sums,
)
from .many import Lines, ManyFound, ManyPasses, ManyVectors
from .namespace import Place

LINE = 4  # numbers of a line


class FusedManyPasses(ManyPasses):
    """The passes of several problems on CUDA."""

    def __init__(self, loss: Loss, place: Place) -> None:
        super().__init__(loss, place)
        low, high = (float(bound[0]) for bound in self.verbs.bounds(place.full((1,), 1.0)))
        self._box, self._kind = (low, high, getattr(loss, "epsilon", 0.0)), KINDS[type(loss)]
        self._processors = processors(place.device)
        self._sent: dict[tuple[float, ...], Any] = {}  # numbers that are on the device already

    def _numbers(self, tau: Any, delta: Any, *more: float) -> Any:
        """Return the numbers of each problem, a row for each."""
        if more not in self._sent:
            self._sent[more] = self._place.put([[0.0, 0.0, *self._box, *more]])
        numbers = self._sent[more].repeat(delta.shape[0], 1)
        numbers[:, 0] = tau
        numbers[:, 1] = 0.5 / delta
        return numbers

    def respond(self, at: ManyVectors, tau: Any, delta: Any) -> ManyFound:  # noqa: D102
        C, s, m, t, abar = (part.contiguous() for part in at)
        n_problems, n = m.shape
        numbers = self._numbers(tau, delta)
        new: list[Any] = [torch.empty_like(m) for _ in range(4)]
        sums = room_for_sums(m.device, n_problems, n, BLOCK, PROGRAMS * self._processors, 6)
        flags = {"MANY": True, "ONE_C": False, "ONE_SIGN": s.numel() == 1, "AFRESH": True, "KIND": self._kind}
        s_stride = n if s.shape[0] == n_problems else 0
        arrays = (C, s, m, t, abar, m, m, numbers, *new, sums, n, numbers.shape[1], s_stride)
        respond_kernel[(sums.shape[1], n_problems)](*arrays, **flags, BLOCK=BLOCK)
        total = torch.stack([sums[:, :, 0].amax(1), *(sums[:, :, k].sum(1) for k in (3, 4, 5))], dim=1)
        return ManyFound(new[0], new[1], new[2], new[3], total)

    def search(self, at: ManyVectors, lines: Lines, delta: Any) -> Any:  # noqa: D102
        C, _, m, t, abar = (part.contiguous() for part in at)
        n_problems, n = m.shape
        infinite = float("inf")
        bracket = (0.0, 0.0, infinite, infinite, 0.0, infinite)
        numbers = self._numbers(0.0, delta, *LADDER, *(0.0,) * (LINE - 1), lines.accuracy, *bracket)
        first = NUMBERS + len(LADDER)
        for k, of_lines in enumerate((lines.slope, lines.wp, lines.pp)):
            numbers[:, first + k] = of_lines
        numbers[:, first + LINE + 1] = lines.slope
        parts = (numbers[:, NUMBERS:], numbers[:, first:], numbers[:, first + LINE :])
        taus, line, bracket_there = parts
        size = numbers.shape[1]
        assert size == first + LINE + BRACKET
        programs = FEW_PROGRAMS * self._processors
        sums = room_for_sums(m.device, n_problems, n, LADDER_BLOCK, programs, 2, len(LADDER))
        flags = {"MANY": True, "ONE_C": False, "KIND": self._kind, "TAUS": len(LADDER), "BLOCK": LADDER_BLOCK}
        for _ in range(ROUNDS):
            arrays = (C, m, t, abar, numbers, taus, sums, n, size)
            derivatives_kernel[(sums.shape[1], n_problems)](*arrays, **flags, num_warps=LADDER_WARPS)
            where = (numbers, taus, line, bracket_there, sums, sums.shape[1], size)
            narrow_kernel[(n_problems,)](*where, TAUS=len(LADDER), ROWS=64)
        return numbers[:, 0].clone()
