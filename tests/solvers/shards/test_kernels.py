"""What Newton's equation proposes for the dual variables."""

import numpy as np

from hingeline.kernels.losses import Hinge
from hingeline.solvers.shards.kernels import Vectors, propose


def test_a_whole_step_ends_exactly_at_the_bound():
    n = 3
    m, t, abar, band = np.ones(n), np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.uint8)
    # The responses are at C, outside of the band: 0.3 + (0.1 - 0.3) is less.
    at = (Hinge(0.1), tuple(Vectors(np.array([0.1]), np.ones(n, dtype=np.float32), m, t, abar, band, band)), 0.1, 5.0)
    a = np.full(n, 0.3)
    propose(*at, a, 1.0, 0, n)
    np.testing.assert_array_equal(a, 0.1)
    propose(*at, a, 0.5, 0, n)
    np.testing.assert_array_equal(a, 0.1)
