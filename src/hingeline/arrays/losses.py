"""The verbs of the losses (kernels/losses/verbs.py) over whole arrays of any namespace.

``C`` has one entry per row, 0 if the row does not respond, or a single entry for all rows. Verbs that divide by C
return 0 for rows without weight.
"""

from __future__ import annotations

from typing import Any

from ..kernels.losses import EpsilonInsensitive, Hinge, Logistic, Loss, Pinball, SquaredEpsilonInsensitive, SquaredHinge
from ..kernels.losses.logistic import NEAR_ONE


class ArrayLoss:
    """The verbs of ``loss`` for arrays of the namespace ``xp``; this class has those of a loss with a box.

    For the hinge and the pinball loss, whose dual is linear in the box.
    """

    def __init__(self, loss: Any, xp: Any) -> None:
        self.loss, self.xp = loss, xp

    def missing(self, y: Any, f: Any) -> Any:
        """Return m."""
        return y - f if self.loss.is_regression else 1.0 - y * f

    def bounds(self, C: Any) -> tuple[Any, Any]:
        """Return the box."""
        return 0.0 * C, C

    def primal_terms(self, m: Any, C: Any) -> Any:
        """Return the losses."""
        least, most = self.bounds(C)
        return most * self._positive(m) - least * self._positive(-m)

    def gap_terms(self, m: Any, alpha: Any, C: Any) -> Any:
        """Return the gap terms, each >= 0."""
        return self.unsettled(m, alpha, C)[1]

    def gap_estimates(self, m: Any, alpha: Any, C: Any) -> Any:
        """Return the gap terms, or something cheaper."""
        return self.gap_terms(m, alpha, C)

    def violations(self, m: Any, alpha: Any, C: Any) -> Any:
        """Return how far each variable is from its optimality condition."""
        least, most = self.bounds(C)
        resting = ((alpha == least) & (m < 0.0)) | ((alpha == most) & (m > 0.0)) | (C <= 0.0)
        return self._unless(resting, self.xp.abs(m))

    def responses(self, m: Any, C: Any) -> Any:
        """Return the variables that m calls for, without smoothing."""
        least, most = self.bounds(C)
        return self._unless(m <= 0.0, most + 0.0 * m) + self._unless(m >= 0.0, least + 0.0 * m)

    def proximal(self, m: Any, abar: Any, delta: float, C: Any) -> tuple[Any, Any]:
        """Return the responses to m, smoothed around ``abar`` at width ``delta``, and the band."""
        least, most = self.bounds(C)
        a = abar + (0.5 / delta) * C * m
        band = self._unless((a <= least) | (a >= most), C + 0.0 * m)
        return self.xp.minimum(self.xp.maximum(a, least), most), band

    def unsettled(self, m: Any, alpha: Any, C: Any) -> tuple[Any, Any]:
        """Return violations and gap terms that smoothing leaves."""
        least, most = self.bounds(C)
        above, below = self._positive(m), self._positive(-m)
        to_most, to_least = self._positive(most - alpha), self._positive(alpha - least)
        violation = self.xp.maximum(self._unless(to_most <= 0.0, above), self._unless(to_least <= 0.0, below))
        return violation, to_most * above + to_least * below

    def _positive(self, x: Any) -> Any:
        return self.xp.where(x > 0.0, x, self.xp.zeros_like(x))

    def _unless(self, flags: Any, x: Any) -> Any:
        """Return x, with 0 where ``flags`` are set."""
        return self.xp.where(flags, self.xp.zeros_like(x), x)

    def _over_C(self, x: Any, C: Any) -> Any:
        """Return x/C, and 0 for rows of no weight."""
        weightless = C <= 0.0
        return self._unless(weightless, x / self.xp.where(weightless, self.xp.ones_like(C), C))


class ArrayPinball(ArrayLoss):
    """The pinball loss: another box."""

    def bounds(self, C: Any) -> tuple[Any, Any]:  # noqa: D102
        return (self.loss.quantile - 1.0) * C, self.loss.quantile * C


class _Smooth(ArrayLoss):
    """A smooth loss: smoothing leaves nothing."""

    def responses(self, m: Any, C: Any) -> Any:
        return self.proximal(m, m, 1.0, C)[0]

    def unsettled(self, m: Any, alpha: Any, C: Any) -> tuple[Any, Any]:
        zeros = self.xp.zeros_like(m)
        return zeros, zeros


