"""What a fitted model claims, recomputed: primal, dual, feasibility and violation, without the package's kernels.

From ``coef_``, ``intercept_`` and ``dual_coef_`` alone: in numbers of 100 digits for small problems, their sums of
products exactly, and in compensated sums for large ones. ``complaints`` lists every claim of a model that is not true
beyond rounding, so a test asserts that there are none. What rounding may do is bounded row by row: compiled code
computes each score to d + 3 roundings of the sum of its terms' sizes, and each weight of the dual variables to n.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from functools import lru_cache, wraps
from math import exp, fsum, isfinite, log, log1p
from operator import mul
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

U = 2.0**-53
TINY = 2.0**-1022  # smaller numbers have fewer digits
VISIBLE = 1e-5  # relative: what rounding may make of the objective
SLACK = 1e-12  # relative: what bounds and equations may miss by
AT_BOUND = 2**50  # a variable is at a bound if no more than one part in so many is missing: the bound was rounded too
LARGEST_EXACT = 4_000  # values of X; more are summed with compensation
GOOD_GAP = 1e-3  # a model that says it has converged is at least as good
ENOUGH = 1e-3  # times tol: the relative gap at which solver="auto" may end
REASONS = {"tol", "gap_tol", "rounding", "max_iter", "max_time", "callback", "interrupted", "stalled"}


DIGITS = Context(prec=100, Emax=MAX_EMAX, Emin=MIN_EMIN)
DIGITS_OF_LOGARITHMS = Context(prec=40, Emax=MAX_EMAX, Emin=MIN_EMIN)


class Exact:
    """Decimals of 100 digits. A float is an integer over a power of two, so sums of products are sums of integers."""

    number = Decimal

    def times(self, X: np.ndarray, w: np.ndarray) -> list[Decimal]:
        """Return X w."""
        values, places = _integers(w)
        flat, more = _integers(X.ravel())
        d, unit = len(values), _half_to_the(places + more)
        return [sum(map(mul, flat[i : i + d], values)) * unit for i in range(0, len(flat), d)]

    @staticmethod
    def softplus(m: Decimal) -> Decimal:
        """Return log(1 + exp(m))."""
        if m > 2000 or m < -2000:
            return max(m, Decimal(0))
        with localcontext(DIGITS_OF_LOGARITHMS):
            return (1 + m.exp()).ln()

    @staticmethod
    def logsumexp(f: list[Decimal]) -> Decimal:
        """Return log(sum of exp(f_c))."""
        largest = max(f)
        with localcontext(DIGITS_OF_LOGARITHMS):
            return largest + sum(((f_c - largest).exp() for f_c in f if f_c > largest - 2000), Decimal(0)).ln()

    @staticmethod
    def entropy_term(p: Decimal) -> Decimal:
        """Return -p log(p)."""
        with localcontext(DIGITS_OF_LOGARITHMS):
            return -p * p.ln() if p > 0 else Decimal(0)

    @staticmethod
    def entropy(a: Decimal) -> Decimal:
        """Return -a log(a) - (1 - a) log(1 - a)."""
        with localcontext(DIGITS_OF_LOGARITHMS):
            return sum((-p * p.ln() for p in (Decimal(a), Decimal(1 - a)) if p > 0), Decimal(0))


class Compensated:
    """Floats, with the roundings of products and sums made good."""

    @staticmethod
    def number(value: float) -> float:
        return float(value)

    def times(self, X: np.ndarray, w: np.ndarray) -> list[float]:
        """Return X w, as if summed with twice the digits."""
        return [_dot(row, w) for row in X]

    @staticmethod
    def softplus(m: float) -> float:
        """Return log(1 + exp(m))."""
        return max(m, 0.0) + log1p(exp(-abs(m)))

    @staticmethod
    def logsumexp(f: list[float]) -> float:
        """Return log(sum of exp(f_c))."""
        largest = max(f)
        return largest + log1p(fsum(exp(f_c - largest) for f_c in f) - 1.0)

    @staticmethod
    def entropy_term(p: float) -> float:
        """Return -p log(p)."""
        return -p * log(p) if p > 0.0 else 0.0

    @staticmethod
    def entropy(a: float) -> float:
        """Return -a log(a) - (1 - a) log(1 - a)."""
        return -sum(p * log(p) for p in (a, 1.0 - a) if p > 0.0)


def _integers(values: np.ndarray) -> tuple[list[int], int]:
    """Return integers that are the values times the same power of two, and that power."""
    ratios = [value.as_integer_ratio() for value in values.tolist()]
    places = max((q.bit_length() - 1 for _, q in ratios), default=0)
    return [p << (places + 1 - q.bit_length()) for p, q in ratios], places


@lru_cache
def _half_to_the(power: int) -> Decimal:
    """Return 2^-power."""
    with localcontext(DIGITS):
        return 1 / Decimal(1 << power)


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    """Return <a, b>; each product's rounding error is found by splitting both factors (Dekker)."""
    p = a * b
    with np.errstate(over="ignore", invalid="ignore"):
        ca, cb = 134217729.0 * a, 134217729.0 * b
        a1, b1 = ca - (ca - a), cb - (cb - b)
        a2, b2 = a - a1, b - b1
        e = a2 * b2 - (((p - a1 * b1) - a2 * b1) - a1 * b2)
    return fsum(np.concatenate([p, e])) if np.isfinite(e).all() else fsum(p)


