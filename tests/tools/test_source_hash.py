"""The cache folder's name changes with what is compiled, and with nothing else."""

import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from problems import classification, csr

import hingeline
import source_hash
from hingeline import solve
from hingeline.kernels.compile import Kernel

FILES = {
    "kernels/__init__.py": "",
    "kernels/compile.py": "import numba\ndef kernel(f): return numba.njit(f)\ndef by_type(table): return table\n",
    "kernels/rows.py": "from .compile import by_type\ndef of_rows(a): return a\ndot = by_type({int: of_rows})\n",
    "kernels/variables.py": "class Variables: pass\n",
    "solvers/__init__.py": "",
    "solvers/engine.py": (
        "from ..kernels.compile import kernel\nfrom ..kernels.rows import dot\nfrom ..data import LIMIT, loud\n"
        "from . import tables\nfrom .driver import Run\n"
        "@kernel\ndef sweep(a): return dot(a) if a < LIMIT else tables.TOP\n"
        "def engine(run: Run): loud(sweep(3))\n"
    ),
    "solvers/driver.py": "class Run: pass\n",
    "solvers/tables.py": "TOP = 3\n",
    "data/__init__.py": "from .limits import LIMIT\nfrom .words import loud\n",
    "data/limits.py": "from .powers import TEN\nif True:\n    LIMIT = 2 * TEN\n",
    "data/powers.py": "TEN = 10\n",
    "data/words.py": "def loud(text): print(text)\n",
    "cli/train.py": "from ..solvers.engine import engine\nHELP = 'train'\n",
}
COMPILED = [
    "data/limits.py",  # a constant of a kernel, through a package's __init__
    "data/powers.py",  # the constant is computed from another
    "kernels/compile.py",
    "kernels/rows.py",
    "kernels/variables.py",
    "solvers/engine.py",
    "solvers/tables.py",
]


@pytest.fixture
def tree(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / "src" / "package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_what_is_compiled_is_found(tree):
    found = source_hash.compiled_sources(tree / "src")
    assert [path.relative_to(tree / "src" / "package").as_posix() for path in found] == COMPILED


@pytest.mark.parametrize("name", [name for name, text in FILES.items() if text])
def test_the_hash_changes_with_what_is_compiled_and_with_nothing_else(tree, name):
    before = source_hash.source_hash(tree)
    path = tree / "src" / "package" / name
    path.write_text(path.read_text() + "# edited\n")
    assert (source_hash.source_hash(tree) != before) == (name in COMPILED)


def test_a_renamed_source_is_another_one(tree):
    before = source_hash.source_hash(tree)
    rows = tree / "src" / "package" / "kernels" / "rows.py"
    rows.rename(rows.with_name("lines.py"))
    assert source_hash.source_hash(tree) != before


def test_the_package_itself(tmp_path):
    shutil.copytree(source_hash.ROOT / "src", tmp_path / "src")
    before = source_hash.source_hash()
    for name, counts in (("cli/train.py", False), ("kernels/rows.py", True)):
        path = tmp_path / "src" / "hingeline" / name
        path.write_text(path.read_text() + "# edited\n")
        assert (source_hash.source_hash(tmp_path) != before) == counts


def kernels():
    """Yield the compiled functions of the package."""
    for found in pkgutil.walk_packages(hingeline.__path__, "hingeline."):
        if not found.name.endswith("__main__") and ".arrays.fused" not in found.name:  # these need Triton
            module = importlib.import_module(found.name)
            yield from (value for value in vars(module).values() if isinstance(value, Kernel))


def test_whatever_compiled_functions_use_is_hashed():
    """Seen from the other side: the functions and classes among their globals, and the classes of their arguments."""
    X, y = classification(20, 3)
    for rows in (X, csr(X)):
        for solver in ("hybrid", "newton"):
            solve(rows, y, solver=solver)
    used = []
    for compiled in kernels():
        function = compiled.py_func
        used += [function.__globals__.get(name) for name in function.__code__.co_names]
        used += [getattr(kind, "instance_class", None) for signature in compiled.signatures for kind in signature]
    modules = {getattr(getattr(thing, "py_func", thing), "__module__", None) or "" for thing in used}
    hashed = {
        ".".join(path.relative_to(source_hash.ROOT / "src").with_suffix("").parts)
        for path in source_hash.compiled_sources(source_hash.ROOT / "src")
    }
    modules = {name for name in modules if name.startswith("hingeline.")}
    assert {"hingeline.kernels.rows", "hingeline.kernels.variables", "hingeline.kernels.losses.hinge"} <= modules
    assert modules <= hashed


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
