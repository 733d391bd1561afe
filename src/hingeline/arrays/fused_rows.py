"""Products with a dense X of PyTorch's on CUDA, widened to float64 within the kernel: X is read once, and not copied.

Triton compiles these when they first run, for each number of columns up to ``WIDEST``, and keeps them on disk.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from .rows import DenseArrayRows

VALUES = 2048  # of X that a program holds at a time
WIDEST = 128  # columns that it holds at a time
LARGEST_GRAM = 64  # columns of a Gram matrix that a program sums up
GRAM_ROWS = 64  # that it multiplies at a time
PROGRAMS = 8  # per multiprocessor, for sums over the rows
GRAM_PROGRAMS = 2


@triton.jit
def _times(  # type: ignore[no-untyped-def]
    X, w, s, bias, out, n,
    D: tl.constexpr, STRIDE: tl.constexpr, SIGNED: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """out_i = <x_i, w> + w_D bias, times s_i if ``SIGNED``."""
    i = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros([ROWS], dtype=tl.float64)
    for first in range(0, D, COLUMNS):
        j = first + tl.arange(0, COLUMNS)
        inside = (i < n)[:, None] & (j < D)[None, :]
        x = tl.load(X + i[:, None] * STRIDE + j[None, :], mask=inside, other=0.0).to(tl.float64)
        total += tl.sum(x * tl.load(w + j, mask=j < D, other=0.0)[None, :], axis=1)
    total += tl.load(w + D) * tl.load(bias)
    if SIGNED:
        total *= tl.load(s + i, mask=i < n, other=0.0)
    tl.store(out + i, total, mask=i < n)


@triton.jit
def _transposed(  # type: ignore[no-untyped-def]
    X, a, out, n, D: tl.constexpr, STRIDE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    """Row p of out: what program p sums up of a_i x_i; its last entry is the sum of the a_i."""
    program, j = tl.program_id(0), tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros([ROWS, COLUMNS], dtype=tl.float64)
    constant = tl.zeros([ROWS], dtype=tl.float64)
    for first in range(program * ROWS, n, tl.num_programs(0) * ROWS):
        i = tl.cast(first, tl.int64) + tl.arange(0, ROWS)
        own = tl.load(a + i, mask=i < n, other=0.0)
        inside = (i < n)[:, None] & (j < D)[None, :]
        x = tl.load(X + i[:, None] * STRIDE + j[None, :], mask=inside, other=0.0).to(tl.float64)
        total += own[:, None] * x
        constant += own
    tl.store(out + program * (D + 1) + j, tl.sum(total, axis=0), mask=j < D)
    if tl.program_id(1) == 0:
        tl.store(out + program * (D + 1) + D, tl.sum(constant, axis=0))


@triton.jit
def _gram(  # type: ignore[no-untyped-def]
    X, s, bias, out, n, D: tl.constexpr, STRIDE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    """Part p of out: what program p sums up of s_i x_i x_i', the constant feature as column D.

    The second axis of the grid counts vectors s.
    """
    program, j = tl.program_id(0), tl.arange(0, COLUMNS)
    s += tl.program_id(1).to(tl.int64) * n
    out += tl.program_id(1).to(tl.int64) * tl.num_programs(0) * COLUMNS * COLUMNS
    constant = tl.where(j == D, tl.load(bias), 0.0)
    total = tl.zeros([COLUMNS, COLUMNS], dtype=tl.float64)
    for first in range(program * ROWS, n, tl.num_programs(0) * ROWS):
        i = tl.cast(first, tl.int64) + tl.arange(0, ROWS)
        own = tl.load(s + i, mask=i < n, other=0.0)
        if tl.max(tl.abs(own), axis=0) > 0.0:  # most rows have not moved
            inside = (own != 0.0)[:, None] & (j < D)[None, :]
            x = tl.load(X + i[:, None] * STRIDE + j[None, :], mask=inside, other=0.0).to(tl.float64)
            x += constant[None, :]
            total = tl.dot(tl.trans(x * own[:, None]), x, total, out_dtype=tl.float64)
    tl.store(out + program * COLUMNS * COLUMNS + j[:, None] * COLUMNS + j[None, :], total)


class FusedDenseRows(DenseArrayRows):
    """A matrix of PyTorch's on CUDA."""

    def __init__(self, X: Any, bias: float) -> None:
        if X.stride(1) != 1:
            X = X.contiguous()
        super().__init__(X, bias)
        self._columns = min(WIDEST, triton.next_power_of_2(self.n_features))
        self._rows = max(1, VALUES // self._columns)
        self._processors = torch.cuda.get_device_properties(X.device).multi_processor_count
        self._bias = self.place.put([bias])
        self._sizes = {"D": self.n_features, "STRIDE": X.stride(0)}

    def _programs(self, per_processor: int, rows: int, n_problems: int = 1) -> int:
        """Return how many programs sum over the rows, so many at a time, for each problem."""
        return max(1, min(triton.cdiv(per_processor * self._processors, n_problems), triton.cdiv(self.n_rows, rows)))

    def _new(self, *shape: int) -> Any:
        return torch.empty(shape, dtype=torch.float64, device=self.X.device)

    def times(self, w: Any) -> Any:  # noqa: D102
        return self._times(w, None)

    def signed_times(self, w: Any, signs: Any) -> Any:  # noqa: D102
        return self._times(w, signs) if signs.shape[0] > 1 else self.times(w) * signs

    def _times(self, w: Any, signs: Any) -> Any:
        w = w.contiguous()  # kernels know no strides but those of X
        out, grid = self._new(self.n_rows), (triton.cdiv(self.n_rows, self._rows),)
        arrays = (self.X, w, w if signs is None else signs, self._bias, out, self.n_rows)
        _times[grid](*arrays, **self._sizes, SIGNED=signs is not None, ROWS=self._rows, COLUMNS=self._columns)
        return out

    def transposed_times(self, a: Any) -> Any:  # noqa: D102
        d = self.n_features
        parts = self._new(self._programs(PROGRAMS, self._rows), d + 1)
        grid = (parts.shape[0], triton.cdiv(d, self._columns))
        _transposed[grid](
            self.X, a.contiguous(), parts, self.n_rows, **self._sizes, ROWS=self._rows, COLUMNS=self._columns
        )
        out = parts.sum(0)
        out[d] *= self.bias
        return out

    def gram(self, s: Any) -> Any:  # noqa: D102
        return self.grams(s[None, :])[0] if self._has_fused_gram else super().gram(s)

    def grams(self, S: Any) -> Any:  # noqa: D102
        if not self._has_fused_gram:
            return super().grams(S)
        n, n_problems = self.n_features + 1, S.shape[0]
        width = max(16, triton.next_power_of_2(n))
        programs = self._programs(GRAM_PROGRAMS, GRAM_ROWS, n_problems)
        parts = self._new(n_problems, programs, width, width)
        arrays = (self.X, S.contiguous(), self._bias, parts, self.n_rows)
        _gram[(programs, n_problems)](*arrays, **self._sizes, ROWS=GRAM_ROWS, COLUMNS=width)
        return parts.sum(1)[:, :n, :n]

    @property
    def _has_fused_gram(self) -> bool:
        return self.n_features < LARGEST_GRAM
