"""Sums of products in twice the precision: a number is high + low, low being what rounding took from high."""

from __future__ import annotations

import numpy as np

from .compile import exact_array_kernel, exact_kernel
from .types import Index, Indices, Matrix, Vector

SPLIT = 2.0**27 + 1.0  # cuts the digits of a number in halves


@exact_kernel
def with_product(high: float, low: float, a: float, b: float) -> tuple[float, float]:
    """Return high + low + a b (Dekker's product, Knuth's sum)."""
    p = a * b
    a_high, b_high = SPLIT * a - (SPLIT * a - a), SPLIT * b - (SPLIT * b - b)
    a_low, b_low = a - a_high, b - b_high
    error = a_low * b_low - (((p - a_high * b_high) - a_low * b_high) - a_high * b_low)
    s = high + p
    added = s - high
    return s, low + (error + ((high - (s - added)) + (p - added)))


@exact_kernel
def times(a: float, a_low: float, b: float, b_low: float) -> tuple[float, float]:
    """Return (a + a_low)(b + b_low)."""
    high, low = with_product(0.0, a * b_low + a_low * b, a, b)
    s = high + low
    return s, low - (s - high)


@exact_kernel
def product(a: Vector, a_low: Vector, b: Vector, b_low: Vector) -> tuple[float, float]:
    """Return <a + a_low, b + b_low>."""
    high, low = 0.0, 0.0
    for i in range(a.size):
        high, low = with_product(high, low, a[i], b[i])
        low += a[i] * b_low[i] + a_low[i] * b[i]
    s = high + low
    return s, low - (s - high)


def product_of(r: Vector, p: Vector, low: Vector) -> float:
    """Return <r, p + low>, which may be all rounding otherwise."""
    high, rest = product(r, np.zeros_like(r), p, low)
    return float(high + rest)


@exact_kernel
def add_product(a: float, b: float, j: Index, high: Vector, low: Vector) -> None:
    """Add a b to high_j + low_j."""
    high[j], low[j] = with_product(high[j], low[j], a, b)


@exact_kernel
def without_products(start: Vector, Z: Matrix, x: Vector, low: Vector, out: Vector) -> None:
    """out = start - Z (x + low), rounded once."""
    for i in range(len(Z)):
        s, rest = start[i], 0.0
        for j in range(x.size):
            s, rest = with_product(s, rest, -Z[i, j], x[j])
            rest -= Z[i, j] * low[j]
        out[i] = s + rest


@exact_kernel
def without_combination(start: Vector, low: Vector, Z: Matrix, a: Vector, out: Vector) -> None:
    """out = start + low - Z' a, rounded once."""
    for j in range(start.size):
        s, rest = start[j], low[j]
        for i in range(a.size):
            s, rest = with_product(s, rest, -Z[i, j], a[i])
        out[j] = s + rest


@exact_array_kernel
def left_of_equation(
    b: Vector, Z: Matrix, curvatures: Vector, is_free: bool, p: Vector, low: Vector, out: Vector
) -> None:
    """out = b - (I + Z' S Z)(p + low), rounded once; without the last 1 of I if the last weight ``is_free``."""
    d = p.size
    high, rest = b.copy(), -low
    for j in range(d):
        if j < d - 1 or not is_free:
            high[j], rest[j] = with_product(b[j], -low[j], -1.0, p[j])
        else:
            rest[j] = 0.0
    for i in range(len(Z)):
        t, t_low = 0.0, 0.0
        for j in range(d):
            t, t_low = with_product(t, t_low, Z[i, j], p[j])
            t_low += Z[i, j] * low[j]
        t, t_low = with_product(0.0, curvatures[i] * t_low, curvatures[i], t)
        for j in range(d):
            add_product(-Z[i, j], t, j, high, rest)
            rest[j] -= Z[i, j] * t_low
    for j in range(d):
        out[j] = high[j] + rest[j]


@exact_kernel
def move(x: Vector, low: Vector, tau: float, p: Vector, p_low: Vector) -> None:
    """x + low <- x + low + tau (p + p_low)."""
    for j in range(x.size):
        s, rest = with_product(x[j], low[j] + tau * p_low[j], tau, p[j])
        x[j] = s + rest
        low[j] = rest - (x[j] - s)


@exact_kernel
def scale_rows(Z: Matrix, roots: Vector, lengths: Vector, A: Matrix, low: Matrix) -> None:
    """A + low = the columns of Z as rows, each row of Z times its root, over powers of two."""
    for i in range(len(Z)):
        for j in range(lengths.size):
            high, rest = with_product(0.0, 0.0, roots[i], Z[i, j])
            A[j, i], low[j, i] = high / lengths[j], rest / lengths[j]


@exact_kernel
def factor_columns(A: Matrix, A_low: Matrix, order: Indices, R: Matrix) -> None:
    """Make R upper triangular with R'R = A A', by Gram and Schmidt's method on the rows of A + A_low.

    Each time the longest row that is left comes next; ``order`` tells which.
    """
    n = len(A)
    for j in range(n):
        order[j] = j
    for k in range(n):
        longest, high, low = k, -1.0, 0.0
        for j in range(k, n):
            squared, rest = product(A[j], A_low[j], A[j], A_low[j])
            if squared > high:
                longest, high, low = j, squared, rest
        if longest != k:
            order[k], order[longest] = order[longest], order[k]
            for i in range(A.shape[1]):
                A[k, i], A[longest, i] = A[longest, i], A[k, i]
                A_low[k, i], A_low[longest, i] = A_low[longest, i], A_low[k, i]
            for i in range(k):
                R[i, k], R[i, longest] = R[i, longest], R[i, k]
        R[k, k] = np.sqrt(max(high, 0.0))
        if not high > 0.0:
            continue
        for j in range(k + 1, n):
            c, c_low = product(A[k], A_low[k], A[j], A_low[j])
            q = c / high  # the ratio c/high in two parts: what the first one leaves is divided again
            t, t_low = times(q, 0.0, high, low)
            q_low = ((c - t) + (c_low - t_low)) / high
            R[k, j] = q * R[k, k]
            for i in range(A.shape[1]):
                t, t_low = times(q, q_low, A[k, i], A_low[k, i])
                s, rest = with_product(A[j, i], A_low[j, i] - t_low, -1.0, t)
                A[j, i] = s + rest
                A_low[j, i] = rest - (A[j, i] - s)
