"""What Newton's equation proposes for the dual variables."""

import numpy as np

from hingeline.solvers.shards.kernels import Vectors, propose


def test_a_whole_step_ends_exactly_at_the_bound():
    n = 3
    vectors = Vectors(*(np.zeros(n) for _ in Vectors._fields))
    vectors.alpha[:] = 0.1  # at C, outside of the band: 0.3 + (0.1 - 0.3) is less
    a = np.full(n, 0.3)
    propose(vectors, a, 1.0, 0.5, 0, n)
    np.testing.assert_array_equal(a, 0.1)
    propose(vectors, a, 0.5, 0.5, 0, n)
    np.testing.assert_array_equal(a, 0.1)