class ArraySquaredHinge(_Smooth):
    """The squared hinge loss."""

    def bounds(self, C: Any) -> tuple[Any, Any]:  # noqa: D102
        return 0.0 * C, self.xp.full_like(C, float("inf"))

    def primal_terms(self, m: Any, C: Any) -> Any:  # noqa: D102
        xi = self._positive(m)
        return C * xi * xi

    def gap_terms(self, m: Any, alpha: Any, C: Any) -> Any:  # noqa: D102
        xi = self._positive(m)
        e = xi - 0.5 * self._over_C(alpha, C)
        return self._unless(C <= 0.0, C * e * e + alpha * (xi - m))

    def violations(self, m: Any, alpha: Any, C: Any) -> Any:  # noqa: D102
        g = m - 0.5 * self._over_C(alpha, C)
        return self._unless(((alpha == 0.0) & (g < 0.0)) | (C <= 0.0), self.xp.abs(g))

    def proximal(self, m: Any, abar: Any, delta: float, C: Any) -> tuple[Any, Any]:  # noqa: D102
        return 2.0 * C * self._positive(m), self._unless(m <= 0.0, C + 0.0 * m)


class ArrayLogistic(_Smooth):
    """The logistic loss, numerically safe at both ends of exponentials and logarithms."""

    def missing(self, y: Any, f: Any) -> Any:  # noqa: D102
        return -y * f

    def primal_terms(self, m: Any, C: Any) -> Any:  # noqa: D102
        return C * (self._positive(m) + self.xp.log1p(self.xp.exp(-self.xp.abs(m))))

    def gap_terms(self, m: Any, alpha: Any, C: Any) -> Any:  # noqa: D102
        a = self._over_C(alpha, C)
        return C * (self._excess(a, m) + self._excess(1.0 - a, -m))

    def gap_estimates(self, m: Any, alpha: Any, C: Any) -> Any:  # noqa: D102
        xp, a, s = self.xp, self._over_C(alpha, C), self._sigmoid(m)
        d = a - s
        same = d == 0.0
        one = xp.ones_like(d)
        low, high = xp.where(same, one, 2.0 * s + a), xp.where(same, one, xp.maximum(3.0 - 2.0 * s - a, xp.abs(d)))
        return C * (1.5 * d * (d / low + d / high))

    def violations(self, m: Any, alpha: Any, C: Any) -> Any:  # noqa: D102
        return self._unless(C <= 0.0, self.xp.abs(self._sigmoid(m) - self._over_C(alpha, C)))

    def proximal(self, m: Any, abar: Any, delta: float, C: Any) -> tuple[Any, Any]:  # noqa: D102
        s = self._sigmoid(m)
        return C * s, C * s * self._sigmoid(-m)

    def _sigmoid(self, m: Any) -> Any:
        e = self.xp.exp(-self.xp.abs(m))
        r = 1.0 / (1.0 + e)
        return self.xp.where(m >= 0.0, r, e * r)

    def _excess(self, a: Any, m: Any) -> Any:
        """Return a log(a/s) - a + s >= 0, for s = sigmoid(m)."""
        xp, s = self.xp, self._sigmoid(m)
        one = xp.ones_like(s)
        d = xp.where(s > 0.0, (a - s) / xp.where(s > 0.0, s, one), one / NEAR_ONE)
        near = s * d * d * (1.0 / 2.0 - d * (1.0 / 6.0 - d * (1.0 / 12.0 - d / 20.0)))
        log_s = -self._positive(-m) - xp.log1p(xp.exp(-xp.abs(m)))
        far = self._positive(a * (xp.log(xp.where(a > 0.0, a, one)) - log_s) - a + s)
        return xp.where(a <= 0.0, s, xp.where(xp.abs(d) < NEAR_ONE, near, far))


