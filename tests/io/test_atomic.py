"""Files appear as a whole or not at all, and what killed processes leave is removed."""

import os

import pytest
from fault_rows import row

from hingeline.io import leftovers
from hingeline.io.atomic import SUFFIX, atomic_write, open_descriptor, remove_leftovers

fcntl = pytest.importorskip("fcntl")


@row("kill-save")
def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path):
    left = tmp_path / f".model.abcd_123{SUFFIX}"
    left.write_bytes(b"half")
    others = [tmp_path / name for name in (f".model.old{SUFFIX}", f".models.abcd_123{SUFFIX}", "model.abcd_123.part")]
    for other in others:
        other.write_bytes(b"not ours")
    with atomic_write(tmp_path / "model") as file:
        file.write(b"whole")
    assert not left.exists()
    assert (tmp_path / "model").read_bytes() == b"whole"
    assert all(other.exists() for other in others)


def test_what_is_being_written_is_left_alone(tmp_path):
    with atomic_write(tmp_path / "model") as first:
        first.write(b"first")
        remove_leftovers(tmp_path / "model")
        with atomic_write(tmp_path / "model") as second:
            second.write(b"second")
        assert (tmp_path / "model").read_bytes() == b"second"
    assert (tmp_path / "model").read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["model"]


def test_a_file_that_was_taken_for_a_leftover_is_made_again(tmp_path, monkeypatch):
    made = []

    def hold(descriptor):
        made.append(descriptor)
        if len(made) == 1:
            (name,) = os.listdir(tmp_path)
            os.unlink(tmp_path / name)

    monkeypatch.setattr("hingeline.io.atomic.hold", hold)
    with atomic_write(tmp_path / "model") as file:
        file.write(b"whole")
    assert len(made) == 2
    assert os.listdir(tmp_path) == ["model"]


def test_without_locks_nothing_is_a_leftover(tmp_path, monkeypatch):
    left = tmp_path / f".model.abcd_123{SUFFIX}"
    left.write_bytes(b"half")
    monkeypatch.setattr(leftovers, "fcntl", None)
    with atomic_write(tmp_path / "model") as file:
        file.write(b"whole")
    assert left.exists()


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="descriptors have no names")
def test_names_of_open_files_are_written_where_their_owner_is(tmp_path):
    (tmp_path / "log").write_bytes(b"before ")
    link = tmp_path / "link"
    with open(tmp_path / "log", "ab") as owner:
        link.symlink_to(f"/dev/fd/{owner.fileno()}")
        for name in (f"/dev/fd/{owner.fileno()}", link):
            assert open_descriptor(name) == owner.fileno()
            with atomic_write(name) as file:
                file.write(b"whole ")
        owner.write(b"after")
    assert (tmp_path / "log").read_bytes() == b"before whole whole after"
    assert open_descriptor(link) is None  # it is closed now
    assert open_descriptor(tmp_path / "log") is None
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert open_descriptor(tmp_path / "loop") is None