class Row(NamedTuple):
    """A row's loss at a score: its value and steepness, its part of the dual, and how far from optimal it is."""

    loss: Any
    steepness: Any
    dual: Any
    outside: Any  # how far the dual variable is out of its bounds
    violation: Any
    strict: Any = 0  # the violation, if it is larger once a variable next to its bound counts as free


def _is_at(bound: Any, alpha: Any) -> bool:
    """Tell whether a variable has reached its upper bound."""
    return bool(alpha >= bound - bound / AT_BOUND)


def _margin_hinge(C: Any, y: Any, f: Any, beta: Any, power: int) -> Row:
    xi, alpha = max(1 - y * f, 0), y * beta
    if power == 1:
        g, is_at_upper, outside = 1 - y * f, _is_at(C, alpha), max(-alpha, alpha - C, 0)
        loss, steepness, dual = C * xi, C, alpha
    else:
        g, is_at_upper, outside = 1 - y * f - alpha / (2 * C), False, max(-alpha, 0)
        loss, steepness, dual = C * xi * xi, 2 * C * xi, alpha - alpha * alpha / (4 * C)
    violation = 0 if (alpha <= 0 and g < 0) or (is_at_upper and g > 0) else abs(g)
    return Row(loss, steepness, dual, outside, violation, abs(g) if is_at_upper and alpha < C else violation)


def _insensitive(C: Any, y: Any, f: Any, beta: Any, epsilon: Any, power: int) -> Row:
    xi, size = max(abs(y - f) - epsilon, 0), abs(beta)
    loss, steepness = (C * xi, C) if power == 1 else (C * xi * xi, 2 * C * xi)
    is_at_bound = power == 1 and _is_at(C, size)
    curve = 0 if power == 1 else 1 / (2 * C)
    rising = y - f - (epsilon if beta >= 0 else -epsilon) - curve * beta
    falling = f - y + (epsilon if beta > 0 else -epsilon) + curve * beta
    violation = max(0 if is_at_bound and beta > 0 else rising, 0 if is_at_bound and beta < 0 else falling, 0)
    strict = max(rising, falling, 0) if is_at_bound and size < C else violation
    dual = y * beta - epsilon * size - curve * beta * beta / 2
    return Row(loss, steepness, dual, max(size - C, 0) if power == 1 else 0, violation, strict)


def _pinball(C: Any, y: Any, f: Any, beta: Any, q: Any) -> Row:
    r, lower, upper = y - f, C * (q - 1), C * q
    violation = max(0 if _is_at(upper, beta) else r, 0 if _is_at(-lower, -beta) else -r, 0)
    strict = abs(r) if lower < beta < upper else violation
    return Row(max(upper * r, lower * r), C, y * beta, max(beta - upper, lower - beta, 0), violation, strict)


def _logistic(C: Any, y: Any, f: Any, beta: Any, arithmetic: Any) -> Row:
    a = y * beta / C
    inside = min(max(a, 0), 1)
    probability = 1.0 / (1.0 + exp(min(float(y * f), 700.0)))
    dual = C * arithmetic.entropy(inside)
    return Row(C * arithmetic.softplus(-y * f), C, dual, max(-a, a - 1, 0) * C, abs(probability - float(a)))