class _Tube(ArrayLoss):
    """A loss that is zero within ``epsilon``; a subclass says what the dual's diagonal is."""

    def bounds(self, C: Any) -> tuple[Any, Any]:
        return -C, C

    def diagonal_times(self, alpha: Any, C: Any) -> Any:
        """Return what a squared loss takes from m, for dual variables ``alpha``."""
        return 0.0 * alpha

    def violations(self, m: Any, alpha: Any, C: Any) -> Any:
        eps, most = self.loss.epsilon, self.bounds(C)[1]
        g = m - self.diagonal_times(alpha, C)
        inner = self.xp.where(alpha > 0.0, g - eps, g + eps)
        resting = ((alpha == most) & (inner > 0.0)) | ((alpha == -most) & (inner < 0.0))
        moving = self._unless(resting, self.xp.abs(inner))
        at_zero = self._positive(self.xp.abs(g) - eps)
        return self._unless(C <= 0.0, self.xp.where(alpha == 0.0, at_zero, moving))

    def _soft(self, x: Any, eps: Any) -> Any:
        return self._positive(x - eps) - self._positive(-x - eps)


class ArrayEpsilonInsensitive(_Tube):
    """The epsilon-insensitive loss."""

    def responses(self, m: Any, C: Any) -> Any:  # noqa: D102
        return super().responses(self._soft(m, self.loss.epsilon), C)

    def primal_terms(self, m: Any, C: Any) -> Any:  # noqa: D102
        return C * self._positive(self.xp.abs(m) - self.loss.epsilon)

    def gap_terms(self, m: Any, alpha: Any, C: Any) -> Any:  # noqa: D102
        eps, mu, a = self.loss.epsilon, self.xp.where(alpha >= 0.0, m, -m), self.xp.abs(alpha)
        inside = (C - a) * self._positive(mu - eps) + a * self._positive(eps - mu)
        return inside + C * self._positive(-mu - eps)

    def proximal(self, m: Any, abar: Any, delta: float, C: Any) -> tuple[Any, Any]:  # noqa: D102
        curvature = (0.5 / delta) * C
        a = self._soft(abar + curvature * m, curvature * self.loss.epsilon)
        outside = (a == 0.0) | (self.xp.abs(a) >= C)
        return self.xp.minimum(self.xp.maximum(a, -C), C), self._unless(outside, C + 0.0 * m)

    def unsettled(self, m: Any, alpha: Any, C: Any) -> tuple[Any, Any]:  # noqa: D102
        return self.violations(m, alpha, C), self._unless(C <= 0.0, self.gap_terms(m, alpha, C))


class ArraySquaredEpsilonInsensitive(_Smooth, _Tube):
    """The squared epsilon-insensitive loss."""

    def bounds(self, C: Any) -> tuple[Any, Any]:  # noqa: D102
        most = self.xp.full_like(C, float("inf"))
        return -most, most

    def diagonal_times(self, alpha: Any, C: Any) -> Any:  # noqa: D102
        return 0.5 * self._over_C(alpha, C)

    def primal_terms(self, m: Any, C: Any) -> Any:  # noqa: D102
        x = self._positive(self.xp.abs(m) - self.loss.epsilon)
        return C * x * x

    def gap_terms(self, m: Any, alpha: Any, C: Any) -> Any:  # noqa: D102
        eps, mu = self.loss.epsilon, self.xp.where(alpha >= 0.0, m, -m)
        a = self.xp.abs(alpha)
        above, beyond = self._positive(mu - eps), self._positive(-mu - eps)
        e = above - 0.5 * self._over_C(a, C)
        return self._unless(C <= 0.0, C * e * e + a * self._positive(eps - mu) + C * beyond * beyond)

    def proximal(self, m: Any, abar: Any, delta: float, C: Any) -> tuple[Any, Any]:  # noqa: D102
        x = self._soft(m, self.loss.epsilon)
        return 2.0 * C * x, self._unless(x == 0.0, C + 0.0 * m)


KINDS: dict[type, type[ArrayLoss]] = {
    Hinge: ArrayLoss,
    Pinball: ArrayPinball,
    SquaredHinge: ArraySquaredHinge,
    Logistic: ArrayLogistic,
    EpsilonInsensitive: ArrayEpsilonInsensitive,
    SquaredEpsilonInsensitive: ArraySquaredEpsilonInsensitive,
}


def array_loss(loss: Loss, xp: Any) -> ArrayLoss:
    """Return the verbs of ``loss`` for arrays of ``xp``."""
    return KINDS[type(loss)](loss, xp)
