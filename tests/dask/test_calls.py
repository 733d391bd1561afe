"""How the client asks hosts, and what it takes down of their answers."""

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest

from hingeline.dask import calls
from hingeline.dask.calls import Calls
from hingeline.dask.messages import Reply, merged_replies
from hingeline.runtime.training_clock import leave_out, now

FINISHED, GONE = SimpleNamespace(status="finished"), SimpleNamespace(status="lost")


class Silent(Calls):
    """Calls of hosts that answer what they hold; those that hold nothing never do."""

    def __init__(self):
        super().__init__(SimpleNamespace(sync=lambda function, *args: asyncio.run(function(*args))))

    async def _call(self, place, function, *args):
        if place.holds is None:
            await asyncio.Event().wait()
        return {"status": "OK", "result": place.holds}


def host(key, holds=None, future=FINISHED):
    return SimpleNamespace(key=key, holds=holds, future=future)


def test_a_host_that_never_answers_is_lost_when_dask_says_so():
    good, dead = host("good", Reply((1,))), host("dead", future=GONE)
    lost = [reply.lost for reply in Silent().replies([good, dead], [good, dead], "do")]
    assert lost == [(), ("dead",)]


def test_the_root_of_a_tree_waits_for_no_dead_worker():
    root, dead = host("root"), host("dead", future=GONE)
    assert Silent().replies([root], [root, dead], "do_all")[0].lost == ("dead",)
    assert Silent().value(dead, "progress") is None


@pytest.mark.parametrize(("stood_still_here", "left_out"), [(0.0, 5.5), (4.0, 1.5), (9.0, 0.0)])
def test_seconds_of_compiling_on_workers_do_not_count(monkeypatch, stood_still_here, left_out):
    """Only as far as they have made the round longer; workers in this process have stopped its clock already."""
    seen = []
    monkeypatch.setattr(calls, "leave_out", seen.append)
    monkeypatch.setattr(calls.Stopwatch, "compiled", stood_still_here)
    hosts = [host("a", Reply((1,), seconds=1.0, compiled=4.0)), host("b", Reply((2,), seconds=0.5, compiled=6.0))]
    asked = Silent()
    asked.replies(hosts, hosts, "do")
    assert seen == [left_out]
    assert asked.costs.computing == 1.0
    together = merged_replies([h.holds for h in hosts])  # as a tree of workers would say it
    assert (together.seconds, together.compiled) == (1.0, 5.5)


def test_a_host_without_rows_for_a_sample_adds_nothing():
    some, none = Reply((np.ones(2),)), Reply()
    np.testing.assert_array_equal(merged_replies([none, some, none, some]).values[0], [2.0, 2.0])
    assert merged_replies([none, none]).values == ()


def test_the_clock_leaves_out_what_it_is_told_to():
    began = now()
    leave_out(1000.0)
    try:
        assert now() - began < 0.0
    finally:
        leave_out(-1000.0)
