"""An interior-point method in decimals, for small problems that are too hard for float64.

Problem    min_w   sum_j (R_j w_j^2/2 + q_j w_j) + sum_g U_g max(0, max_{i in g} m_i) + sum_i max(0, m_i)^2/(2 delta_i)
           with m = c - Zw; pieces i of the first sum come in groups g, those of the second do not

Every loss and penalty that is piecewise linear or quadratic is a sum of such pieces. With dual variables a >= 0, xi for
what a group loses (delta a for a piece of the second sum), r = xi - m >= 0 and s = U - sum a >= 0, the conditions of
optimality are  R w + q = Z'a,  a r = 0,  s xi = 0.  Newton's method solves them with mu instead of 0, for ever
smaller mu (Mehrotra, 1992). Neither scales nor dependent columns matter: there are enough digits.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple, Protocol

import numpy as np

from ...kernels.types import Indices, Vector
from .decimals import ONE, ZERO, Cholesky, Decimals, floats, is_finite

MOST_STEPS, MOST_IDLE = 150, 3  # in all; without progress, once the solution is good enough
SOLVED, ENOUGH = Decimal("1e-22"), Decimal("1e-9")  # relative optimality error: aimed at, and acceptable
HALFWAY = Decimal("1e-3")  # the same, of an iterate that still has room to move
NOTHING = Decimal("1e-400")  # objective that counts as zero
TO_BOUNDARY = Decimal("0.995")  # fraction of the way to the nearest bound that a step may take
ROUNDING = Decimal(2) ** -52
TIGHT = 4  # times what rounding makes of a score
CHEAP = Decimal("1e-4")  # fraction of the objective that tighter pieces may cost


class Rows(Protocol):
    """The rows Z of the pieces."""

    def times(self, w: Decimals) -> Decimals:
        """Return Z w."""

    def transposed(self, a: Decimals) -> Decimals:
        """Return Z'a."""

    def sizes(self, w: Decimals) -> Decimals:
        """Return |Z| |w|: the sums of the magnitudes of the terms of each score."""

    def gram(self, D: Decimals, share: Decimals, group: Indices) -> Decimals:
        """Return Z' D Z, less share g g' for each group, with g the sum of D_i z_i over it."""

    def largest(self) -> Vector:
        """Return the largest value of each column."""

    def without(self, j: int) -> tuple[Rows, Decimals]:
        """Return the rows without column ``j``, and that column."""


class DenseRows:
    """Rows as a matrix."""

    def __init__(self, Z: Decimals) -> None:
        self._Z = Z

    def times(self, w: Decimals) -> Decimals:  # noqa: D102
        return self._Z @ w

    def transposed(self, a: Decimals) -> Decimals:  # noqa: D102
        return self._Z.T @ a

    def sizes(self, w: Decimals) -> Decimals:  # noqa: D102
        return np.abs(self._Z) @ np.abs(w)

    def gram(self, D: Decimals, share: Decimals, group: Indices) -> Decimals:  # noqa: D102
        n, D = group.size, D.copy()
        if share.size == n:  # each group is one piece
            D[:n] -= share * D[:n] * D[:n]
            return self._Z.T @ (D[:, None] * self._Z)
        sums = np.full((share.size, self._Z.shape[1]), ZERO)
        np.add.at(sums, group, D[:n, None] * self._Z[:n])
        return self._Z.T @ (D[:, None] * self._Z) - sums.T @ (share[:, None] * sums)

    def largest(self) -> Vector:  # noqa: D102
        return np.asarray(np.abs(floats(self._Z)).max(axis=0))

    def without(self, j: int) -> tuple[Rows, Decimals]:  # noqa: D102
        return DenseRows(np.delete(self._Z, j, axis=1)), self._Z[:, j]


class Point(NamedTuple):
    """Weights, dual variables of the pieces, the size of the objective, and an iterate on the way, if it was kept."""

    w: Decimals
    a: Decimals
    value: Decimal
    on_the_way: tuple[Decimals, ...] | None = None