@dataclass
class Problem:
    """One problem of a fit, with a score per row: what it is, and what was found."""

    X: np.ndarray
    y: np.ndarray  # labels -1 and +1, or targets
    C: np.ndarray  # of each row
    loss: str
    w: np.ndarray
    b: float
    beta: np.ndarray  # the dual variables with their signs
    bias: float = 0.0  # value of the constant feature; 0: no intercept
    free: bool = False
    l1: float = 0.0
    over_columns: bool = False  # trained as a problem in the weights: the violation is theirs, not the rows'
    epsilon: float = 0.0
    quantile: float = 0.5

    def row(self, arithmetic: Any, i: int, f: Any) -> Row:
        """Return what row ``i`` contributes at the score f."""
        number = arithmetic.number
        C, y, beta = number(self.C[i]), number(self.y[i]), number(self.beta[i])
        if C == 0:
            return Row(0, 0, 0, abs(beta), 0)
        if self.loss.endswith("hinge"):
            return _margin_hinge(C, y, f, beta, 2 if self.loss.startswith("squared") else 1)
        if self.loss.endswith("insensitive"):
            return _insensitive(C, y, f, beta, number(self.epsilon), 2 if self.loss.startswith("squared") else 1)
        if self.loss == "pinball":
            return _pinball(C, y, f, beta, number(self.quantile))
        return _logistic(C, y, f, beta, arithmetic)


class Truth(NamedTuple):
    """The values at a model and its dual variables, and what rounding may make of them."""

    primal: float
    difference: float  # primal - dual
    infeasible: float  # relative
    violation: float  # NaN if it is not recomputed
    rounding: float  # of the primal
    difference_rounding: float
    violation_rounding: float
    strict: float = 0.0  # the violation, if variables next to a bound count as free

    @property
    def dual(self) -> float:
        return self.primal - self.difference


def _in_100_digits(recompute: Callable[..., Truth]) -> Callable[..., Truth]:
    """Decorate a function that works with decimals."""

    @wraps(recompute)
    def recompute_in_digits(*given: Any) -> Truth:
        with localcontext(DIGITS):
            return recompute(*given)

    return recompute_in_digits


@_in_100_digits
def truth(problem: Problem) -> Truth:
    """Recompute a problem with one score per row."""
    p = problem
    arithmetic: Any = Exact() if p.X.size <= LARGEST_EXACT else Compensated()
    number = arithmetic.number
    n, d = p.X.shape
    b, has_bias = number(p.b), p.bias != 0.0
    scores = [f + b for f in arithmetic.times(p.X, p.w)]
    rows = [p.row(arithmetic, i, f) for i, f in enumerate(scores)]
    w = [number(value) for value in p.w] + ([b / number(p.bias)] if has_bias and not p.free else [])
    v = arithmetic.times(np.ascontiguousarray(p.X.T), p.beta)
    total = arithmetic.times(np.ones((1, n)), p.beta)[0]
    if has_bias and not p.free:
        v.append(total * number(p.bias))
    l1, l2 = number(p.l1), 1 - number(p.l1)
    penalty = sum(l1 * abs(value) + l2 * value * value / 2 for value in w)
    conjugate = sum(max(abs(value) - l1, 0) ** 2 for value in v) / (2 * l2) if p.l1 < 1.0 else 0
    primal = penalty + sum(row.loss for row in rows)
    difference = primal + conjugate - sum(row.dual for row in rows)
    sizes = np.abs(p.X) @ np.abs(p.w) + abs(p.b) + np.abs(p.y) + abs(p.epsilon) + 1.0
    errors = (d + 3) * U * sizes
    steepness = np.array([float(row.steepness) for row in rows]) + np.where(p.C > 0, 2.0 * p.C * errors, 0.0)
    rounding = float(steepness @ errors) + 1e-13 * float(primal)
    moved = (n + 3) * U * np.append(np.abs(p.X.T) @ np.abs(p.beta), p.bias * np.abs(p.beta).sum())
    excess = max((float(abs(v_j)) - 1.0 - m_j for v_j, m_j in zip(v, moved, strict=False)), default=0.0)
    excess = max(excess, 0.0) if p.l1 == 1.0 else 0.0  # |v_j| <= 1
    delta = float(np.sqrt(moved @ moved))
    apart = float(sum((a - c) ** 2 for a, c in zip(w, v, strict=True))) ** 0.5
    of_weights = delta * (apart + delta)
    if p.l1:  # slope and curvature of the conjugate penalty, where v is above l1
        above = [float(max(abs(v_j) - l1, 0) / l2) if p.l1 < 1.0 else 0.0 for v_j in v]
        of_weights = sum(m * (abs(float(a)) + c) for m, a, c in zip(moved, w, above, strict=False)) + U * float(penalty)
        of_weights += delta * delta / (2.0 * (1.0 - p.l1)) if p.l1 < 1.0 else 0.0
    of_rows = float((steepness + np.abs(p.beta)) @ errors)
    if p.loss == "logistic":  # alpha/C is rounded before its entropy is taken
        of_rows += 8.0 * U * float(p.C.sum())
    weight = float(np.abs(p.beta).sum())
    outside = max((float(row.outside) / C for row, C in zip(rows, p.C, strict=True) if C > 0), default=0.0)
    outside = max(outside, max((float(row.outside) for row, C in zip(rows, p.C, strict=True) if C == 0), default=0.0))
    balance = abs(float(total)) / weight if p.free and has_bias and weight > 0.0 else 0.0
    if p.free and has_bias:  # what is left of sum beta = 0 is worth b each
        of_weights += abs(float(total)) * (abs(p.b) + float(np.abs(p.y).max()))
    # At a large C rounding might excuse anything. But certificates are computed in twice the precision then.
    most = np.inf if p.over_columns else VISIBLE * float(primal)
    return Truth(
        float(primal),
        float(difference),
        max(outside, balance, excess),
        np.nan if p.free or p.over_columns else max((float(row.violation) for row in rows), default=0.0),
        min(4.0 * rounding, most),
        min(4.0 * (of_rows + of_weights), most) + 1e-9 * float(difference) + 1e-15 * float(primal),
        4.0 * float(errors.max()) + (n + 3) * U,
        max((float(row.strict) for row in rows), default=0.0),
    )


