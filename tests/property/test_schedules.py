"""The paper's properties of schedules and preferences."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import LOSSES, classification

from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.kernels.random import seeded
from hingeline.kernels.schedule import Preferences, adapted, define_schedule, shuffle, sum_preferences
from hingeline.solvers.certificate import certify, rounding_floor
from hingeline.solvers.clock import Clock, Ended
from hingeline.solvers.driver import Run
from hingeline.solvers.dual.avsf import avsf
from hingeline.solvers.shards import shards_of
from hingeline.solvers.shards.alpha import starting_alpha
from hingeline.solvers.state import State
from hingeline.solvers.stop import Stop

examples = settings(max_examples=60)
KEPT = st.integers(1, 40)
SEEDS = st.integers(0, 2**64 - 1)


def scheduled(p, rng, slices=1):
    """Return Algorithm 4's schedule for the preferences p, built in some slices."""
    l = len(p)
    kept, I = np.arange(l, dtype=np.uint32), np.full(l, l, dtype=np.uint32)
    bounds = np.linspace(0, l, slices + 1).astype(int)
    total = sum(sum_preferences(p, kept, a, b) for a, b in pairwise(bounds))
    j, N = 0, total
    for a, b in pairwise(bounds):
        j, N = define_schedule(p, kept, I, a, b, j, N, rng)
    assert j == l
    return I


@given(l=KEPT, seed=SEEDS, spread=st.floats(0.0, 3.0))
@examples
def test_a_schedule_has_exactly_l_entries_near_their_share(l, seed, spread):
    p = np.exp(np.random.default_rng(seed).uniform(-spread, spread, size=l)).astype(np.float32)
    I = scheduled(p, seeded(seed))
    counts = np.bincount(I, minlength=l)
    assert counts.size == l  # no entry was left as it was
    assert (np.diff(I.astype(int)) >= 0).all()  # Algorithm 4 goes through the variables once
    np.testing.assert_array_equal(I, scheduled(p, seeded(seed), slices=3))  # slices change nothing


def test_frequencies_follow_preferences():
    rng = np.random.default_rng(0)
    p = np.exp(rng.uniform(np.log(1 / 20), np.log(20.0), size=30)).astype(np.float32)
    generator, rounds = seeded(12345), 4000
    counts = sum(np.bincount(scheduled(p, generator), minlength=30) for _ in range(rounds))
    expected = 30.0 * p / p.sum()
    # A count is floor(m) or floor(m) + 1, m = p_i (l - j)/N, and m itself varies: well below one visit a round.
    np.testing.assert_allclose(counts / rounds, expected, rtol=0, atol=6.0 / np.sqrt(rounds))


def test_equal_preferences_make_a_uniform_sweep():
    I = scheduled(np.full(50, 3.0, dtype=np.float32), seeded(1))
    np.testing.assert_array_equal(I, np.arange(50))


@given(l=KEPT, seed=SEEDS)
@examples
def test_a_shuffle_is_a_permutation(l, seed):
    order, sliced = np.arange(l, dtype=np.uint32), np.arange(l, dtype=np.uint32)
    shuffle(order, l, 0, l, seeded(seed))
    np.testing.assert_array_equal(np.sort(order), np.arange(l))
    rng = seeded(seed)
    shuffle(sliced, l, 0, l // 2, rng)
    shuffle(sliced, l, l // 2, l, rng)
    np.testing.assert_array_equal(order, sliced)


def test_a_shuffle_leaves_the_tail_alone():
    order = np.arange(20, dtype=np.uint32)
    shuffle(order, 12, 0, 12, seeded(3))
    np.testing.assert_array_equal(order[12:], np.arange(12, 20))
    assert (order[:12] != np.arange(12)).any()


def test_every_permutation_is_as_likely():
    rng, rounds, seen = seeded(9), 6000, {}
    for _ in range(rounds):
        order = np.arange(3, dtype=np.uint32)
        shuffle(order, 3, 0, 3, rng)
        seen[tuple(order)] = seen.get(tuple(order), 0) + 1
    assert len(seen) == 6
    assert max(abs(count / rounds - 1 / 6) for count in seen.values()) < 0.03


@given(p=st.floats(0.05, 20.0), gain=st.floats(0.0, 1e300), average=st.floats(-1.0, 1e300))
@examples
def test_a_preference_stays_within_its_bounds(p, gain, average):
    preferences = Preferences()
    new = adapted(preferences, np.float32(p), gain, average)
    assert np.float32(preferences.p_min) <= np.float32(new) <= preferences.p_max
    if average <= 0.0:
        assert new == np.float32(p)
    elif new not in (preferences.p_min, preferences.p_max):
        assert (new >= np.float32(p)) == (gain >= average)


def test_preferences_by_hand():
    preferences = Preferences()
    assert adapted(preferences, np.float32(1.0), 2.0, 2.0) == 1.0
    assert adapted(preferences, np.float32(1.0), 4.0, 2.0) == pytest.approx(np.exp(1 / 5))
    assert adapted(preferences, np.float32(1.0), 0.0, 2.0) == pytest.approx(np.exp(-1 / 5))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("max_iter", [1, 2, 5, 30])
def test_preferences_of_a_run(loss, max_iter):
    X, y = classification(80, 5, seed=2)
    problem = make_problem(read_data(X), y.astype(np.float32), None, LOSSES[loss](1.0))
    alpha = starting_alpha(problem)
    state = State(shards_of(problem, alpha), problem, alpha, np.zeros(6), seeded(4))
    run = Run(
        Stop(tol=1e-12, max_iter=max_iter),
        Clock(None, None),
        certify=lambda pace: certify(state.shards, state.w),
        floor=lambda: rounding_floor(state),
    )
    with pytest.raises(Ended, match="max_iter"):
        avsf(state, run)
    p, preferences = state.variables.p, Preferences()
    assert p.dtype == np.float32
    assert p.min() >= np.float32(preferences.p_min)
    assert p.max() <= preferences.p_max
    assert (p == 1.0).all() == (max_iter == 1)  # the first sweep only gathers the average gain
    if max_iter == 30:
        assert p.max() / p.min() > 20.0  # they have spread
    assert run.n_steps == 80 * max_iter
