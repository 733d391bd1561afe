r"""A Sphinx extension: docstrings mean what they show, and the reference lists what this package defines.

Docstrings are plain text with numpydoc's sections and ``code``. In reStructuredText |w| would be a substitution, coef_
a link and \* an emphasis: outside of code these characters are escaped.
"""

from __future__ import annotations

import re
from typing import Any

CODE = re.compile(r"(``.*?``)")
SPECIAL = re.compile(r"([|*\\]|(?<=\w)_(?!\w))")
NAMES = re.compile(r"^(\S.*,)\n(?=\S)", re.MULTILINE)


def escape(line: str) -> str:
    """Escape what reStructuredText would take for markup, outside of code."""
    parts = CODE.split(line)
    return "".join(part if CODE.fullmatch(part) else SPECIAL.sub(r"\\\1", part) for part in parts)


def escape_lines(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Escape a docstring, before its sections are read; a list of names that takes several lines becomes one."""
    lines[:] = map(escape, NAMES.sub(r"\1 ", "\n".join(lines)).split("\n"))


def from_elsewhere(app: Any, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn and tuples bring along, and fields, which their class describes."""
    ours = str(getattr(thing, "__module__", None)).startswith("hingeline")
    return None if ours or isinstance(thing, property) else True


def setup(app: Any) -> dict[str, Any]:
    """Go first, before the sections are read by napoleon."""
    app.connect("autodoc-process-docstring", escape_lines, priority=100)
    app.connect("autodoc-skip-member", from_elsewhere)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
