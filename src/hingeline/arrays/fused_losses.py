"""The verbs of the losses (kernels/losses/verbs.py) as Triton sees them; ``KIND`` chooses when a kernel is compiled."""

from __future__ import annotations

import triton
import triton.language as tl
from triton.language.extra import libdevice

from ..kernels.losses import EpsilonInsensitive, Hinge, Logistic, Pinball, SquaredEpsilonInsensitive, SquaredHinge

BOX, SQUARED_HINGE, LOGISTIC, TUBE, SQUARED_TUBE = map(tl.constexpr, range(5))
KINDS: dict[type, int] = {
    Hinge: 0,
    Pinball: 0,
    SquaredHinge: 1,
    Logistic: 2,
    EpsilonInsensitive: 3,
    SquaredEpsilonInsensitive: 4,
}


@triton.jit
def weights(values, i, inside, ONE: tl.constexpr):  # type: ignore[no-untyped-def]
    """The values of rows i, or the one value for all; 0 for rows that are not inside."""
    if ONE:
        return tl.where(inside, tl.load(values), 0.0)
    else:
        return tl.load(values + i, mask=inside, other=0.0)


@triton.jit
def positive(x):  # type: ignore[no-untyped-def]
    """max(0, x)."""
    return tl.where(x > 0.0, x, 0.0)


@triton.jit
def sigmoid(m):  # type: ignore[no-untyped-def]
    """1/(1 + exp(-m))."""
    e = tl.exp(-tl.abs(m))
    r = 1.0 / (1.0 + e)
    return tl.where(m >= 0.0, r, e * r)


@triton.jit
def proximal(m, abar, C, inverse, low, high, eps, KIND: tl.constexpr):  # type: ignore[no-untyped-def]
    """The response and the band; ``inverse`` is 1/(2 delta), the box is low C to high C."""
    if KIND == BOX:
        a = abar + C * inverse * m
        least, most = low * C, high * C
        return tl.minimum(tl.maximum(a, least), most), tl.where((a > least) & (a < most), C, 0.0)
    elif KIND == SQUARED_HINGE:
        return 2.0 * C * positive(m), tl.where(m > 0.0, C, 0.0)
    elif KIND == LOGISTIC:
        s = sigmoid(m)
        return C * s, C * s * sigmoid(-m)
    elif KIND == TUBE:
        curvature = C * inverse
        x = abar + curvature * m
        a = positive(x - curvature * eps) - positive(-x - curvature * eps)
        return tl.minimum(tl.maximum(a, -C), C), tl.where((a != 0.0) & (tl.abs(a) < C), C, 0.0)
    else:
        x = positive(m - eps) - positive(-m - eps)
        return 2.0 * C * x, tl.where(x != 0.0, C, 0.0)


@triton.jit
def primal(m, C, low, high, eps, KIND: tl.constexpr):  # type: ignore[no-untyped-def]
    """The loss."""
    if KIND == BOX:
        return high * C * positive(m) - low * C * positive(-m)
    elif KIND == SQUARED_HINGE:
        return C * positive(m) * positive(m)
    elif KIND == LOGISTIC:
        return C * (positive(m) + libdevice.log1p(tl.exp(-tl.abs(m))))
    else:
        x = positive(tl.abs(m) - eps)
        return C * x if KIND == TUBE else C * x * x


@triton.jit
def unsettled(m, a, C, low, high, eps, KIND: tl.constexpr):  # type: ignore[no-untyped-def]
    """Violation and gap term that smoothing leaves."""
    if KIND == BOX:
        above, below = positive(m), positive(-m)
        least, most = low * C, high * C
        # Compared before they are subtracted: a product and a difference may be rounded as one.
        violation = tl.maximum(tl.where(a < most, above, 0.0), tl.where(a > least, below, 0.0))
        gap = tl.where(a < most, (most - a) * above, 0.0) + tl.where(a > least, (a - least) * below, 0.0)
        return violation, gap
    elif KIND == TUBE:
        inner = tl.where(a > 0.0, m - eps, m + eps)
        resting = ((a >= C) & (inner > 0.0)) | ((a <= -C) & (inner < 0.0))
        violation = tl.where(a == 0.0, positive(tl.abs(m) - eps), tl.where(resting, 0.0, tl.abs(inner)))
        mu = tl.where(a >= 0.0, m, -m)
        size = tl.abs(a)
        gap = (C - size) * positive(mu - eps) + size * positive(eps - mu) + C * positive(-mu - eps)
        return tl.where(C > 0.0, violation, 0.0), tl.where(C > 0.0, gap, 0.0)
    else:
        return 0.0 * m, 0.0 * m


@triton.jit
def certified(m, a, C, low, high, eps, KIND: tl.constexpr):  # type: ignore[no-untyped-def]
    """Violation and gap term of a dual variable that need not be a response; not of the logistic loss."""
    if KIND == BOX:
        violation, gap = unsettled(m, a, C, low, high, eps, KIND)
        return tl.where(C > 0.0, violation, 0.0), gap
    elif KIND == SQUARED_HINGE:
        half = tl.where(C > 0.0, 0.5 * a / tl.where(C > 0.0, C, 1.0), 0.0)
        xi, g = positive(m), m - half
        gap = C * (xi - half) * (xi - half) + a * (xi - m)
        resting = (C <= 0.0) | ((a == 0.0) & (g < 0.0))
        return tl.where(resting, 0.0, tl.abs(g)), tl.where(C > 0.0, gap, 0.0)
    else:
        return unsettled(m, a, C, low, high, eps, KIND)
