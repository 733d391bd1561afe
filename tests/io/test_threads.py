"""Streams of items that threads work on."""

import itertools
import threading
import time

import pytest

from hingeline.io.threads import map_in_order, read_ahead, usable_cores


@pytest.mark.parametrize("n_threads", [1, 3])
def test_results_come_in_order(n_threads):
    def slow_first(item):
        time.sleep(0.01 if item == 0 else 0.0)
        return item * item

    assert list(map_in_order(slow_first, range(20), n_threads)) == [item * item for item in range(20)]
    assert list(map_in_order(slow_first, (), n_threads)) == []


@pytest.mark.parametrize("n_threads", [1, 3])
def test_only_the_next_few_items_are_taken(n_threads):
    taken = []
    results = map_in_order(str, (taken.append(k) or k for k in itertools.count()), n_threads)
    assert next(results) == "0"
    assert len(taken) <= n_threads + 1
    results.close()


@pytest.mark.parametrize("n_threads", [1, 3])
def test_errors_are_raised_in_their_place(n_threads):
    results = map_in_order(lambda item: 1 // item, [1, 1, 0, 1], n_threads)
    assert [next(results), next(results)] == [1, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_reading_ahead_is_bounded_and_ends_with_its_reader():
    taken = []
    ahead = read_ahead((taken.append(k) or k for k in itertools.count()), 2)
    assert next(ahead) == 0
    time.sleep(0.05)
    assert len(taken) <= 4
    ahead.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "hingeline-read-ahead"]


def test_errors_ahead_are_raised_after_what_came_before():
    def items():
        yield 1
        raise OSError("gone")

    ahead = read_ahead(items(), 2)
    assert next(ahead) == 1
    with pytest.raises(OSError, match="gone"):
        next(ahead)


def test_there_is_a_core():
    assert usable_cores() >= 1