def _of_all_classes(
    X: np.ndarray, W: np.ndarray, b: np.ndarray, alpha: np.ndarray
) -> tuple[Any, list, list, list, list]:
    """Return the arithmetic to use, and in it: scores by class, without intercepts; intercepts; weights; X' alpha."""
    arithmetic: Any = Exact() if X.size * len(W) <= LARGEST_EXACT else Compensated()
    scores = [arithmetic.times(X, W[c]) for c in range(len(W))]
    offsets = [arithmetic.number(value) for value in b]
    w = [arithmetic.number(value) for value in W.ravel()]
    v = [value for c in range(len(W)) for value in arithmetic.times(np.ascontiguousarray(X.T), alpha[:, c])]
    return arithmetic, scores, offsets, w, v


@_in_100_digits
def crammer_singer_truth(
    X: np.ndarray, codes: np.ndarray, C: np.ndarray, W: np.ndarray, b: np.ndarray, alpha: np.ndarray, bias: float
) -> Truth:
    """Recompute Crammer and Singer's problem; alpha has a row per row of X."""
    arithmetic, scores, offsets, w, v = _of_all_classes(X, W, b, alpha)
    number, (n, d), k = arithmetic.number, X.shape, len(W)
    if bias:
        w += [value / number(bias) for value in offsets]
        v += [number(bias) * arithmetic.times(np.ones((1, n)), alpha[:, c])[0] for c in range(k)]
    losses, dual, outside = 0, 0, 0.0
    for i in range(n):
        own, C_i = int(codes[i]), number(C[i])
        f = [scores[c][i] + offsets[c] for c in range(k)]
        losses += C_i * max(f[c] + (c != own) - f[own] for c in range(k))
        a = [number(value) for value in alpha[i]]
        dual -= sum(a[c] for c in range(k) if c != own)
        out = max(abs(sum(a)), *(a[c] - (C_i if c == own else 0) for c in range(k)))
        outside = max(outside, float(out) / (C[i] or 1.0))
    primal = sum(value * value for value in w) / 2 + losses
    difference = primal + sum(value * value for value in v) / 2 - dual
    sizes = 2.0 * ((np.abs(X) @ np.abs(W).T).max(axis=1) + np.abs(b).max()) + 1.0
    errors = (d + 3) * U * sizes
    moved = (n + 3) * U * np.append(np.abs(X.T) @ np.abs(alpha), bias * np.abs(alpha).sum(axis=0))
    delta = float(np.sqrt(moved @ moved))
    apart = float(sum((a - c) ** 2 for a, c in zip(w, v, strict=True))) ** 0.5
    rows = float((C + np.abs(alpha).sum(axis=1)) @ errors)
    return Truth(
        float(primal),
        float(difference),
        outside,
        np.nan,
        4.0 * rows + 1e-13 * float(primal),
        4.0 * (rows + delta * (apart + delta)) + 1e-9 * float(difference) + 1e-15 * float(primal),
        0.0,
    )