class Pieces(NamedTuple):
    """A problem as above.

    Attributes
    ----------
    R, q : curvature and slope of the regulariser, for each weight
    Z, c : the pieces, those of the first sum first
    group : the group of each piece of the first sum, in ascending order
    U : bound of each group
    delta : curvature of the dual, for each piece of the second sum
    start : an iterate for a problem that is nearly the same
    """

    R: Decimals
    q: Decimals
    Z: Rows
    c: Decimals
    group: Indices
    U: Decimals
    delta: Decimals
    start: tuple[Decimals, ...] | None = None

    @property
    def largest(self) -> Vector:
        """The largest value of each column."""
        return self.Z.largest()

    def without(self, j: int, value: Decimal) -> Pieces:
        """Return the problem of the other weights if weight ``j`` has this value."""
        Z, column = self.Z.without(j)
        R, q = np.delete(self.R, j), np.delete(self.q, j)
        return self._replace(R=R, q=q, Z=Z, c=self.c - column * value, start=None)

    def tightened(self, at: Point) -> Pieces | None:
        """Return the problem with margins that rounding of w cannot exceed; None if that costs too much."""
        margin = TIGHT * ROUNDING * max(self.Z.sizes(at.w))
        if margin * at.a.sum() > CHEAP * at.value:
            return None
        return self._replace(c=self.c + margin, start=at.on_the_way)

    def sums(self, values: Decimals) -> Decimals:
        """Return the sum over each group."""
        if self.U.size == self.group.size:
            return values
        out = np.full(self.U.size, ZERO)
        np.add.at(out, self.group, values)
        return out

    def solved(self, check: Callable[[], None], accuracy: Decimal = SOLVED) -> Point | None:
        """Return the solution, to some 20 digits unless told otherwise; None if there is none to be found.

        ``check`` is called every step. If the first start leads nowhere, another one is tried.
        """
        found = self._solved_from(_Interior(self), check, accuracy)
        afresh = self._replace(start=None)
        return found or self._solved_from(_Interior(afresh).with_less_weight(), check, accuracy)

    def _solved_from(self, at: _Interior, check: Callable[[], None], accuracy: Decimal) -> Point | None:
        best, least, idle, on_the_way = None, ENOUGH, 0, None
        for _ in range(MOST_STEPS):
            check()
            value, lacking = at.value_and_lacking()
            if lacking > HALFWAY * value:
                on_the_way = at.iterate
            idle += best is not None
            if lacking <= least * value:
                best, least, idle = Point(at.w, at.a, value, on_the_way), lacking / value, 0
            is_done = lacking <= accuracy * value or max(value, lacking) <= NOTHING or idle == MOST_IDLE
            if is_done or not at.step():
                break
        return best


