"""What importing costs, and which way imports point."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

MODULE_NAME = re.compile(r"hingeline(\.\w+)+")  # as importlib takes it
SRC = Path(__file__).resolve().parent.parent / "src" / "hingeline"

# What each part may import, besides itself. Data flows down this list, and imports point up it.
MAY_IMPORT = {
    "version": set(),
    "runtime": {"version"},
    "kernels": {"runtime", "version"},
    "io": {"kernels", "runtime", "version"},
    "data": {"io", "kernels", "runtime"},
    "synthetic": set(),
    "solution": {"kernels"},
    "solvers": {"data", "kernels", "runtime", "solution"},
    "arrays": {"data", "kernels", "runtime", "solution", "solvers"},
    "progress": {"runtime", "solution", "solvers"},
    "estimators": {"arrays", "data", "io", "kernels", "progress", "runtime", "solution", "solvers", "version"},
    "liblinear": {"data", "io", "kernels", "runtime", "solution", "solvers"},
    "selection": {"arrays", "data", "estimators", "io", "kernels", "progress", "runtime", "solution", "solvers"},
    "__init__": {"data", "estimators", "io", "kernels", "selection", "solution", "solvers", "version"},
    "dask": {
        "__init__",
        "data",
        "estimators",
        "io",
        "kernels",
        "progress",
        "runtime",
        "selection",
        "solution",
        "solvers",
        "version",
    },
    "viz": {"__init__", "estimators", "io", "liblinear", "runtime", "selection", "solution"},
    "bench": {
        "__init__",
        "arrays",
        "data",
        "estimators",
        "io",
        "kernels",
        "runtime",
        "selection",
        "solution",
        "solvers",
        "synthetic",
        "viz",
    },
    "cli": {
        "__init__",
        "bench",
        "data",
        "estimators",
        "io",
        "kernels",  # the warm-up counts what is compiled
        "liblinear",
        "progress",
        "runtime",
        "selection",
        "solution",
        "solvers",
        "synthetic",
        "viz",
    },
    "__main__": {"cli"},
}


def part_of(module):
    """Return the part of the package that a dotted module name within it belongs to."""
    return module.split(".")[1] if "." in module else "__init__"


def imports_of(path):
    """Yield the modules of hingeline that a file imports, wherever in the file it does so, or names in a string."""
    package = ["hingeline", *path.relative_to(SRC).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            # `from . import kernels` names a part, `from hingeline import solve` does not.
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "hingeline" else [module]
            names = [name if part_of(name) in MAY_IMPORT else module for name in names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and MODULE_NAME.fullmatch(node.value):
            names = [node.value]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == "hingeline")


def test_imports_point_one_way():
    wrong = []
    for path in sorted(SRC.rglob("*.py")):
        part = path.relative_to(SRC).with_suffix("").parts[0]
        assert part in MAY_IMPORT, f"{part} has no place yet: add it to MAY_IMPORT"
        upwards = {name for name in imports_of(path) if part_of(name) not in MAY_IMPORT[part] | {part}}
        wrong += [f"{path.relative_to(SRC)} must not import {name}" for name in sorted(upwards)]
    assert not wrong


def test_the_rules_have_no_cycle():
    order = list(MAY_IMPORT)
    for part, allowed in MAY_IMPORT.items():
        assert all(order.index(other) < order.index(part) for other in allowed), part


def test_reading_of_import_statements(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "SRC", tmp_path)
    path = tmp_path / "solvers" / "x.py"
    path.parent.mkdir()
    path.write_text(
        "import numpy, hingeline.io.text\nfrom .. import viz\nfrom ..kernels.rows import dot\nfrom . import y\n"
        "def f():\n    from hingeline import solve\n    from .driver import Run\n"
        "    import_module('hingeline.estimators.base')\n"
    )
    assert sorted(part_of(name) for name in imports_of(path)) == [
        "__init__",
        "estimators",
        "io",
        "kernels",
        "solvers",
        "solvers",
        "viz",
    ]


OPTIONAL = {"dask", "matplotlib", "pandas", "polars", "pooch", "pyarrow", "requests", "rich"}


@cache
def optional_modules_after(code):
    """Return the optional packages that a fresh interpreter has loaded after ``code``."""
    code += f"\nimport sys; print(*({OPTIONAL} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "code",
    ["import hingeline", "from hingeline.cli import main\ntry: main(['--version'])\nexcept SystemExit: pass"],
    ids=["package", "version"],
)
def test_importing_is_light(code):
    loaded = optional_modules_after(code)
    assert not loaded & {"dask", "matplotlib"}
    # scikit-learn loads some of the others by itself if they are installed.
    assert loaded <= optional_modules_after("import numba, sklearn.svm")


FIT = """
import sys
import hingeline.cli
from hingeline import LinearSVC, LinearSVCCV, LinearSVR, LogisticRegression, OneClassSVM, solve
assert not {"numba", "llvmlite"} & set(sys.modules)
model = LinearSVC().fit([[0.0], [1.0]], ["no", "yes"])
assert "numba" in sys.modules
print(*model.predict([[-1.0], [2.0]]))
"""


def test_numba_is_imported_by_the_first_fit():
    """It takes longer to import than the package."""
    done = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["no", "yes"], done.stderr


ACROSS = {"contract", "equivalence", "faults", "property", "tools"}  # folders of tests that are about no single module


def test_tests_lie_where_the_modules_lie():
    """A folder of tests is a folder of the package, so that a module's tests are found without looking."""
    tests = Path(__file__).resolve().parent
    folders = {path.parent.relative_to(tests) for path in tests.rglob("test_*.py")}
    of_the_package = {folder for folder in folders if not ACROSS & set(folder.parts)}
    assert not {str(folder) for folder in of_the_package if not (SRC / folder).is_dir()}