@_in_100_digits
def multinomial_truth(
    X: np.ndarray,
    codes: np.ndarray,
    C: np.ndarray,
    W: np.ndarray,
    b: np.ndarray,
    alpha: np.ndarray,
    bias: float,
    free: bool,
) -> Truth:
    """Recompute the multinomial problem; alpha has a row per row of X."""
    arithmetic, scores, offsets, w, v = _of_all_classes(X, W, b, alpha)
    number, (n, d), k = arithmetic.number, X.shape, len(W)
    sums = [arithmetic.times(np.ones((1, n)), alpha[:, c])[0] for c in range(k)]
    if bias and not free:
        w += [value / number(bias) for value in offsets]
        v += [number(bias) * value for value in sums]
    losses, dual, outside, violation = 0, 0, 0.0, 0.0
    for i in range(n):
        own, C_i = int(codes[i]), number(C[i])
        a = [number(value) for value in alpha[i]]
        if C_i == 0:
            outside = max(outside, float(max(map(abs, a))))
            continue
        f = [scores[c][i] + offsets[c] for c in range(k)]
        lse = arithmetic.logsumexp(f)
        losses += C_i * (lse - f[own])
        p = [(1 if c == own else 0) - a[c] / C_i for c in range(k)]
        dual += C_i * sum(arithmetic.entropy_term(max(p_c, 0)) for p_c in p)
        outside = max(outside, float(max(abs(sum(a)) / C_i, *(-p_c for p_c in p))))
        violation = max(violation, *(abs(float(p[c]) - exp(max(float(f[c] - lse), -700.0))) for c in range(k)))
    primal = sum(value * value for value in w) / 2 + losses
    difference = primal + sum(value * value for value in v) / 2 - dual
    sizes = 2.0 * ((np.abs(X) @ np.abs(W).T).max(axis=1) + np.abs(b).max()) + 1.0
    errors = (d + k + 3) * U * sizes
    moved = (n + 3) * U * np.append(np.abs(X.T) @ np.abs(alpha), (0.0 if free else bias) * np.abs(alpha).sum(axis=0))
    delta = float(np.sqrt(moved @ moved))
    apart = float(sum((a - c) ** 2 for a, c in zip(w, v, strict=True))) ** 0.5
    rows = float((C + np.abs(alpha).sum(axis=1)) @ errors) + 8.0 * k * U * float(C.sum())
    weight, of_balance, balance = float(np.abs(alpha).sum()), 0.0, 0.0
    if free and weight > 0.0:  # what is left of sum_i alpha_ic = 0 is worth b_c each
        balance = max(abs(float(value)) for value in sums) / weight
        of_balance = sum(abs(float(value)) * abs(float(b_c)) for value, b_c in zip(sums, b, strict=True))
    return Truth(
        float(primal),
        float(difference),
        max(outside, balance),
        violation,
        4.0 * rows + 1e-13 * float(primal),
        4.0 * (rows + delta * (apart + delta) + of_balance) + 1e-9 * float(difference) + 1e-15 * float(primal),
        4.0 * float(errors.max()) + (n + 3) * U,
    )


@_in_100_digits
def one_class_truth(X: np.ndarray, C: np.ndarray, nu: float, w: np.ndarray, rho: float, alpha: np.ndarray) -> Truth:
    """Recompute the one-class problem."""
    arithmetic: Any = Exact() if X.size <= LARGEST_EXACT else Compensated()
    number = arithmetic.number
    n, d = X.shape
    r, total = number(rho), sum(number(value) for value in C)
    scores = arithmetic.times(X, w)
    primal = sum(number(value) ** 2 for value in w) / 2 - number(nu) * total * r
    primal += sum(number(C_i) * max(r - f, 0) for C_i, f in zip(C, scores, strict=True))
    v = arithmetic.times(np.ascontiguousarray(X.T), alpha)
    difference = primal + sum(value * value for value in v) / 2
    errors = (d + 3) * U * (np.abs(X) @ np.abs(w) + abs(rho))
    moved = (n + 3) * U * (np.abs(X.T) @ np.abs(alpha))
    delta = float(np.sqrt(moved @ moved))
    apart = float(sum((number(a) - c) ** 2 for a, c in zip(w, v, strict=True))) ** 0.5
    outside = max(max(-a, a - C_i, 0.0) / (C_i or 1.0) for a, C_i in zip(alpha, C, strict=True))
    missing = abs(float(sum(number(a) for a in alpha) - number(nu) * total)) / float(total)
    # offset_ is rho but for a share of 1e-12, and the sum of alpha misses its value by rounding
    of_rho = (2e-12 + missing) * abs(rho) * float(total)
    rows = float((C + np.abs(alpha)) @ errors)
    rounding = 4.0 * rows + of_rho + 1e-13 * (abs(float(primal)) + 0.5 * float(w @ w) + nu * float(total) * abs(rho))
    return Truth(
        float(primal),
        float(difference),
        max(outside, missing),
        np.nan,
        rounding,
        rounding + 4.0 * delta * (apart + delta) + 1e-9 * float(difference),
        0.0,
    )


