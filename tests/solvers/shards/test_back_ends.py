"""Every back end against the definitions in NumPy: one shard, threads, blocks of a file, partitions of a cluster."""

from functools import partial

import numpy as np
import pytest
from problems import LOSSES, classification, csr

from hingeline.data import blocks as data_blocks
from hingeline.data.blocks import Blocks
from hingeline.data.matrix import Data
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.kernels.losses import missing, proximal, pull
from hingeline.runtime.pace import do_nothing
from hingeline.runtime.threads import Team
from hingeline.solvers.shards import in_memory
from hingeline.solvers.shards.alpha import AlphaInMemory, starting_alpha
from hingeline.solvers.shards.in_memory import InMemoryShards, shard_count
from hingeline.solvers.shards.line import LADDER, Line
from hingeline.solvers.shards.out_of_core import BlockShards

N, D, BIAS, DELTA = 300, 7, 0.5, 0.3
BACK_ENDS = ("one shard", "three threads", "blocks", "dask")


@pytest.fixture(params=BACK_ENDS)
def back_end(request, monkeypatch):
    """Yield a function that puts a problem behind the back end."""
    monkeypatch.setattr(in_memory, "WORTH_SHARING", 0)
    monkeypatch.setattr(in_memory, "LEAST_STORED", 1)
    monkeypatch.setattr(in_memory, "AT_ONCE", 0)
    with Team(3 if request.param == "three threads" else 1) as team:

        def shards_of(problem, alpha):
            if request.param == "dask":
                pytest.importorskip("distributed")
                from dask_stand_in import partitioned

                return partitioned(problem, alpha, [0, 50, 51, 200, N])
            if request.param == "blocks":
                bounds = np.array([0, 50, 51, 200, N])
                data = problem.data
                cut = Blocks(data.rows, bounds, together=2, resident_bytes=10**6)
                streamed = Data(data.rows, data.n_rows, data.n_features, data.distinct, data.q, cut)
                problem = type(problem)(streamed, problem.y, problem.C, problem.loss, problem.kept)
                return BlockShards(problem, alpha, do_nothing)
            shards = InMemoryShards(problem, alpha, team, do_nothing)
            assert shards.n_shards == team.n_threads
            return shards

        yield shards_of


