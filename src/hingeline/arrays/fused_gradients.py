"""Conjugate gradients for arrays of PyTorch's on CUDA: four kernels besides the two products with X.

Each kernel sums up what the next one needs, one number per program; the next one adds these up again in every program.
A graph of CUDA's replays some products at a time, so that the host launches once for all of them.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from ..kernels.types import Vector
from .fused_passes import processors, room_for_sums
from .gradients import ASKED_EVERY, MOST_PRODUCTS, Gradients
from .rows import ArrayRows

BLOCK = 512
PROGRAMS = 2  # per multiprocessor
DOTS = 2  # <R, Z> and <R, R>


@triton.jit
def _total(sums, n, step, PARTS: tl.constexpr):  # type: ignore[no-untyped-def]
    """What all programs have summed."""
    k = tl.arange(0, PARTS)
    return tl.sum(tl.load(sums + k * step, mask=k < n, other=0.0), axis=0)


@triton.jit
def _product(V, d, j, n, inside, constant, FREE: tl.constexpr):  # type: ignore[no-untyped-def]
    """Entries j of the Hessian times d; ``V`` has what the rows contribute, except for the constant feature."""
    own = tl.load(d + j, mask=inside, other=0.0)
    of_rows = tl.where(j == n - 1, constant, tl.load(V, mask=j < n - 1, other=0.0))
    if FREE:
        return own, of_rows + tl.where(j < n - 1, own, 0.0)
    else:
        return own, of_rows + own


@triton.jit
def _begin(  # type: ignore[no-untyped-def]
    R_given, D, P, R, d, dots, n, BLOCK: tl.constexpr
):
    """Begin at P = 0."""
    problem, program = tl.program_id(1).to(tl.int64), tl.program_id(0)
    rz = tl.zeros([BLOCK], dtype=tl.float64)
    rr = tl.zeros([BLOCK], dtype=tl.float64)
    for first in range(program * BLOCK, n, tl.num_programs(0) * BLOCK):
        j = first + tl.arange(0, BLOCK)
        inside, at = j < n, problem * n + j
        r = tl.load(R_given + at, mask=inside, other=0.0)
        z = r / tl.load(D + at, mask=inside, other=1.0)
        rz += r * z
        rr += r * r
        tl.store(P + at, 0.0 * r, mask=inside)
        tl.store(R + at, r, mask=inside)
        tl.store(d + at, -z, mask=inside)
    dots += (problem * tl.num_programs(0) + program) * 2
    tl.store(dots, tl.sum(rz, axis=0))
    tl.store(dots + 1, tl.sum(rr, axis=0))


@triton.jit
def _weigh(  # type: ignore[no-untyped-def]
    T, S, d, bias, U, sums, n, n_weights, stride_problem, stride_row, BLOCK: tl.constexpr
):
    """U = S (T + bias d), with the last entry of d, and its sum."""
    problem, program = tl.program_id(1).to(tl.int64), tl.program_id(0)
    constant = tl.load(bias) * tl.load(d + problem * n_weights + n_weights - 1)
    total = tl.zeros([BLOCK], dtype=tl.float64)
    for first in range(program * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = first + tl.arange(0, BLOCK)
        t = tl.load(T + problem * stride_problem + i.to(tl.int64) * stride_row, mask=i < n, other=0.0)
        u = tl.load(S + problem * n + i, mask=i < n, other=0.0) * (t + constant)
        tl.store(U + problem * n + i, u, mask=i < n)
        total += u
    tl.store(sums + problem * tl.num_programs(0) + program, tl.sum(total, axis=0))


@triton.jit
def _curve(  # type: ignore[no-untyped-def]
    V, d, bias, of_rows, sums, n, n_of_rows, stride_problem, stride_weight,
    FREE: tl.constexpr, ROW_PARTS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Sum up the curvature along d."""
    problem, program = tl.program_id(1).to(tl.int64), tl.program_id(0)
    constant = tl.load(bias) * _total(of_rows + problem * n_of_rows, n_of_rows, 1, ROW_PARTS)
    total = tl.zeros([BLOCK], dtype=tl.float64)
    for first in range(program * BLOCK, n, tl.num_programs(0) * BLOCK):
        j = first + tl.arange(0, BLOCK)
        place = V + problem * stride_problem + j.to(tl.int64) * stride_weight
        own, product = _product(place, d + problem * n, j, n, j < n, constant, FREE)
        total += own * product
    tl.store(sums + problem * tl.num_programs(0) + program, tl.sum(total, axis=0))


