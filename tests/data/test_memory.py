"""How much memory may be taken: the machine's, the control groups', or what the user says."""

import numpy as np
import pytest

from hingeline.data import memory


@pytest.mark.parametrize(
    ("text", "size"), [("1000", 1000), ("2K", 2048), ("1.5 GiB", 1.5 * 2**30), ("500m", 500 * 2**20), ("1TB", 2**40)]
)
def test_sizes(text, size):
    assert memory.parse_size(text) == size


@pytest.mark.parametrize("text", ["much", "-1G", "0", "G", "nan"])
def test_what_is_no_size(text, monkeypatch):
    monkeypatch.setenv("HINGELINE_MEMORY", text)
    with pytest.raises(ValueError, match=r"HINGELINE_MEMORY must be a positive size such as 500M or 2G; got"):
        memory.available_memory()


def test_the_user_decides(monkeypatch):
    monkeypatch.setenv("HINGELINE_MEMORY", "3K")
    assert memory.available_memory() == 3072


def test_the_machine_has_some_left(monkeypatch):
    monkeypatch.delenv("HINGELINE_MEMORY", raising=False)
    assert memory.available_memory() > 2**20


def group(folder, limit, used, stat, version_2):
    """Make what a control group looks like."""
    folder.mkdir(parents=True, exist_ok=True)
    names = ("memory.max", "memory.current") if version_2 else ("memory.limit_in_bytes", "memory.usage_in_bytes")
    for name, value in zip((*names, "memory.stat"), (limit, used, stat), strict=True):
        (folder / name).write_text(f"{value}\n")


def left(tmp_path, monkeypatch, membership):
    monkeypatch.setattr(memory, "CONTROL_GROUPS", tmp_path)
    (tmp_path / "membership").write_text(membership)
    return list(memory._left_in_groups(memory._own_groups(tmp_path / "membership")))


def test_version_2_asks_every_group_above(tmp_path, monkeypatch):
    group(tmp_path / "a" / "b", "max", 10, "anon 5", True)
    group(tmp_path / "a", 1000, 700, "anon 300\nactive_file 100\ninactive_file 200", True)
    assert left(tmp_path, monkeypatch, "0::/a/b\n") == [1000 - 400]


def test_version_1(tmp_path, monkeypatch):
    stat = "inactive_file 1\ntotal_active_file 50\ntotal_inactive_file 50"
    group(tmp_path / "memory" / "a", 1000, 2000, stat, False)
    group(tmp_path / "memory", 9223372036854771712, 10, "", False)
    assert left(tmp_path, monkeypatch, "5:cpu,cpuacct:/\n4:memory:/a\n0::/\n") == [0.0]


def test_a_container_sees_its_group_as_the_root(tmp_path, monkeypatch):
    group(tmp_path, 500, 100, "", True)
    assert left(tmp_path, monkeypatch, "0::/docker/0123\n") == [400]


def test_no_control_groups(tmp_path):
    assert list(memory._own_groups(tmp_path / "missing")) == []


def test_mappings(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(10))
    a = np.load(tmp_path / "a.npy", mmap_mode="r")
    assert memory.mapping_of(a) is not None
    assert memory.mapping_of(np.asarray(a)[2:5].view(np.uint64)) is memory.mapping_of(a)
    assert memory.mapping_of(np.frombuffer(memory.mapping_of(a), np.uint8)) is memory.mapping_of(a)
    assert memory.mapping_of(np.arange(3)) is None
    assert memory.mapping_of(np.array(a)) is None
