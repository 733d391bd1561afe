"""The figures that LIBLINEAR prints."""

import numpy as np
import pytest

from hingeline.liblinear.evaluate import Tally


def test_blocks_add_up():
    rng = np.random.default_rng(0)
    y = rng.normal(size=50)
    v = y + 0.5 * rng.normal(size=50)
    v[:10] = y[:10]
    whole, blocks = Tally().add(v, y), Tally().add(v[:20], y[:20]).add(v[20:], y[20:])
    assert (blocks.rows, blocks.correct, blocks.accuracy) == (50, 10, 20.0)
    np.testing.assert_allclose(blocks, whole)
    assert blocks.mean_squared_error == pytest.approx(np.mean((v - y) ** 2))
    assert blocks.squared_correlation == pytest.approx(np.corrcoef(v, y)[0, 1] ** 2)


def test_what_does_not_vary_has_no_correlation():
    assert np.isnan(Tally().add(np.ones(5), np.arange(5.0)).squared_correlation)
