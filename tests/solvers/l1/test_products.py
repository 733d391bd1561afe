"""Products with X' in twice the precision."""

from fractions import Fraction

import numpy as np
import pytest
from problems import csr

from hingeline.data.read import read_data
from hingeline.solvers.l1.products import add_exactly


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_sums_that_cancel(layout):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(21, 4)) * 10.0 ** rng.uniform(-5.0, 5.0, size=(21, 4))
    X[20] = 0.0
    r = rng.normal(size=21) * 10.0 ** rng.uniform(-3.0, 6.0, size=21)
    X[10:20], r[10:20] = X[:10], -r[:10] * (1.0 + 1e-13)
    data = read_data(csr(X) if layout == "csr" else X, 0.5)
    high, low = np.zeros(5), np.zeros(5)
    add_exactly(data.rows, r, high, low, 0, 21)
    with_bias = np.column_stack([X, np.full(21, 0.5)])
    for j in range(5):
        exact = sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(r, with_bias[:, j], strict=True))
        assert high[j] + low[j] == pytest.approx(float(exact), rel=1e-12)
