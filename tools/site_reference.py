"""A Sphinx extension: ``.. everything-in:: MODULE [HOME]`` stands for every public name of a module.

The names are those of ``MODULE.__all__``, so none can be forgotten; HOME limits them to those that the package takes
from one of its parts (``hingeline._HOMES``).
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

MARK = re.compile(r"^\.\. everything-in:: (\S+)(?: (\S+))?$", re.MULTILINE)


def public_names(module: str, home: str | None = None) -> list[str]:
    """Return the public names of a module, in the order in which it lists them."""
    names = import_module(module).__all__ if home is None else import_module(module)._HOMES[home]
    return [name for name in names if not name.startswith("__")]


def directives(module: str, home: str | None) -> str:
    """Return autodoc's directives for these names."""
    kinds = {
        name: "autoclass" if inspect.isclass(getattr(import_module(module), name)) else "autofunction"
        for name in public_names(module, home)
    }
    return "\n\n".join(f".. {kind}:: {module}.{name}" for name, kind in kinds.items())


def expand(text: str) -> str:
    """Return a page with its marks replaced."""
    return MARK.sub(lambda mark: directives(mark[1], mark[2]), text)


def fill_in(app: Any, docname: str, source: list[str]) -> None:
    """Replace the marks of a page."""
    source[0] = expand(source[0])


def setup(app: Any) -> dict[str, Any]:
    """Act when a page is read."""
    app.connect("source-read", fill_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
