import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import source_hash


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "src" / "package").mkdir(parents=True)
    (tmp_path / "src" / "package" / "a.py").write_text("a = 1\n")
    return tmp_path


def test_every_change_of_a_source_changes_the_hash(tree):
    seen = {source_hash.source_hash(tree)}
    a = tree / "src" / "package" / "a.py"
    a.write_text("a = 2\n")
    seen.add(source_hash.source_hash(tree))
    a.rename(a.with_name("b.py"))
    seen.add(source_hash.source_hash(tree))
    a.write_text("")
    seen.add(source_hash.source_hash(tree))
    (tree / "src" / "notes.txt").write_text("not a source")
    seen.add(source_hash.source_hash(tree))
    assert len(seen) == 4


def test_folders_of_older_sources_are_removed_after_a_while(tree):
    old, recent, other = (tree / ".cache" / name for name in ("numba-old", "numba-recent", "other"))
    for folder in (old, recent, other):
        folder.mkdir(parents=True)
    long_ago = time.time() - 2 * source_hash.GRACE_SECONDS
    os.utime(old, (long_ago, long_ago))
    os.utime(other, (long_ago, long_ago))
    current = source_hash.numba_cache_dir(tree)
    assert sorted(path.name for path in current.parent.iterdir()) == sorted([current.name, "numba-recent", "other"])
    assert source_hash.numba_cache_dir(tree) == current


def test_the_script_prints_the_folder():
    done = subprocess.run([sys.executable, source_hash.__file__], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(source_hash.numba_cache_dir())


def test_numba_compiles_into_such_a_folder():
    from numba import config

    assert Path(config.CACHE_DIR).parent == source_hash.ROOT / ".cache"
    assert Path(config.CACHE_DIR).name.startswith(source_hash.PREFIX)
