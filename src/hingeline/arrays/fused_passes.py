"""The passes over what has one entry per row, each in one kernel, for arrays of PyTorch's on CUDA.

Triton compiles them when they first run, once per kind of loss, and keeps them on disk. Numbers come in an array of
float64 (``NUMBERS``), since Triton takes plain ones for float32. Arrays may have several rows, one per problem: the
second axis of a grid counts problems (fused_many.py).

The step along a line is found on the device: the derivatives at a ladder of steps, a bracket of the minimum, a finer
ladder within it, and once more. The coordinator receives the step, the slope that is left there, and the responses.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from ..kernels.losses import Logistic, SquaredEpsilonInsensitive
from ..kernels.types import Vector
from ..solvers.shards.line import Line
from .fused_losses import KINDS, certified, primal, proximal, unsettled, weights
from .passes import Found, Passes, Vectors
from .problem import ArrayProblem

BLOCK = 512  # rows that a program holds at a time
PROGRAMS, FEW_PROGRAMS = 8, 4  # per multiprocessor; few, if another kernel adds up what they have summed
LADDER_BLOCK, LADDER_WARPS = 256, 8
NUMBERS = 5  # tau, 1/(2 delta), the box in units of C, epsilon; taus may follow
LADDER = (1.0, 0.5, 0.25, 0.125, 2**-4, 2**-5, 2**-7, 2**-10, 0.75, 0.875, 1.25, 1.5, 2.0, 4.0, 16.0, 64.0)
ROUNDS, BRACKET = 3, 6
INFINITE = tl.constexpr(float("inf"))


@triton.jit
def respond_kernel(  # type: ignore[no-untyped-def]
    C_all, s_all, m_all, t_all, abar_all, alpha_all, counted_all, numbers, m_new, alpha_new, band_new, change, sums,
    n, n_numbers, s_stride, MANY: tl.constexpr,
    ONE_C: tl.constexpr, ONE_SIGN: tl.constexpr, AFRESH: tl.constexpr, KIND: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Row p of ``sums``: the responses of the rows that program p sees."""
    problem = 0
    if MANY:  # for one problem, Triton should know that arrays are aligned
        problem = tl.program_id(1).to(tl.int64)
    numbers += problem * n_numbers
    tau, inverse = tl.load(numbers), tl.load(numbers + 1)
    low, high, eps = tl.load(numbers + 2), tl.load(numbers + 3), tl.load(numbers + 4)
    program = tl.program_id(0)
    violation = tl.zeros([BLOCK], dtype=tl.float64)
    size = tl.zeros([BLOCK], dtype=tl.float64)
    moved = tl.zeros([BLOCK], dtype=tl.float64)
    losses = tl.zeros([BLOCK], dtype=tl.float64)
    gap = tl.zeros([BLOCK], dtype=tl.float64)
    total = tl.zeros([BLOCK], dtype=tl.float64)
    for first in range(program * BLOCK, n, tl.num_programs(0) * BLOCK):
        row = first + tl.arange(0, BLOCK)
        inside, i = row < n, problem * n + row
        C = weights(C_all, i, inside, ONE_C)
        m = tl.load(m_all + i, mask=inside, other=0.0) - tau * tl.load(t_all + i, mask=inside, other=0.0)
        abar = tl.load(abar_all + i, mask=inside, other=0.0)
        before = 0.0 * m if MANY else tl.load(alpha_all + i, mask=inside, other=0.0)
        a, band = proximal(m, abar, C, inverse, low, high, eps, KIND)
        a = tl.where(C > 0.0, a, before)
        apart, term = unsettled(m, a, C, low, high, eps, KIND)
        violation = tl.maximum(violation, apart)
        gap += term
        losses += primal(m, C, low, high, eps, KIND)
        size += tl.where(band > 0.0, 1.0, 0.0)
        moved += tl.where(band != tl.load(counted_all + i, mask=inside, other=0.0), 1.0, 0.0)
        total += band
        moves = a if AFRESH else a - before
        moves *= weights(s_all, problem * s_stride + row, inside, ONE_SIGN)
        tl.store(m_new + i, m, mask=inside)
        tl.store(alpha_new + i, a, mask=inside)
        tl.store(band_new + i, band, mask=inside)
        tl.store(change + i, moves, mask=inside)
    sums += (problem * tl.num_programs(0) + program) * 6
    tl.store(sums, tl.max(violation, axis=0))
    tl.store(sums + 1, tl.sum(size, axis=0))
    tl.store(sums + 2, tl.sum(moved, axis=0))
    tl.store(sums + 3, tl.sum(losses, axis=0))
    tl.store(sums + 4, tl.sum(gap, axis=0))
    tl.store(sums + 5, tl.sum(total, axis=0))


