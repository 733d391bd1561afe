"""Run scikit-learn's own tests, which ship in its wheel, with hingeline's classes instead of its own.

``python tools/sklearn_tests.py [FILE ...] [pytest's options]``; files are named as within scikit-learn
(``svm/tests/test_svm.py``), and without one all of ``MODULES`` are run. ``sklearn_differences.txt`` lists the tests
that are expected to fail, with the reason. Any other failure fails the run, and a listed test that passes, or a line
that matches no test, is reported.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import sklearn

from source_hash import ROOT, numba_cache_dir

SKLEARN = Path(sklearn.__file__).parent
DIFFERENCES = Path(__file__).with_name("sklearn_differences.txt")
MODULES = (
    "svm/tests/test_svm.py",
    "svm/tests/test_sparse.py",
    "svm/tests/test_bounds.py",
    "linear_model/tests/test_logistic.py",
    # Where scikit-learn tries other parts with these classes:
    "ensemble/tests/test_bagging.py",
    "ensemble/tests/test_stacking.py",
    "ensemble/tests/test_voting.py",
    "feature_selection/tests/test_from_model.py",
    "feature_selection/tests/test_rfe.py",
    "inspection/tests/test_permutation_importance.py",
    "semi_supervised/tests/test_self_training.py",
    "tests/test_calibration.py",
    "tests/test_metaestimators.py",
    "tests/test_multiclass.py",
    "tests/test_multioutput.py",
    "tests/test_pipeline.py",
)
SWAPPED = {  # scikit-learn's modules that have a class, and the name of the class
    "LinearSVC": ("sklearn.svm", "sklearn.svm._classes"),
    "LinearSVR": ("sklearn.svm", "sklearn.svm._classes"),
    "LogisticRegression": ("sklearn.linear_model", "sklearn.linear_model._logistic"),
    "LogisticRegressionCV": ("sklearn.linear_model", "sklearn.linear_model._logistic"),
}


def read_differences(text: str) -> dict[str, str]:
    """Return the reason for each pattern: a line that ends in a colon is the reason for the indented lines below it."""
    reasons: dict[str, str] = {}
    reason = ""
    for line in text.splitlines():
        if line.startswith(" "):
            reasons[line.strip()] = reason
        elif line.strip():
            reason = line.strip().rstrip(":")
    return reasons


def reason_of(test: str, reasons: dict[str, str]) -> str | None:
    """Return the pattern that stands for a test; brackets of parameters are not special in it, stars are."""
    return next((p for p in reasons if fnmatchcase(test, re.sub(r"\[", "[[]", p))), None)


def swap() -> None:
    """Replace scikit-learn's classes by hingeline's."""
    import importlib

    import hingeline

    for name, modules in SWAPPED.items():
        for module in modules:
            setattr(importlib.import_module(module), name, getattr(hingeline, name))


def pytest_configure(config: Any) -> None:
    """Swap before any test is imported."""
    swap()


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Mark the tests that are listed."""
    reasons = read_differences(DIFFERENCES.read_text(encoding="ascii"))
    found = set()
    for item in items:
        pattern = reason_of(item.nodeid, reasons)
        if pattern is not None:
            found.add(pattern)
            item.add_marker(pytest.mark.xfail(reason=reasons[pattern]))
    modules = {item.nodeid.split("::")[0] for item in items}
    selected = config.option.keyword or config.option.markexpr
    unused = [p for p in reasons if p not in found and p.split("::")[0] in modules and not selected]
    config.stash[UNUSED] = unused


UNUSED = pytest.StashKey[list[str]]()


def pytest_terminal_summary(terminalreporter: Any, config: Any) -> None:
    """Report what is listed without need."""
    for report in terminalreporter.stats.get("xpassed", ()):
        terminalreporter.write_line(f"listed in {DIFFERENCES.name}, but passes: {report.nodeid}")
    for pattern in config.stash.get(UNUSED, []):
        terminalreporter.write_line(f"listed in {DIFFERENCES.name}, but there is no such test: {pattern}")


def main(arguments: list[str]) -> int:
    """Run the tests; returns pytest's exit status."""
    files = [word for word in arguments if word.split("::")[0].endswith(".py")]
    options = [word for word in arguments if word not in files]
    paths = [str(SKLEARN / file) for file in files or MODULES if (SKLEARN / file.split("::")[0]).exists()]
    folders = [str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")]
    environment = {
        "NUMBA_CACHE_DIR": str(numba_cache_dir()),
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, folders)),
    }
    fixed = ["-p", "sklearn_tests", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(SKLEARN)]
    command = [sys.executable, "-m", "pytest", "-q", "--tb=short", *fixed, *options, *paths]
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
