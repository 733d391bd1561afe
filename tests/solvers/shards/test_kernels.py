"""What Newton's equation proposes for the dual variables, and the rows of the band as a dense block."""

import numpy as np
import pytest
from problems import classification, every_layout

from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.kernels.losses import Hinge
from hingeline.runtime.pace import do_nothing
from hingeline.runtime.threads import ALONE
from hingeline.solvers.shards.in_memory import InMemoryShards
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


@pytest.mark.parametrize("name", [name for name, _ in every_layout(np.ones((1, 1)))])
@pytest.mark.parametrize("ones", [False, True])
def test_rows_as_a_dense_block(name, ones):
    X, y = classification(20, 6, seed=2, density=0.5, ones=ones)
    matrix = dict(every_layout(X))[name]
    problem = make_problem(read_data(matrix, 0.5), y.astype(np.float32), None, Hinge(1.0))
    shards = InMemoryShards(problem, np.zeros(20), ALONE, do_nothing)
    which = np.array([3, 11, 4])
    block = shards._shards[0].dense_rows(which, 7)
    Z = y[:, None] * np.column_stack([matrix.toarray() if "csr" in name else matrix, np.full(20, 0.5)])
    np.testing.assert_allclose(block, Z[which], rtol=1e-15)