@triton.jit
def _certify(  # type: ignore[no-untyped-def]
    C_all, m_all, alpha_all, numbers, sums, n, ONE_C: tl.constexpr, KIND: tl.constexpr, BLOCK: tl.constexpr
):
    """Row p of ``sums``: largest violation, losses and gap terms of the rows that program p sees."""
    low, high, eps = tl.load(numbers + 2), tl.load(numbers + 3), tl.load(numbers + 4)
    program = tl.program_id(0)
    violation = tl.zeros([BLOCK], dtype=tl.float64)
    losses = tl.zeros([BLOCK], dtype=tl.float64)
    gap = tl.zeros([BLOCK], dtype=tl.float64)
    for first in range(program * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = first + tl.arange(0, BLOCK)
        inside = i < n
        C = weights(C_all, i, inside, ONE_C)
        m = tl.load(m_all + i, mask=inside, other=0.0)
        alpha = tl.load(alpha_all + i, mask=inside, other=0.0)
        apart, term = certified(m, alpha, C, low, high, eps, KIND)
        violation = tl.where((apart > violation) | (apart != apart), apart, violation)  # a NaN stays
        gap += term
        losses += primal(m, C, low, high, eps, KIND)
    tl.store(sums + program * 3, tl.max(violation, axis=0))
    tl.store(sums + program * 3 + 1, tl.sum(losses, axis=0))
    tl.store(sums + program * 3 + 2, tl.sum(gap, axis=0))


@triton.jit
def derivatives_kernel(  # type: ignore[no-untyped-def]
    C_all, m_all, t_all, abar_all, numbers, taus, sums, n, n_numbers,
    MANY: tl.constexpr, ONE_C: tl.constexpr, KIND: tl.constexpr, TAUS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Row p of ``sums``: slopes at all taus, then curvatures, of the rows that program p sees."""
    problem = 0
    if MANY:
        problem = tl.program_id(1).to(tl.int64)
    numbers += problem * n_numbers
    taus += problem * n_numbers
    inverse, low, high, eps = tl.load(numbers + 1), tl.load(numbers + 2), tl.load(numbers + 3), tl.load(numbers + 4)
    k = tl.arange(0, TAUS)
    tau = tl.load(taus + k)[:, None]
    program = tl.program_id(0)
    slopes = tl.zeros([TAUS, BLOCK], dtype=tl.float64)
    curvatures = tl.zeros([TAUS, BLOCK], dtype=tl.float64)
    for first in range(program * BLOCK, n, tl.num_programs(0) * BLOCK):
        row = first + tl.arange(0, BLOCK)
        inside, i = row < n, problem * n + row
        C = weights(C_all, i, inside, ONE_C)
        t = tl.load(t_all + i, mask=inside, other=0.0)[None, :]
        m = tl.load(m_all + i, mask=inside, other=0.0)[None, :] - tau * t
        abar = tl.load(abar_all + i, mask=inside, other=0.0)[None, :] + 0.0 * m
        a, band = proximal(m, abar, C[None, :] + 0.0 * m, inverse, low, high, eps, KIND)
        slopes -= a * t
        curvatures += band * (t * t)
    sums += (problem * tl.num_programs(0) + program) * 2 * TAUS
    tl.store(sums + k, tl.sum(slopes, axis=1))
    tl.store(sums + TAUS + k, tl.sum(curvatures, axis=1))


@triton.jit
def narrow_kernel(  # type: ignore[no-untyped-def]
    numbers, taus, line, bracket, sums, n_sums, n_numbers, TAUS: tl.constexpr, ROWS: tl.constexpr
):
    """From the sums at all taus to the bracket of the minimum, the best step so far, and finer taus.

    ``line``: slope at 0, <w, p>, <p, p>, accuracy. ``bracket``: low and high with the slopes there; the best step, and
    how steep it is there.
    """
    problem = tl.program_id(0).to(tl.int64)
    numbers += problem * n_numbers
    taus += problem * n_numbers
    line += problem * n_numbers
    bracket += problem * n_numbers
    sums += problem * n_sums * 2 * TAUS
    slope, wp, pp, accuracy = tl.load(line), tl.load(line + 1), tl.load(line + 2), tl.load(line + 3)
    low, f_low, high, f_high = tl.load(bracket), tl.load(bracket + 1), tl.load(bracket + 2), tl.load(bracket + 3)
    best, left = tl.load(bracket + 4), tl.load(bracket + 5)
    k = tl.arange(0, TAUS)
    f = tl.zeros([TAUS], dtype=tl.float64)
    for row in range(0, n_sums, ROWS):
        r = row + tl.arange(0, ROWS)
        f += tl.sum(tl.load(sums + r[:, None] * 2 * TAUS + k[None, :], mask=(r < n_sums)[:, None], other=0.0), axis=0)
    tau = tl.load(taus + k)
    f += wp + tau * pp
    steep = tl.abs(f)
    least = tl.min(steep, axis=0)
    better = (least < left) & (left > accuracy * tl.abs(slope))
    best = tl.where(better, tl.max(tl.where(steep == least, tau, 0.0), axis=0), best)
    left = tl.where(better, least, left)
    lower = tl.max(tl.where((f < 0.0) & (tau < high), tau, low), axis=0)
    f_low = tl.where(lower > low, tl.max(tl.where((f < 0.0) & (tau == lower), f, -INFINITE), axis=0), f_low)
    higher = tl.min(tl.where((f >= 0.0) & (tau > lower), tau, high), axis=0)
    f_high = tl.where(higher < high, tl.min(tl.where((f >= 0.0) & (tau == higher), f, INFINITE), axis=0), f_high)
    width = higher - lower
    j = (k // 2).to(tl.float64)
    spread = lower + width * (j + 1.0) / (TAUS // 2 + 1.0)
    secant = lower + width * (f_low / (f_low - f_high))
    around = tl.where(k == TAUS - 1, 0.0, tl.exp2(-2.0 - 2.0 * tl.floor(0.5 * j)))
    around = secant + tl.where((k // 2) % 2 == 0, width * around, -width * around)
    finer = tl.where(k % 2 == 0, spread, tl.minimum(tl.maximum(around, lower), higher))
    longer = lower * tl.exp2(k.to(tl.float64) + 1.0)
    tl.store(taus + k, tl.where(higher < INFINITE, finer, longer))
    tl.store(bracket, lower)
    tl.store(bracket + 1, f_low)
    tl.store(bracket + 2, higher)
    tl.store(bracket + 3, f_high)
    tl.store(bracket + 4, best)
    tl.store(bracket + 5, left)
    tl.store(numbers, best)


def processors(device: Any) -> int:
    """Return how many multiprocessors a device has."""
    return torch.cuda.get_device_properties(device).multi_processor_count


def room_for_sums(device: Any, n_problems: int, n: int, block: int, programs: int, *shape: int) -> Any:
    """Return an array for the sums of programs over blocks of n rows: one row per program, for each problem."""
    each = max(1, min(triton.cdiv(programs, n_problems), triton.cdiv(n, block)))
    return torch.empty((n_problems, each, *shape), dtype=torch.float64, device=device)


class FusedPasses(Passes):
    """The passes of one problem on CUDA."""

    can_search = True

    def __init__(self, problem: ArrayProblem) -> None:
        super().__init__(problem)
        self._place, self._kind = problem.place, KINDS[type(problem.loss)]
        low, high = (float(bound[0]) for bound in problem.verbs.bounds(problem.place.full((1,), 1.0)))
        self._box = (low, high, getattr(problem.loss, "epsilon", 0.0))
        self._certifies = not isinstance(problem.loss, Logistic | SquaredEpsilonInsensitive)
        self._processors = processors(problem.place.device)

    def _sums(self, n: int, block: int, per_processor: int, *shape: int) -> Any:
        """Return an array for the sums of programs, one row per program."""
        return room_for_sums(self._place.device, 1, n, block, per_processor * self._processors, *shape)[0]

    def _numbers(self, tau: float, delta: float, *more: float) -> Any:
        return self._place.put([tau, 0.5 / (delta or 1.0), *self._box, *more])

    def respond(self, vectors: Vectors, tau: float, delta: float, afresh: bool) -> Found:  # noqa: D102
        return self._responses(vectors, self._numbers(tau, delta), afresh)

    def _responses(self, vectors: Vectors, numbers: Any, afresh: bool) -> Found:
        C, s, m = vectors[:3]
        new: list[Any] = [torch.empty_like(m) for _ in range(4)]
        sums = self._sums(m.shape[0], BLOCK, PROGRAMS, 6)
        flags = {"MANY": False, "ONE_C": C.shape[0] == 1, "ONE_SIGN": s.shape[0] == 1, "AFRESH": afresh}
        arrays = (*vectors, numbers, *new, sums, m.shape[0], 0, 0)
        respond_kernel[(sums.shape[0], 1)](*arrays, **flags, KIND=self._kind, BLOCK=BLOCK)
        new.append(torch.cat([sums[:, :1].amax(0), sums[:, 1:].sum(0)]))
        return Found(*new)

    def _at(self, vectors: Vectors, numbers: Any, taus: Any, sums: Any) -> None:
        """Sum up the derivatives at ``taus``."""
        flags = {"MANY": False, "ONE_C": vectors.C.shape[0] == 1, "KIND": self._kind, "TAUS": taus.shape[0]}
        arrays = (vectors.C, vectors.m, vectors.t, vectors.abar, numbers, taus, sums, vectors.m.shape[0], 0)
        derivatives_kernel[(sums.shape[0], 1)](*arrays, **flags, BLOCK=LADDER_BLOCK, num_warps=LADDER_WARPS)

    def derivatives(self, vectors: Vectors, taus: Vector, delta: float, scale: float) -> Any:  # noqa: D102
        n, count = vectors.m.shape[0], triton.next_power_of_2(taus.size)
        numbers = self._numbers(0.0, delta, *taus.tolist(), *[0.0] * (count - taus.size))
        sums = self._sums(n, LADDER_BLOCK, FEW_PROGRAMS, 2, count)
        self._at(vectors, numbers, numbers[NUMBERS:], sums)
        first, second = sums.sum(0)
        return torch.stack([first, scale * second], dim=1)[: taus.size]

    def search(  # noqa: D102
        self, vectors: Vectors, line: Line, delta: float, afresh: bool, known: Any = None
    ) -> tuple[Any, Found, Any]:
        if known is None:
            nothing, infinite = 0.0, float("inf")
            bracket = (nothing, line.slope, infinite, infinite, nothing, infinite)
            known = self._numbers(nothing, delta, *LADDER, *line, *bracket)
        numbers, taus, line_there, bracket_there = known.split([NUMBERS, len(LADDER), len(line), BRACKET])
        sums = self._sums(vectors.m.shape[0], LADDER_BLOCK, FEW_PROGRAMS, 2, len(LADDER))
        for _ in range(ROUNDS):
            self._at(vectors, numbers, taus, sums)
            arrays = (numbers, taus, line_there, bracket_there, sums, sums.shape[0], 0)
            narrow_kernel[(1,)](*arrays, TAUS=len(LADDER), ROWS=64)
        return bracket_there[4:], self._responses(vectors, numbers, afresh), known

    def certify(self, C: Any, m: Any, alpha: Any) -> Any:  # noqa: D102
        if not self._certifies:
            return super().certify(C, m, alpha)
        n = m.shape[0]
        sums = self._sums(n, BLOCK, PROGRAMS, 3)
        flags = {"ONE_C": C.shape[0] == 1, "KIND": self._kind, "BLOCK": BLOCK}
        _certify[(sums.shape[0],)](C, m, alpha, self._numbers(0.0, 0.0), sums, n, **flags)
        return torch.cat([sums[:, :1].amax(0), sums[:, 1:].sum(0)])