class Case:
    """A problem with weights, rows of zeros (of no weight, since there is a bias), and all of it in NumPy."""

    def __init__(self, loss, seed=0):
        rng = np.random.default_rng(seed)
        self.loss = LOSSES[loss](0.7)
        X, y = classification(N, D, seed=seed, density=0.6)
        weights = rng.choice([0.0, 0.5, 2.0], N, p=[0.1, 0.5, 0.4])
        targets = rng.normal(size=N) if self.loss.is_regression else y.astype(np.float32)
        self.problem = make_problem(read_data(csr(X), BIAS), targets, weights, self.loss)
        self.C, self.y = 0.7 * weights, targets
        self.s = np.ones(N) if self.loss.is_regression else y
        self.Z = self.s[:, None] * np.column_stack([X, np.full(N, BIAS)])
        self.w, self.p = rng.normal(size=D + 1), rng.normal(size=D + 1)
        self.alpha = starting_alpha(self.problem, rng.uniform(0.0, 0.3, N))

    def rows(self, centre):
        """Return m_i at w, the centre of the smoothing, and C_i for each row."""
        return list(zip(self.margins(self.w), centre, self.C, strict=True))

    def margins(self, w):
        return missing(self.loss, np.asarray(self.y, dtype=float), 0.0) - self.Z @ w


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_weights_and_certificate(back_end, loss):
    case = Case(loss)
    shards = back_end(case.problem, case.alpha)
    np.testing.assert_allclose(shards.weights(), case.Z.T @ case.alpha, rtol=1e-10, atol=1e-12)
    whole = InMemoryShards(case.problem, case.alpha, Team(1), do_nothing).certify(case.w)
    np.testing.assert_allclose(shards.certify(case.w), whole, rtol=1e-10)
    assert whole.losses > 0.0
    assert whole.gap >= 0.0


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_the_verbs_of_a_newton_step(back_end, loss):
    """Responses, derivatives, curvature and Gram matrix are what finite differences and NumPy make of each other."""
    case = Case(loss)
    smooth = case.loss.is_smooth
    delta = 0.0 if smooth else DELTA
    scale = case.loss.curvature_scale if smooth else 0.5 / DELTA
    shards = back_end(case.problem, case.alpha)
    responses, v = shards.begin(case.w, delta)
    shards.keep()
    alpha = shards.alpha.copy()
    np.testing.assert_allclose(v, case.Z.T @ alpha, rtol=1e-9, atol=1e-10)
    assert not alpha[case.C == 0.0].any()

    G = np.zeros((D + 1, D + 1))
    shards.add_gram(G, afresh=True)
    G = np.triu(G) + np.triu(G, 1).T
    taus = np.array([0.0, 0.3, 1.0])
    values = shards.project(case.p, taus)
    np.testing.assert_allclose(values, shards.derivatives(taus), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(values[0, 0], -alpha @ (case.Z @ case.p), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(shards.curvature_times(case.p), G @ case.p, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(shards.curvature_diagonal(), np.diag(G), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(values[0, 1], scale * case.p @ G @ case.p, rtol=1e-9)

    step = 1e-6  # a small step changes the slopes by what the curvature says, unless a row crosses a kink
    responses, change = shards.respond(step)
    np.testing.assert_allclose(change, -step * scale * (G @ case.p), rtol=1e-3, atol=1e-6 * np.abs(G).max())
    assert responses.losses == pytest.approx(shards.certify(case.w + step * case.p).losses, rel=1e-9)
    again, v_again = shards.respond(0.0, afresh=True)
    shards.keep()
    np.testing.assert_allclose(v_again, v + change, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(v_again, case.Z.T @ shards.alpha, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(again.losses, responses.losses, rtol=1e-12)
    shards.place(case.w)
    placed, _ = shards.respond(0.0, afresh=True)
    assert placed.losses == pytest.approx(shards.certify(case.w).losses, rel=1e-12)


@pytest.mark.parametrize("afresh", [False, True])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_a_move_is_projection_search_and_response(back_end, loss, afresh):
    """The step ends where the slope along p is zero, and the responses are those of that place."""
    case = Case(loss)
    delta = 0.0 if case.loss.is_smooth else DELTA
    moved, apart = (back_end(case.problem, case.alpha.copy()) for _ in range(2))
    for shards in (moved, apart):
        _, v = shards.begin(case.w, delta)
    p = v - case.w  # a direction of descent
    line = Line(-float(p @ p), float(case.w @ p), float(p @ p), 1e-9)
    tau, responses, change = moved.move(p, line, afresh)
    taus = apart.first_taus
    step = apart.step_to_minimum(line, taus, apart.project(p, taus))
    assert tau == pytest.approx(step, rel=1e-7)
    expected, expected_change = apart.respond(step, afresh)
    np.testing.assert_allclose(responses, expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(change, expected_change, rtol=1e-6, atol=1e-6 * np.abs(v).max())
    after = change if afresh else v + change
    slope = float((case.w + tau * p - after) @ p)
    assert abs(slope) <= 0.01 * float(p @ p)  # a cluster does not search for long


@pytest.mark.parametrize("loss", [name for name in sorted(LOSSES) if not LOSSES[name](1.0).is_smooth])
def test_rows_that_a_new_stage_has_taken_out_of_the_band(back_end, loss):
    """They are curved again, and v says how far their variables would go without bounds."""
    case = Case(loss)
    start = case.rows(case.alpha.copy())
    shards = back_end(case.problem, case.alpha)
    shards.begin(case.w, DELTA)
    shards.keep()
    centre, before = shards.alpha.copy(), shards.curvature_diagonal()
    shards.recentre(0.1 * DELTA)
    shards.keep()
    bounded, after = shards.alpha.copy(), shards.curvature_diagonal()
    extension = shards.extend()
    if extension is None:
        np.testing.assert_array_equal(shards.curvature_diagonal(), after)
        return
    curved = np.array([proximal(case.loss, m, a, DELTA, C)[1] > 0.0 for m, a, C in start])
    lost = curved & ~np.array([proximal(case.loss, m, a, 0.1 * DELTA, C)[1] > 0.0 for m, a, C in case.rows(centre)])
    pulls = np.array([pull(case.loss, m, a, C)[0] for m, a, C in case.rows(centre)])
    beyond = np.where(lost, centre + pulls * case.C / (0.2 * DELTA) - bounded, 0.0)
    assert extension.n_rows == lost.sum() > 0
    assert extension.moved == lost.sum()  # there is no Gram matrix yet
    np.testing.assert_allclose(extension.v, case.Z.T @ beyond, rtol=1e-9, atol=1e-9)
    gained = (case.C * lost) @ case.Z**2
    np.testing.assert_allclose(shards.curvature_diagonal(), after + gained, rtol=1e-9)
    assert (shards.curvature_diagonal() > before - 1e-9).all()
    shards.respond(0.0, afresh=True)
    np.testing.assert_allclose(shards.curvature_diagonal(), after, rtol=1e-12)


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_a_gram_matrix_that_is_kept_up_to_date(back_end, loss):
    case = Case(loss)
    shards = back_end(case.problem, case.alpha)
    shards.begin(case.w, 0.0 if case.loss.is_smooth else DELTA)
    kept = np.zeros((D + 1, D + 1))
    shards.add_gram(kept, afresh=True)
    for tau in (0.5, -1.0, 2.0):
        shards.project(case.p, LADDER[:1])
        shards.respond(tau)
        shards.add_gram(kept, afresh=False)
        basis = np.column_stack([shards.curvature_times(e) for e in np.eye(D + 1)])
        np.testing.assert_allclose(np.triu(kept), np.triu(basis), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("loss", [name for name in sorted(LOSSES) if LOSSES[name](1.0).is_smooth])
def test_what_newtons_equation_proposes(back_end, loss):
    case = Case(loss)
    shards = back_end(case.problem, case.alpha)
    shards.begin(case.w, 0.0)
    shards.keep()
    slopes = shards.alpha.copy()
    G = np.zeros((D + 1, D + 1))
    shards.add_gram(G, afresh=True)
    G = np.triu(G) + np.triu(G, 1).T
    shards.project(case.p, LADDER[:1])
    shards.propose(1.0)
    shards.respond(0.25)
    proposal = shards.compare()
    shards.keep(proposed=True)
    outside = 0.0 if proposal.excess is None else proposal.excess
    expected = case.Z.T @ slopes - case.loss.curvature_scale * (G @ case.p)
    np.testing.assert_allclose(case.Z.T @ shards.alpha, expected - outside, rtol=1e-8, atol=1e-8)
    parts = shards.certify(case.w + 0.25 * case.p)
    assert proposal.violation == pytest.approx(parts.violation, rel=1e-9)
    assert proposal.gap <= parts.gap * (1.0 + 1e-9)  # an estimate from below
    shards.adopt()
    shards.keep(proposed=True)
    assert not np.array_equal(shards.alpha, slopes)


def test_a_sample_has_about_the_same_objective(back_end):
    case = Case("hinge")
    shards = back_end(case.problem, case.alpha)
    n_rows, at_zero, parts = shards.solve_sample(4, partial(look_at, case.w))
    assert N // 4 - 4 <= n_rows <= N // 4
    assert at_zero == pytest.approx(shards.losses_at_zero())
    if isinstance(shards, AlphaInMemory):  # partitions of a cluster are sampled one by one
        direct = InMemoryShards(case.problem, case.alpha, Team(1), do_nothing).sample(4)
        np.testing.assert_allclose(parts, direct.certify(case.w), rtol=1e-12)


def look_at(w, sample):
    return sample.n_rows, sample.losses_at_zero(), sample.certify(w)


def test_every_number_of_threads_gives_the_same_up_to_rounding(monkeypatch):
    monkeypatch.setattr(in_memory, "WORTH_SHARING", 0)
    monkeypatch.setattr(in_memory, "LEAST_STORED", 1)
    case = Case("squared_hinge")
    found = []
    for n_threads in (1, 2, 5):
        with Team(n_threads) as team:
            shards = InMemoryShards(case.problem, case.alpha, team, do_nothing)
            responses, v = shards.begin(case.w, 0.0)
            G = np.zeros((D + 1, D + 1))
            shards.add_gram(G, afresh=True)
            found.append((*responses, *v, *np.triu(G).ravel()))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-10)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-10)


def test_shards_are_made_only_if_they_are_worth_it():
    assert shard_count(1000, 5, 16) == 1
    assert shard_count(10**8, 30, 16) == 16
    assert shard_count(10**7, 10**6, 16) == 2  # vectors of weights are added up: more shards would cost more
    assert shard_count(400_000, 10, 16) == 4


def test_blocks_of_rows_are_read_in_order(monkeypatch):
    """A pass over the file meets every block once."""
    case = Case("hinge")
    seen = []
    load = data_blocks.Blocks._load

    def recorded(self, number, *args):
        seen.append(number)
        return load(self, number, *args)

    monkeypatch.setattr(data_blocks.Blocks, "_load", recorded)
    data = case.problem.data
    cut = Blocks(data.rows, np.array([0, 100, 250, N]), together=1, resident_bytes=10**6)
    streamed = Data(data.rows, data.n_rows, data.n_features, data.distinct, data.q, cut)
    problem = type(case.problem)(streamed, case.problem.y, case.problem.C, case.loss, case.problem.kept)
    shards = BlockShards(problem, case.alpha, do_nothing)
    shards.begin(case.w, DELTA)
    shards.project(case.p, LADDER[:1])
    assert seen == [0, 1, 2, 0, 1, 2]
    shards.derivatives(LADDER)  # needs no row
    shards.add_gram(np.zeros((D + 1, D + 1)), afresh=True)  # was made with the responses
    assert len(seen) == 6
