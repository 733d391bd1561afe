"""Where problems start from: in memory, and in a file that belongs to one problem."""

import os

import numpy as np
import pytest

from hingeline.io.atomic import SUFFIX
from hingeline.io.models.native_file import read_native, write_native
from hingeline.io.records import checkpoint
from hingeline.io.records.checkpoint import CheckpointFile, Starts

PROBLEM = {"C": 1.0, "data": [1, 2, 3]}


def open_at(path, **how):
    return CheckpointFile(path, "a test", PROBLEM, (4,), **how)


def never():
    raise AssertionError("it is not time to save")


def test_what_was_kept_is_where_the_next_run_starts():
    memory = Starts()
    assert memory.start(0) is None
    memory.keep(0, np.ones(3))
    memory.keep(0, np.zeros(3))
    assert memory.start(0).tolist() == [0.0, 0.0, 0.0]
    assert memory.start(1) is None
    memory.after_sweep(0, never)  # there is nothing to save to


def test_a_checkpoint_is_read_by_the_next_one(tmp_path):
    first = open_at(tmp_path / "state")
    alpha = np.random.default_rng(0).random(4)
    first.keep(2, alpha)
    assert not (tmp_path / "state").exists()  # it was saved a moment ago, so to say
    first.save()
    again = open_at(tmp_path / "state")
    np.testing.assert_array_equal(again.start(2), alpha)
    assert again.start(0) is None


def test_a_sweep_is_looked_at_when_the_file_is_due(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(checkpoint, "perf_counter", lambda: now[0])
    state = open_at(tmp_path / "state", every=5.0)
    state.after_sweep(0, never)
    for now[0], value in ((5.0, 1.0), (10.0, 2.0), (15.0, 3.0)):
        state.after_sweep(0, lambda: np.full(4, value))  # noqa: B023
        state.after_sweep(0, never)
        assert read_native(tmp_path / "state")["reached"][0][0] == value


def test_intervals_grow_unless_one_is_asked_for(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(checkpoint, "perf_counter", lambda: now[0])
    state, times = open_at(tmp_path / "state"), []
    for now[0] in np.arange(0.0, 2000.0):
        state.after_sweep(0, lambda: times.append(now[0]) or np.zeros(4))
    assert times[0] == checkpoint.FIRST_INTERVAL
    waits = np.diff(times)
    assert waits[0] == checkpoint.GROWTH * checkpoint.FIRST_INTERVAL
    assert waits[-1] == waits.max() == checkpoint.LONGEST_INTERVAL


def test_the_file_waits_for_all_problems_at_work(tmp_path, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(checkpoint, "perf_counter", lambda: now[0])
    state = open_at(tmp_path / "state", every=1.0)

    def sweep(k, value):
        state.after_sweep(k, lambda: np.full(4, value))

    sweep(0, 0.0)
    sweep(1, 0.0)
    now[0] = 1.0
    sweep(0, 1.0)
    assert not (tmp_path / "state").exists()
    state.after_sweep(0, never)  # once is enough
    sweep(1, 2.0)
    saved = read_native(tmp_path / "state")["reached"]
    assert {k: part[0] for k, part in saved.items()} == {0: 1.0, 1: 2.0}
    now[0] = 2.0
    state.keep(0, np.full(4, 3.0))  # it has ended: nobody waits for it
    sweep(1, 4.0)
    saved = read_native(tmp_path / "state")["reached"]
    assert {k: part[0] for k, part in saved.items()} == {0: 3.0, 1: 4.0}


@pytest.mark.parametrize("wrong", [np.full(4, np.nan), np.zeros(3), np.zeros((4, 1)), np.zeros(4, dtype=np.float32)])
def test_variables_that_do_not_fit_are_damage(tmp_path, wrong):
    state = open_at(tmp_path / "state")
    state.keep(0, wrong)
    state.save()
    with pytest.raises(ValueError, match="is damaged"):
        open_at(tmp_path / "state")


def test_any_cut_is_noticed(tmp_path):
    state = open_at(tmp_path / "whole")
    state.keep(0, np.arange(4.0))
    state.save()
    whole = (tmp_path / "whole").read_bytes()
    for end in range(len(whole)):
        (tmp_path / "state").write_bytes(whole[:end])
        with pytest.raises(ValueError, match="state"):
            open_at(tmp_path / "state")


def test_what_belongs_to_somebody_else_is_refused(tmp_path):
    write_native({"kind": "something"}, tmp_path / "state")
    with pytest.raises(ValueError, match="is not a checkpoint of a test"):
        open_at(tmp_path / "state")
    other = CheckpointFile(tmp_path / "other", "a test", {**PROBLEM, "C": 2.0}, (4,))
    other.keep(0, np.ones(4))
    other.save()
    with pytest.raises(ValueError, match=r"another problem \(differs in C\)"):
        open_at(tmp_path / "other")
    other.finish(converged=True)
    assert open_at(tmp_path / "other").start(0) is None
    assert CheckpointFile(tmp_path / "other", "a test", {**PROBLEM, "C": 2.0}, (4,)).start(0) is not None


def test_leftovers_are_removed(tmp_path):
    left = tmp_path / f".state.abcdefgh{SUFFIX}"
    left.write_bytes(b"half of it")
    open_at(tmp_path / "state")
    assert not left.exists()


def test_training_goes_on_if_a_save_fails(tmp_path, monkeypatch):
    state = open_at(tmp_path / "state", every=0.0)
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.warns(RuntimeWarning, match="could not be saved.*disk full"):
            state.after_sweep(0, lambda: np.ones(4))
        with pytest.warns(RuntimeWarning, match="could not be saved.*disk full"):
            state.finish(converged=True)
        with pytest.raises(OSError, match="disk full"):
            state.save()
    assert not list(tmp_path.iterdir())
    state.after_sweep(0, lambda: np.full(4, 2.0))
    assert open_at(tmp_path / "state").start(0)[0] == 2.0