class _Interior:
    """The iterates."""

    def __init__(self, pieces: Pieces) -> None:
        self._p, self._n = pieces, pieces.group.size
        if pieces.start is not None:
            self.w, self.a, self._r, self._s, self._xi = pieces.start
            return
        p, bounded, free = pieces, slice(0, pieces.group.size), slice(pieces.group.size, None)
        start = max(np.abs(p.c)) or ONE
        self.w = np.full(p.R.size, ZERO)
        sizes = p.sums(np.full(self._n, ONE))
        self._s, self._xi = p.U / 2, np.full(p.U.size, start)
        np.maximum.at(self._xi, p.group, p.c[bounded] + start)
        of_free = (np.abs(p.c[free]) + start) / p.delta
        if of_free.size:  # products a r that are much smaller than the others make many short steps
            mu = max(of_free * (np.abs(p.c[free]) + start))
            of_free = np.maximum(of_free, [(mu / delta).sqrt() for delta in p.delta])
        self.a = np.concatenate([(p.U / (2 * sizes))[p.group], of_free])
        self._r = np.concatenate([self._xi[p.group], p.delta * of_free]) - p.c

    @property
    def iterate(self) -> tuple[Decimals, ...]:
        """Where a problem that is nearly the same may start."""
        return self.w, self.a, self._r, self._s, self._xi

    def with_less_weight(self) -> _Interior:
        """Return the iterate with dual variables that are scaled to where they gain most: another start."""
        p, v = self._p, self._p.Z.transposed(self.a)
        cost = sum((v_j * v_j / R for v_j, R in zip(v, p.R, strict=True) if R), ZERO)
        gain = np.abs(p.c) @ self.a
        if cost > gain:
            self.a = self.a * (gain / cost)
            self._s = p.U - p.sums(self.a[: self._n])
        return self

    def value_and_lacking(self) -> tuple[Decimal, Decimal]:
        """Return the size of the objective, and the errors in complementarity and stationarity."""
        p, w, of_free = self._p, self.w, self.a[self._n :]
        lacking = self.a @ self._r + self._s @ self._xi + self.a @ np.abs(self._unequal())
        for R, left, value in zip(p.R, self._stationarity(), w, strict=True):
            lacking += left * left / (2 * R) if R else abs(left * value)
        squares = (p.R * w * w).sum() + (p.delta * of_free * of_free).sum()
        return squares / 2 + abs(p.q @ w) + p.U @ self._xi, lacking

    def step(self) -> bool:
        """Take a predictor and a corrector step; tells whether that made progress."""
        count = self.a.size + self._s.size
        mu = (self.a @ self._r + self._s @ self._xi) / count
        self._factor()
        w, a, r, s, xi = self._direction(np.full(self.a.size, ZERO), np.full(self._s.size, ZERO))
        tau = self._longest(a, r, s, xi)
        ahead = (self.a + tau * a) @ (self._r + tau * r) + (self._s + tau * s) @ (self._xi + tau * xi)
        target = (ahead / count / mu) ** 3 * mu
        w, a, r, s, xi = self._direction(target - a * r, target - s * xi)
        tau = min(ONE, TO_BOUNDARY * self._longest(a, r, s, xi))
        if not (tau > 0 and is_finite(w)):
            return False
        self.w = self.w + tau * w
        self.a, self._r = self.a + tau * a, self._r + tau * r
        self._s, self._xi = self._s + tau * s, self._xi + tau * xi
        return True

    def _stationarity(self) -> Decimals:
        return self._p.R * self.w + self._p.q - self._p.Z.transposed(self.a)

    def _unequal(self) -> Decimals:
        """Return what rounding has made of r = xi - m, that is Zw + xi - r - c."""
        p, n = self._p, self._n
        out = p.Z.times(self.w) - self._r - p.c
        out[:n] += self._xi[p.group]
        out[n:] += p.delta * self.a[n:]
        return out

    def _factor(self) -> None:
        """Factor R + Z' M Z, with M the inverse of what the equations of the dual variables have for a matrix."""
        p, n = self._p, self._n
        theta = self._r / self.a
        theta[n:] += p.delta
        self._D, kappa = ONE / theta, self._xi / self._s
        self._share = kappa / (ONE + kappa * p.sums(self._D[:n]))
        H = p.Z.gram(self._D, self._share, p.group)
        H[np.diag_indices(len(H))] += p.R
        self._cholesky = Cholesky(H)

    def _M(self, h: Decimals) -> Decimals:
        p, n, out = self._p, self._n, self._D * h
        out[:n] -= self._D[:n] * (self._share * p.sums(out[:n]))[p.group]
        return out

    def _direction(self, target_a: Decimals, target_s: Decimals) -> tuple[Decimals, ...]:
        """Return the changes of w, a, r, s and xi that bring a r and s xi to their targets, to first order."""
        p, n = self._p, self._n
        of_r, of_xi = target_a / self.a - self._r, target_s / self._s - self._xi
        h = of_r - self._unequal()
        h[:n] -= of_xi[p.group]
        w = self._cholesky.solve(p.Z.transposed(self._M(h)) - self._stationarity())
        a = self._M(h - p.Z.times(w))
        s = -p.sums(a[:n])
        return w, a, of_r - self._r / self.a * a, s, of_xi - self._xi / self._s * s

    def _longest(self, *changes: Decimals) -> Decimal:
        """Return the largest fraction of the changes, at most 1, that leaves nothing negative."""
        longest = ONE / TO_BOUNDARY
        for values, change in zip((self.a, self._r, self._s, self._xi), changes, strict=True):
            for value, by in zip(values, change, strict=True):
                if value + longest * by < 0:
                    longest = -value / by
        return longest
