"""The back end of arrays against rows in memory: every verb, every loss, dense in both precisions and sparse."""

import numpy as np
import pytest
from problems import EVERY_LOSS, classification, csr, regression

from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.runtime.pace import do_nothing
from hingeline.runtime.threads import Team
from hingeline.solvers.shards.alpha import starting_alpha
from hingeline.solvers.shards.in_memory import InMemoryShards
from hingeline.solvers.shards.line import Line

N, D, BIAS, DELTA = 300, 7, 0.5, 0.3
LAYOUTS = ("float64", "float32", "sparse")


class Pair:
    """The same problem in memory and as arrays, with weights and rows of no weight."""

    def __init__(self, library, name, layout="float64", bias=BIAS, seed=0):
        from hingeline.arrays.problem import make_array_problem
        from hingeline.arrays.rows import array_rows
        from hingeline.arrays.shards import ArrayShards

        rng = np.random.default_rng(seed)
        self.loss = EVERY_LOSS[name](0.7)
        X, y = (regression if self.loss.is_regression else classification)(N, D, seed=seed, density=0.6)
        X[:3] = 0.0
        X = X.astype(np.float32).astype(np.float64)
        y = y.astype(np.float64 if self.loss.is_regression else np.float32)
        weights = rng.choice([0.0, 0.5, 2.0], N, p=[0.1, 0.5, 0.4])
        problem = make_problem(read_data(X, bias), y, weights, self.loss)
        self.w, self.p = rng.normal(size=D + 1), rng.normal(size=D + 1)
        start = rng.uniform(0.0, 0.3, N)
        self.here = InMemoryShards(problem, starting_alpha(problem, start), Team(1), do_nothing)
        there = library.sparse(csr(X)) if layout == "sparse" else library.put(X.astype(layout))
        rows = array_rows(there, bias)
        self.arrays = make_array_problem(rows, library.put(y), library.put(weights), self.loss)
        self.there = ArrayShards(self.arrays, self.arrays.starting_alpha(library.put(start)))
        self.both = (self.here, self.there)
        self.library = library

    def alphas(self):
        return self.here.alpha, self.library.back(self.there.alpha)


def same(found, rtol=1e-9, atol=1e-10):
    here, there = found
    np.testing.assert_allclose(there, here, rtol=rtol, atol=atol)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", sorted(EVERY_LOSS))
def test_every_verb(library, name, layout):
    pair = Pair(library, name, layout)
    delta = 0.0 if pair.loss.is_smooth else DELTA
    same(pair.alphas())
    same([shards.weights() for shards in pair.both])
    same([shards.certify(pair.w) for shards in pair.both])
    same([shards.certify_with_weights(pair.w)[1] for shards in pair.both])
    same([shards.alpha_lengths() for shards in pair.both])
    same([shards.losses_at_zero() for shards in pair.both])
    same([shards.mean_margin_at_zero() for shards in pair.both])
    assert pair.there.is_any_alpha()

    grams = [np.zeros((D + 1, D + 1)) for _ in pair.both]

    def compare(verb):
        responses, vectors = zip(*map(verb, pair.both), strict=True)
        same(responses)
        same(vectors)

    compare(lambda shards: shards.begin(pair.w, delta))
    for tau in (0.5, -1.0):
        for shards, G in zip(pair.both, grams, strict=True):
            shards.add_gram(G, afresh=tau == 0.5)
        same([np.triu(G) for G in grams])
        same([shards.curvature_times(pair.p) for shards in pair.both])
        same([shards.curvature_diagonal() for shards in pair.both])
        blocks = [shards.band_block() for shards in pair.both]
        same([Z.T @ (band[:, None] * Z) for Z, band in blocks])
        taus = np.array([0.0, 0.3, 1.0])
        same([shards.project(pair.p, taus) for shards in pair.both])
        same([shards.derivatives(taus) for shards in pair.both])
        for shards in pair.both:
            shards.propose(0.7)
        compare(lambda shards, tau=tau: shards.respond(tau))
        found = [shards.compare() for shards in pair.both]
        same([part[:2] for part in found], rtol=1e-8)
        same([np.zeros(D + 1) if part.excess is None else part.excess for part in found])
        for shards in pair.both:
            shards.keep(proposed=True)
        same(pair.alphas())
        for shards in pair.both:
            shards.adopt()
            shards.keep()
        same(pair.alphas())
    compare(lambda shards: shards.recentre(0.5 * delta))
    for shards in pair.both:
        shards.place(pair.w)
    compare(lambda shards: shards.respond(0.0, afresh=True))
    for shards in pair.both:
        shards.balance()
    same(pair.alphas(), atol=1e-9)
    assert abs(pair.there.weights()[-1]) < 1e-12
    for shards in pair.both:
        shards.reset_alpha()
    same(pair.alphas())


@pytest.mark.parametrize("name", sorted(EVERY_LOSS))
def test_rows_of_zeros_are_settled(library, name):
    pair = Pair(library, name, bias=0.0)
    same(pair.alphas())
    delta = 0.0 if pair.loss.is_smooth else DELTA
    same([shards.begin(pair.w, delta)[0] for shards in pair.both])
    same([shards.certify(pair.w) for shards in pair.both])


def test_a_sample_is_that_of_rows_in_memory(library):
    pair = Pair(library, "hinge")
    here, there = (shards.sample(4) for shards in pair.both)
    assert here.n_rows == there.n_rows
    same([part.certify(pair.w) for part in (here, there)])


def test_a_step_along_a_line(library):
    """Wherever the search runs, the slope that is left is small, and the responses are those of the step."""
    pair = Pair(library, "hinge")
    w, (_, v) = pair.w.copy(), pair.there.begin(pair.w, DELTA)
    p, taus = v - w, pair.there.first_taus
    values = pair.there.project(p, taus)
    slope = w @ p + pair.there.derivatives(np.zeros(1))[0, 0]
    line = Line(slope, w @ p, p @ p, 1e-3)
    tau = pair.there.step_to_minimum(line, taus, values)
    left = pair.there.derivatives(np.array([tau]))[0, 0] + line.wp + tau * line.pp
    assert slope < 0.0 < tau
    assert abs(left) <= 1e-3 * abs(slope)
    responses, _ = pair.there.respond(tau)
    pair.there.place(w + tau * p)
    same([responses, pair.there.respond(0.0)[0]])


def test_precise_sums(library):
    from hingeline.arrays.balance import precise_sum
    from hingeline.arrays.namespace import Place

    x = library.put(np.array([1e16, 1.0, -1e16, 3.0, 1e-3]))
    assert float(precise_sum(Place.of(x).xp, x)) == pytest.approx(4.001, rel=1e-12)
