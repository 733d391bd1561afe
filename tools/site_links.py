"""A Sphinx extension: links that are made for the repository lead to the right place on the site.

Links to ``examples/`` go to the gallery. Pages in a table of contents that are not there, since the part of the package
that they describe is not, are left out of it; a misspelt one is found out all the same, since its page is in no table.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

EXAMPLE = re.compile(r"\]\(\.\./examples(?:/(\w+)\.py)?\)")
TOCTREE = re.compile(r"^```\{toctree\}\n.*?^```$", re.DOTALL | re.MULTILINE)
ENTRY = re.compile(r"^([\w/-]+)\n", re.MULTILINE)


def turn_round(app: Any, docname: str, source: list[str]) -> None:
    """Change the links of a page."""

    def entry_if_there(entry: re.Match[str]) -> str:
        page = Path(app.srcdir, entry[1])
        return entry[0] if any(page.with_suffix(kind).exists() for kind in (".md", ".rst")) else ""

    text = TOCTREE.sub(lambda table: ENTRY.sub(entry_if_there, table[0]), source[0])
    source[0] = EXAMPLE.sub(lambda link: f"](gallery/{link[1] or 'index'}.rst)", text)


def setup(app: Any) -> dict[str, Any]:
    """Act when a page is read."""
    app.connect("source-read", turn_round)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
