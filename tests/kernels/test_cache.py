"""Compiled kernels on disk: found again, never trusted, and never in the way."""

import errno
import importlib.util
import os
import pickle
import sys
import zlib

import numpy as np
import pytest
from fault_rows import row
from numba.core import config

from hingeline.kernels import cache

SOURCE = """
from hingeline.kernels.compile import kernel

@kernel
def twice(x):
    return x + x
"""


@pytest.fixture
def source(tmp_path, monkeypatch):
    """Return a file with a kernel, whose compiled code goes into the folder "kernels" beside it."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.setattr(cache, "_told", False)
    path = tmp_path / "numbers_of_test.py"
    path.write_text(SOURCE)
    yield path
    sys.modules.pop(path.stem, None)


def is_loaded(source, x=3):
    """Call the kernel as a new process would; tell whether it was found on disk."""
    cache._hash_of_file.cache_clear()
    spec = importlib.util.spec_from_file_location("numbers_of_test", source)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # numba imports it when it loads compiled code
    spec.loader.exec_module(module)
    assert module.twice(x) == 2 * x
    return bool(module.twice.stats.cache_hits)


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_found_again(source, tmp_path):
    assert not is_loaded(source)
    assert is_loaded(source)
    assert not is_loaded(source, 0.5)  # another signature
    assert is_loaded(source)
    assert is_loaded(source, 0.5)
    assert len(files(tmp_path / "kernels")) == 2


@row("cache-damaged")
@pytest.mark.parametrize(
    "damage",
    [
        lambda good: b"",
        lambda good: good[:3],
        lambda good: good[:-100],
        lambda good: good[:2000] + bytes([good[2000] ^ 1]) + good[2001:],
        lambda good: bytes(len(good)),
        lambda good: with_checksum(b"no pickle"),
        lambda good: with_checksum(pickle.dumps(("the key of another kernel", ()))),
    ],
    ids=["empty", "short", "cut off", "one bit", "zeros", "no pickle", "another key"],
)
def test_damaged_files_are_compiled_and_saved_anew(source, tmp_path, damage):
    is_loaded(source)
    (path,) = files(tmp_path / "kernels")
    path.write_bytes(damage(path.read_bytes()))
    assert not is_loaded(source)
    assert is_loaded(source)
    assert files(tmp_path / "kernels") == [path]


def with_checksum(text):
    return zlib.crc32(text).to_bytes(4, "little") + text


@row("cache-update")
def test_another_source_or_version_is_another_kernel(source, monkeypatch):
    is_loaded(source)
    source.write_text("# a line more\n" + SOURCE)
    assert not is_loaded(source)
    assert is_loaded(source)
    monkeypatch.setattr(cache, "__version__", "0.0")  # an update may change what a kernel inlines
    assert not is_loaded(source)


def test_a_python_without_the_gil_has_kernels_of_its_own(source, monkeypatch):
    is_loaded(source)
    monkeypatch.setattr(cache, "EXTENSION_SUFFIXES", [".cpython-3xxt-other.so"])  # of the same version otherwise
    assert not is_loaded(source)
    assert is_loaded(source)


def no_room(*args, **kwargs):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@row("cache-full")
def test_a_full_disk_is_told_once_and_leaves_nothing(source, tmp_path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(cache.os, "replace", no_room)
        with pytest.warns(RuntimeWarning, match=r"cannot be saved .*No space left.*NUMBA_CACHE_DIR"):
            assert not is_loaded(source)
        assert not is_loaded(source)  # a second warning would be an error
    assert files(tmp_path / "kernels") == []


@row("cache-impossible")
def test_a_folder_that_cannot_be_made(source, tmp_path):
    (tmp_path / "kernels").write_text("a file in its place")
    with pytest.warns(RuntimeWarning, match="cannot be saved"):
        assert not is_loaded(source)
    assert not is_loaded(source)


@row("cache-read-only")
def test_kernels_beside_the_source_are_used_even_if_they_cannot_be_saved_there(source, tmp_path, monkeypatch):
    """As in an image where root compiled them, and another user trains."""
    monkeypatch.setattr(config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    assert not is_loaded(source)
    assert files(tmp_path / "user") == []
    make = cache.tempfile.mkstemp

    def read_only(dir, **how):
        if dir.name == "__pycache__":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(dir))
        return make(dir=dir, **how)

    monkeypatch.setattr(cache.tempfile, "mkstemp", read_only)
    assert is_loaded(source)
    assert not is_loaded(source, np.float32(0.5))
    assert len(files(tmp_path / "user")) == 1
    assert is_loaded(source, np.float32(0.5))
