"""Each row of docs/reliability.md is a test, and each test of a row is documented."""

import runpy
from pathlib import Path

import fault_rows

TESTS = Path(__file__).resolve().parent.parent


def test_rows_and_tests_match():
    for path in sorted(TESTS.rglob("test_*.py")):
        if "from fault_rows import" in path.read_text(encoding="utf-8"):
            runpy.run_path(str(path))
    documented = fault_rows.documented()
    assert len(documented) == len(set(documented)), "a row occurs twice"
    assert set(documented) - set(fault_rows.claimed) == set(), "rows without a test"
    assert set(fault_rows.claimed) - set(documented) == set(), "tests without a row"
