"""Conjugate gradients for Newton's equations of several problems over the same rows, side by side on the device.

They are preconditioned by the Hessians' diagonals. (Eigenvectors of X'X, for all problems at once, were worse: rows
without curvature count in X'X.) The host asks the device for its progress only after every few products. In between,
PyTorch on CUDA replays a graph of what it has done before: one launch instead of some forty per product.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..kernels.types import Vector
from .rows import ArrayRows

MOST_PRODUCTS = 500
ASKED_EVERY = 4  # products
WARM = 4  # rounds before a graph is worth its cost


class State(NamedTuple):
    """Where conjugate gradients are, a row per problem: (I + X' S X) P + R0 = R, the direction d, and <R, Z>.

    ``D`` are the diagonals of the Hessians, ``enough`` the squared length that R may have.
    """

    P: Any
    R: Any
    d: Any
    rz: Any
    S: Any
    D: Any
    enough: Any


class Gradients:
    """Solves Newton's equations for ``rows``; ``regularised`` is 1, and 0 for a free intercept."""

    def __init__(self, rows: ArrayRows, regularised: Any) -> None:
        self._rows, self._xp, self._regularised = rows, rows.place.xp, regularised
        self._rounds, self._replayed = 0, dict[tuple[int, ...], _Replayed]()

    def solve(self, S: Any, R: Any, enough: Vector) -> Any:
        """Return P with (I + X' S_k X) P_k = -R_k, up to a residual of length at most ``enough`` in each problem."""
        xp, place = self._xp, self._rows.place
        D = self._regularised + self._rows.diagonals(S)
        D = xp.where(D > 0.0, D, 1.0 + 0.0 * D)
        Z = R / D
        at = State(xp.zeros_like(R), R, -Z, xp.sum(R * Z, axis=1), S, D, place.put(enough * enough))
        for _ in range(MOST_PRODUCTS // ASKED_EVERY):
            at = self._round(at)
            if not bool(xp.any(self._are_moving(at))):
                break
        return at.P

    def _are_moving(self, at: State) -> Any:
        return (self._xp.sum(at.R * at.R, axis=1) > at.enough) & (at.rz > 0.0)

    def _round(self, at: State) -> State:
        self._rounds += 1
        if not self._rows.place.is_torch_cuda or self._rounds <= WARM:
            return self._advanced(at)
        shape = tuple(at.S.shape)
        if shape not in self._replayed:
            self._replayed = {shape: _Replayed(self._advanced, at)}  # other problems are done
        return self._replayed[shape](at)

    def _advanced(self, at: State) -> State:
        """Return the state after some more products; problems that are done stay where they are."""
        xp, rows, S = self._xp, self._rows, at.S
        P, R, d, rz = at[:4]
        one, zero = xp.ones_like(rz), xp.zeros_like(rz)
        for _ in range(ASKED_EVERY):
            Hd = self._regularised * d + rows.transposed_times_many(S * rows.times_many(d))
            curvature = xp.sum(d * Hd, axis=1)
            moving = (xp.sum(R * R, axis=1) > at.enough) & (curvature > 0.0) & (rz > 0.0)
            step = xp.where(moving, rz / xp.where(moving, curvature, one), zero)[:, None]
            P, R = P + step * d, R + step * Hd
            Z = R / at.D
            before, rz = rz, xp.where(moving, xp.sum(R * Z, axis=1), rz)
            d = xp.where(moving[:, None], (rz / xp.where(moving, before, one))[:, None] * d - Z, d)
        return at._replace(P=P, R=R, d=d, rz=rz)


class _Replayed:
    """A graph of CUDA's that takes a state to the next one, in place."""

    def __init__(self, function: Any, at: State) -> None:
        import torch

        self._at = State(*(part.clone() for part in at))
        self._graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        # torch.cuda.graph would collect garbage and empty the cache of memory first.
        with torch.cuda.stream(stream):
            self._graph.capture_begin(capture_error_mode="thread_local")
            try:
                new = function(self._at)
                for old, part in zip(self._at[:4], new[:4], strict=True):
                    old.copy_(part)
            finally:
                self._graph.capture_end()
        torch.cuda.current_stream().wait_stream(stream)

    def __call__(self, at: State) -> State:
        for own, part in zip(self._at, at, strict=True):
            if own is not part:
                own.copy_(part)
        self._graph.replay()
        return self._at