def truths(model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> list[Truth]:
    """Recompute every problem of a fitted model."""
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    n = len(X)
    weights = np.ones(n) if sample_weight is None else np.broadcast_to(np.asarray(sample_weight, float), n)
    if hasattr(model, "nu"):
        return [one_class_truth(X, weights, model.nu, model.coef_[0], -float(model.intercept_[0]), model.dual_coef_)]
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else np.asarray(model.coef_)
    coef, intercepts = np.atleast_2d(coef), np.broadcast_to(np.ravel(model.intercept_), len(np.atleast_2d(coef)))
    shared: dict[str, Any] = {
        "X": X,
        "loss": getattr(model, "loss", "logistic"),
        "bias": float(model.intercept_scaling) if model.fit_intercept else 0.0,
        "free": model.fit_intercept == "free",
        "over_columns": getattr(model, "penalty", "l2") != "l2",
        "l1": 1.0 if getattr(model, "penalty", "l2") == "l1" else 0.0,
    }
    if hasattr(model, "l1_ratio"):
        shared |= _logistic_problem(model)
    dual = np.atleast_2d(model.dual_coef_)
    C = model.C * weights
    if not hasattr(model, "classes_"):
        how = {"epsilon": model.epsilon, "quantile": model.quantile, **shared}
        return [truth(Problem(y=np.asarray(y, float), C=C, w=coef[0], b=intercepts[0], beta=dual[0], **how))]
    codes = np.searchsorted(model.classes_, y)
    of_class = np.ones(len(model.classes_))
    if model.class_weight == "balanced":
        per_class = np.bincount(codes, weights, minlength=len(of_class))
        of_class = per_class.sum() / (len(of_class) * per_class)
    elif model.class_weight is not None:
        of_class = np.array([model.class_weight.get(c, 1.0) for c in model.classes_.tolist()])
    if getattr(model, "multi_class", "ovr") == "crammer_singer":
        if len(model.classes_) == 2:
            coef, dual = np.vstack([-coef, coef]) / 2.0, np.vstack([-dual, dual])
            intercepts = np.array([-intercepts[0], intercepts[0]]) / 2.0
        return [crammer_singer_truth(X, codes, C * of_class[codes], coef, intercepts, dual.T, shared["bias"])]
    if shared["loss"] == "logistic" and model._is_multinomial(len(model.classes_)):
        rows, how = C * of_class[codes], (shared["bias"], shared["free"])
        return [multinomial_truth(X, codes, rows, coef, intercepts, dual.T, *how)]
    found = []
    for k in range(len(coef)):
        positive = codes == (1 if len(coef) == 1 else k)
        rest = of_class[0] if len(coef) == 1 else 1.0
        rows = C * np.where(positive, of_class[1 if len(coef) == 1 else k], rest)
        sign = np.where(positive, 1.0, -1.0)
        found.append(truth(Problem(y=sign, C=rows, w=coef[k], b=float(intercepts[k]), beta=dual[k], **shared)))
    return found


def _logistic_problem(model: Any) -> dict[str, Any]:
    """Return what is special to LogisticRegression: its intercept is free, and ``l1_ratio`` names the penalty."""
    free = bool(model.fit_intercept) and model.fit_intercept != "regularised" and model.solver != "liblinear"
    l1 = {"l1": 1.0, "l2": 0.0}.get(model.penalty, model.l1_ratio or 0.0)
    over_columns = l1 > 0.0 or model.penalty == "elasticnet"
    return {"free": free, "l1": l1, "over_columns": over_columns, **({"bias": 1.0} if free else {})}


def complaints(model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> list[str]:
    """Return what is not true of what the model claims; an empty list if all of it is."""
    for name in ("coef_", "intercept_", "dual_coef_", "duality_gap_", "objective_", "dual_objective_"):
        values = getattr(model, name)
        values = values.data if sparse.issparse(values) else values
        if not np.isfinite(values).all():
            return [f"{name} is not finite"]
    found = _disagreements(model)
    for k, t in enumerate(truths(model, X, y, sample_weight)):
        claim = {name: _of(model, name, k) for name in CLAIMS}
        found += [f"problem {k}: {text}" for text in _complaints(model, t, claim)]
    return found


CLAIMS = ("objective_", "dual_objective_", "duality_gap_", "kkt_violation_", "converged_", "stop_reason_")


def _of(model: Any, name: str, k: int) -> Any:
    """Return what the model claims of problem ``k``: of a single one by its attributes, of several by their table."""
    several = model.per_class_.n_rows > 1
    return model.per_class_[name.removesuffix("_")][k] if several else getattr(model, name)


def _disagreements(model: Any) -> list[str]:
    """Return which attributes are not what the table of all problems makes of them."""
    table = model.per_class_
    if table.n_rows == 1:
        return []
    worst = max(range(table.n_rows), key=lambda k: (not table["converged"][k], table["duality_gap"][k]))
    expected = {
        **{f"{name}_": table[name].max() for name in ("n_iter", "kkt_violation", "duality_gap")},
        **{f"{name}_": table[name].sum() for name in ("n_steps", "objective", "dual_objective")},
        **{f"{name}_": table[name][worst] for name in ("solver", "stop_reason")},
        "converged_": table["converged"].all(),
    }
    return [f"{name} is not that of the classes together" for name, v in expected.items() if getattr(model, name) != v]


def _complaints(model: Any, t: Truth, claim: dict[str, Any]) -> list[str]:
    primal, dual, gap, violation, converged, reason = claim.values()
    difference, found = primal - dual, []
    if not t.infeasible <= SLACK:
        found.append(f"the dual variables are not feasible, by {t.infeasible:.1e}")
    if not abs(primal - t.primal) <= t.rounding + TINY:
        found.append(f"objective_ {primal!r} is {t.primal!r}")
    if not t.difference >= -t.difference_rounding:
        found.append(f"the dual is above the primal by {-t.difference:.1e}")
    allowed = t.difference_rounding + 4.0 * U * abs(primal) + t.infeasible * abs(primal) + TINY
    if not abs(difference - t.difference) <= allowed:
        found.append(f"primal - dual is {t.difference:.3e}, claimed {difference:.3e} (rounding {allowed:.1e})")
    size = max(abs(primal), abs(dual)) if hasattr(model, "nu") else primal
    wrong = gap * size - t.difference
    # The optimum of the one-class problem may be 0: then the gap is relative to more than that.
    if not -allowed <= wrong <= allowed and not (hasattr(model, "nu") and 0.0 <= gap * size <= t.difference):
        found.append(f"duality_gap_ {gap:.3e} is {t.difference / size:.3e}")
    largest, slack = max(t.violation, t.strict), t.violation_rounding + 1e-6 * t.violation
    if isfinite(t.violation) and not t.violation - slack <= violation <= (1.0 + 1e-6) * largest + slack:
        found.append(f"kkt_violation_ {violation:.3e} is {t.violation:.3e} (rounding {t.violation_rounding:.1e})")
    if reason not in REASONS:
        found.append(f"stop_reason_ is {reason!r}")
    if converged and reason not in ("tol", "gap_tol", "rounding"):
        found.append(f"converged_ although {reason!r} ended training")
    if reason == "tol" and not (converged and violation < model.tol):
        found.append(f"'tol' at a violation of {violation:.3e}, tol {model.tol:.1e}, converged_ {converged}")
    asked = ENOUGH * model.tol if model.gap_tol is None else model.gap_tol
    if reason == "gap_tol" and not (converged and gap <= asked):
        found.append(f"'gap_tol' at a gap of {gap:.3e}, asked for {asked:.1e}, converged_ {converged}")
    if converged and reason == "rounding" and not gap <= GOOD_GAP:
        found.append(f"converged_ at a gap of {gap:.1e}")
    return found
