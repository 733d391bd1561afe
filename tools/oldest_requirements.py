"""Print the oldest versions that the installed package asks for, one requirement per line, for ``pip install -r``.

Its own dependencies, and those of the extras that are named as arguments. ``make test-oldest`` finds lower bounds that
cannot be installed or with which a test fails.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import requires

LOWER_BOUND = re.compile(
    r"(?P<name>[\w.-]+(?:\[[\w,-]+\])?)>=(?P<version>[\w.]+)(?:; *extra == ['\"](?P<extra>[\w-]+)['\"])?"
)


PINNED = re.compile(r"[\w.-]+==[\w.]+;.*python_version.*")  # one version, on one Python: there is no oldest one


def oldest(requirements: Iterable[str], extras: Iterable[str]) -> Iterator[str]:
    """Yield ``name==version`` for each requirement that is always there or belongs to one of ``extras``."""
    wanted = {None, *extras}
    for text in requirements:
        if PINNED.fullmatch(text):
            continue
        match = LOWER_BOUND.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is no lower bound: write it as 'name>=version'.")
        if match["extra"] in wanted:
            yield f"{match['name']}=={match['version']}"


if __name__ == "__main__":
    print("\n".join(sorted(set(oldest(requires("hingeline") or [], sys.argv[1:])))))
