"""Sums in twice the precision, against fractions."""

from fractions import Fraction

import numpy as np
import pytest

from hingeline.kernels import double_double


def exact(values):
    return [Fraction(float(value)) for value in values]


def cancelling(seed, n=7, d=5):
    """Return rows whose products with x + low cancel to a tiny part of their terms."""
    rng = np.random.default_rng(seed)
    Z, x = 1e9 * rng.normal(size=(n, d)), rng.normal(size=d)
    x[-1] = 1.0
    Z[:, -1] = -(Z[:, :-1] @ x[:-1])
    return Z, x, 1e-17 * rng.normal(size=d)


@pytest.mark.parametrize("seed", range(5))
def test_products_are_rounded_once(seed):
    Z, x, low = cancelling(seed)
    start, out = np.ones(len(Z)), np.empty(len(Z))
    double_double.without_products(start, Z, x, low, out)
    whole = [a + b for a, b in zip(exact(x), exact(low), strict=True)]
    for row, found in zip(Z, out, strict=True):
        expected = 1 - sum(a * b for a, b in zip(exact(row), whole, strict=True))
        assert found == pytest.approx(float(expected), rel=1e-15)


@pytest.mark.parametrize("is_free", [False, True])
def test_what_is_left_of_an_equation(is_free):
    Z, p, low = cancelling(3)
    S, b, out = np.arange(1.0, 8.0), np.ones(5), np.empty(5)
    double_double.left_of_equation(b, Z, S, is_free, p, low, out)
    whole, rows = [u + v for u, v in zip(exact(p), exact(low), strict=True)], [exact(row) for row in Z]
    t = [s * sum(z * q for z, q in zip(row, whole, strict=True)) for s, row in zip(exact(S), rows, strict=True)]
    for j in range(5):
        expected = (
            1 - sum(row[j] * t_i for row, t_i in zip(rows, t, strict=True)) - (whole[j] if j < 4 or not is_free else 0)
        )
        assert out[j] == pytest.approx(float(expected), rel=1e-12)


def test_small_moves_add_up():
    x, low = np.array([1.0]), np.zeros(1)
    for _ in range(1000):
        double_double.move(x, low, 0.5, np.array([2e-19]), np.zeros(1))
    assert Fraction(x[0]) + Fraction(low[0]) - 1 == pytest.approx(Fraction(1, 10**16), rel=1e-12)
