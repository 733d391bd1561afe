"""Steps of Newton's method that are taken before their length is known."""

import numpy as np
import pytest
from dask_stand_in import partitioned
from problems import classification

from hingeline import SquaredHinge
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.solvers.shards import shards_of
from hingeline.solvers.shards.line import Line

N, D = 400, 5


@pytest.mark.parametrize(("stretch", "rounds"), [(1.0, 1), (10.0, 4)])
def test_a_step_of_length_1_is_taken_in_the_round_of_the_search(stretch, rounds):
    X, y = classification(N, D, seed=4)
    problem = make_problem(read_data(X, 1.0), y.astype(np.float32), None, SquaredHinge(1.0))
    rng = np.random.default_rng(0)
    w, p = 0.1 * rng.standard_normal(D + 1), stretch * np.append(X.T @ y, 0.0) / N
    alone = shards_of(problem, np.zeros(N))
    _, v = alone.begin(w, 0.0)
    alone.add_gram(np.zeros((D + 1, D + 1)), afresh=True)
    at_zero = float(alone.project(p, np.zeros(1))[0, 0])
    line = Line(at_zero + float(w @ p), float(w @ p), float(p @ p), 1e-3)
    assert line.slope < 0.0

    shards = partitioned(problem, np.zeros(N), [0, 100, 250, N])
    shards.uses_gram = True
    _, same_v = shards.begin(w, 0.0)
    np.testing.assert_allclose(same_v, v)
    before = shards.hosts.costs.rounds
    values = shards.project(p, shards.first_taus)
    shards.propose(1.0)
    tau = shards.step_to_minimum(line, shards.first_taus, values)
    found, change = shards.respond(tau)
    assert (tau == 1.0) == (stretch == 1.0)
    assert shards.hosts.costs.rounds - before <= rounds
    np.testing.assert_allclose(shards.hosts.w, w + tau * p)

    alone.propose(1.0)
    expected, expected_change = alone.respond(tau)
    np.testing.assert_allclose(found._replace(moved=0), expected._replace(moved=0), rtol=1e-9)
    np.testing.assert_allclose(change, expected_change, atol=1e-9)
    mine, theirs = shards.compare(), alone.compare()
    assert theirs.excess is not None
    np.testing.assert_allclose(mine.excess, theirs.excess, atol=1e-9)
    np.testing.assert_allclose(mine[:2], theirs[:2], rtol=1e-9)
    G, H = np.zeros((2, D + 1, D + 1))
    shards.add_gram(G, afresh=False)
    alone.add_gram(H, afresh=True)
    np.testing.assert_allclose(np.triu(G), np.triu(H), rtol=1e-9, atol=1e-9)
