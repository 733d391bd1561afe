"""The rows of docs/reliability.md: each has a name, and the test that claims it shows that it is true.

Cases that share a row have its name, a colon and what tells them apart: "nan: sparse" belongs to the row "nan".
"""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reliability.md"
ROW = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)

claimed = {}  # names of rows, and the file and line of the test that claims each


def row(*names):
    """Claim rows for a test."""

    def claim(test):
        place = f"{test.__code__.co_filename}:{test.__code__.co_firstlineno}"
        for name in names:
            assert claimed.setdefault(name, place) == place, f"{name} is claimed by {claimed[name]} and {place}"
        return test

    return claim


def rows_of(prefix, cases):
    """Claim a row for each of the cases of a test, which are named without the prefix."""
    return row(*{f"{prefix}-{name.partition(':')[0]}" for name in cases})


def documented():
    """Return the names of the rows of the page, in order."""
    return ROW.findall(PAGE.read_text(encoding="utf-8"))
