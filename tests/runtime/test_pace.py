"""Slices cover a range exactly, whatever the clock says."""

import itertools

import pytest

from hingeline.runtime import pace
from hingeline.runtime.pace import FIRST_SLICE, SLICE_SECONDS, Pace


@pytest.mark.parametrize("n", [0, 1, FIRST_SLICE - 1, FIRST_SLICE, FIRST_SLICE + 1, 10 * FIRST_SLICE + 7])
@pytest.mark.parametrize("cost", [0.0, 1e-9, 1e-5, 1e-3, 1.0])
def test_slices_cover_a_range_exactly(n, cost, monkeypatch):
    """With a clock that charges ``cost`` for each unit of work."""
    now, calls = [0.0], []
    monkeypatch.setattr(pace, "perf_counter", lambda: now[0])
    cut = Pace(lambda: calls.append(now[0]))
    for _ in range(3):  # sizes are remembered from one pass to the next
        bounds = []
        for begin, end in itertools.islice(cut.slices(n), 100_000):
            now[0] += cost * (end - begin)
            bounds.append((begin, end))
        assert [b for b, _ in bounds] == [0, *(e for _, e in bounds)][: len(bounds)]
        assert all(begin < end for begin, end in bounds)
        assert (bounds[-1][1] if bounds else 0) == n
        assert len(calls) == len(bounds)
        calls.clear()


def test_sizes_follow_the_cost(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(pace, "perf_counter", lambda: now[0])
    cut, lengths = Pace(), []
    for begin, end in cut.slices(100 * FIRST_SLICE):
        now[0] += 1e-4 * (end - begin)
        lengths.append(end - begin)
    assert lengths[0] == FIRST_SLICE
    assert set(lengths[1:-1]) <= {499, 500}  # SLICE_SECONDS / 1e-4
    assert SLICE_SECONDS / 1e-4 == pytest.approx(500)


def test_what_happens_between_may_end_the_work():
    calls = []

    def stop():
        calls.append(None)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(Pace(stop).slices(10**9))
    assert len(calls) == 2


def test_few_units_are_sliced_where_each_is_dear():
    """A line search counts its evaluations, forty at the most, and each is a pass over all rows."""
    slices = Pace(first=3).slices(40)
    begin, end = next(iter(slices))
    assert (begin, end) == (0, 3)
