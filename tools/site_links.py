"""A Sphinx extension: the pages' links to ``examples/``, made for the repository, lead to the gallery."""

from __future__ import annotations

import re
from typing import Any

LINK = re.compile(r"\]\(\.\./examples(?:/(\w+)\.py)?\)")


def to_gallery(app: Any, docname: str, source: list[str]) -> None:
    """Turn the links of a page round."""
    source[0] = LINK.sub(lambda link: f"](gallery/{link[1] or 'index'}.rst)", source[0])


def setup(app: Any) -> dict[str, Any]:
    """Act when a page is read."""
    app.connect("source-read", to_gallery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