@triton.jit
def _advance(  # type: ignore[no-untyped-def]
    V, d, D, P, R, bias, enough, of_rows, curvatures, dots, new_dots, moved,
    n, n_of_rows, stride_problem, stride_weight,
    FREE: tl.constexpr, ROW_PARTS: tl.constexpr, PARTS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Go along d to the minimum, unless the problem is done."""
    problem, program, programs = tl.program_id(1).to(tl.int64), tl.program_id(0), tl.num_programs(0)
    constant = tl.load(bias) * _total(of_rows + problem * n_of_rows, n_of_rows, 1, ROW_PARTS)
    curvature = _total(curvatures + problem * programs, programs, 1, PARTS)
    dots += problem * programs * 2
    new_dots += problem * programs * 2
    rz, rr = _total(dots, programs, 2, PARTS), _total(dots + 1, programs, 2, PARTS)
    moves = (rr > tl.load(enough + problem)) & (curvature > 0.0) & (rz > 0.0)
    step = tl.where(moves, rz / tl.where(moves, curvature, 1.0), 0.0)
    rz_new = tl.zeros([BLOCK], dtype=tl.float64)
    rr_new = tl.zeros([BLOCK], dtype=tl.float64)
    if moves:
        for first in range(program * BLOCK, n, programs * BLOCK):
            j = first + tl.arange(0, BLOCK)
            inside, at = j < n, problem * n + j
            place = V + problem * stride_problem + j.to(tl.int64) * stride_weight
            own, product = _product(place, d + problem * n, j, n, inside, constant, FREE)
            r = tl.load(R + at, mask=inside, other=0.0) + step * product
            tl.store(P + at, tl.load(P + at, mask=inside, other=0.0) + step * own, mask=inside)
            tl.store(R + at, r, mask=inside)
            rz_new += r * (r / tl.load(D + at, mask=inside, other=1.0))
            rr_new += r * r
    tl.store(new_dots + program * 2, tl.where(moves, tl.sum(rz_new, axis=0), tl.load(dots + program * 2)))
    tl.store(new_dots + program * 2 + 1, tl.where(moves, tl.sum(rr_new, axis=0), tl.load(dots + program * 2 + 1)))
    if program == 0:
        tl.store(moved + problem, tl.where(moves, 1.0, 0.0))


@triton.jit
def _turn(  # type: ignore[no-untyped-def]
    R, D, d, enough, dots, new_dots, moved, moving, n, PARTS: tl.constexpr, BLOCK: tl.constexpr
):
    """Find the next d, and tell whether there is anything left to do."""
    problem, program, programs = tl.program_id(1).to(tl.int64), tl.program_id(0), tl.num_programs(0)
    has_moved = tl.load(moved + problem) > 0.0
    new_dots += problem * programs * 2
    rz = _total(dots + problem * programs * 2, programs, 2, PARTS)
    rz_new, rr_new = _total(new_dots, programs, 2, PARTS), _total(new_dots + 1, programs, 2, PARTS)
    if has_moved:
        ratio = rz_new / rz
        for first in range(program * BLOCK, n, programs * BLOCK):
            j = first + tl.arange(0, BLOCK)
            inside, at = j < n, problem * n + j
            z = tl.load(R + at, mask=inside, other=0.0) / tl.load(D + at, mask=inside, other=1.0)
            tl.store(d + at, ratio * tl.load(d + at, mask=inside, other=0.0) - z, mask=inside)
    if program == 0:
        goes_on = has_moved & (rr_new > tl.load(enough + problem)) & (rz_new > 0.0)
        tl.store(moving + problem, tl.where(goes_on, 1.0, 0.0))


class _Room:
    """Arrays for so many problems, and the graph of some products within them."""

    def __init__(self, rows: ArrayRows, n_problems: int, free: bool) -> None:
        self._rows, device = rows, rows.place.device
        self._flags: dict[str, Any] = {"FREE": free, "BLOCK": BLOCK}
        n, n_weights, programs = rows.n_rows, rows.n_features + 1, PROGRAMS * processors(device)
        self._n, self._n_weights, self._bias = n, n_weights, rows.place.put([rows.bias])

        def new(*shape: int) -> Any:
            return torch.empty(shape, dtype=torch.float64, device=device)

        self.S, self._U = new(n_problems, n), new(n_problems, n)
        self.P, self._R, self._d, self.D = (new(n_problems, n_weights) for _ in range(4))
        self.enough, self._moved, self.moving = new(n_problems), new(n_problems), new(n_problems)
        self._of_rows = room_for_sums(device, n_problems, n, BLOCK, programs, 1)
        self._curvatures = room_for_sums(device, n_problems, n_weights, BLOCK, programs, 1)
        self._dots = [room_for_sums(device, n_problems, n_weights, BLOCK, programs, DOTS) for _ in range(2)]
        self._row_grid = (self._of_rows.shape[1], n_problems)
        self._grid = (self._curvatures.shape[1], n_problems)
        self._row_parts, self._parts = (triton.next_power_of_2(grid[0]) for grid in (self._row_grid, self._grid))
        self._rounds = 0
        self._graph: Any = None

    def begin(self, R: Any) -> None:
        """Begin with the residual R, at P = 0."""
        arrays = (R.contiguous(), self.D, self.P, self._R, self._d, self._dots[0])
        _begin[self._grid](*arrays, self._n_weights, BLOCK=BLOCK)

    def advance(self) -> None:
        """Take some products; a problem that is done stays where it is."""
        self._rounds += 1
        if self._rounds == 1:  # kernels are loaded here, which a graph could not record
            self._take()
            return
        if self._graph is None:
            self._graph = recorded(self._take)
        self._graph.replay()

    def _take(self) -> None:
        rows, flags = self._rows, self._flags
        for k in range(ASKED_EVERY):
            dots, new_dots = self._dots[k % 2], self._dots[1 - k % 2]
            T = rows.products(self._d[:, :-1])
            sizes = (self._n, self._n_weights, *T.stride())
            _weigh[self._row_grid](T, self.S, self._d, self._bias, self._U, self._of_rows, *sizes, BLOCK=BLOCK)
            V = rows.transposed_products(self._U)
            sizes = (self._n_weights, self._row_grid[0], *V.stride())
            sums: tuple[Any, ...] = (self._of_rows, self._curvatures)
            _curve[self._grid](V, self._d, self._bias, *sums, *sizes, **flags, ROW_PARTS=self._row_parts)
            sums = (*sums, dots, new_dots, self._moved)
            vectors = (V, self._d, self.D, self.P, self._R, self._bias, self.enough)
            _advance[self._grid](*vectors, *sums, *sizes, **flags, ROW_PARTS=self._row_parts, PARTS=self._parts)
            sums = (dots, new_dots, self._moved, self.moving)
            _turn[self._grid](
                self._R, self.D, self._d, self.enough, *sums, self._n_weights, PARTS=self._parts, BLOCK=BLOCK
            )


def recorded(work: Any) -> Any:
    """Return a graph of CUDA's that does ``work``, which is not done yet."""
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    # torch.cuda.graph would collect garbage and empty the cache of memory first.
    with torch.cuda.stream(stream):
        graph.capture_begin(capture_error_mode="thread_local")
        try:
            work()
        finally:
            graph.capture_end()
    torch.cuda.current_stream().wait_stream(stream)
    return graph


class FusedGradients(Gradients):
    """Conjugate gradients on CUDA."""

    def __init__(self, rows: ArrayRows, regularised: Any, free: bool) -> None:
        super().__init__(rows, regularised)
        self._free, self._rooms = free, dict[int, _Room]()

    def solve(self, S: Any, R: Any, enough: Vector) -> Any:  # noqa: D102
        n_problems = int(S.shape[0])
        if n_problems not in self._rooms:
            self._rooms = {n_problems: _Room(self._rows, n_problems, self._free)}  # other problems are done
        room = self._rooms[n_problems]
        room.S.copy_(S)
        room.D.copy_(self._diagonals(S))
        room.enough.copy_(self._rows.place.put(enough * enough))
        room.begin(R)
        self.n_last = 0
        for _ in range(MOST_PRODUCTS // ASKED_EVERY):
            room.advance()
            self.n_last += ASKED_EVERY
            if not bool(room.moving.any()):
                break
        self.n_products += self.n_last
        return room.P
