"""A Sphinx extension: a block ``$ hingeline COMMAND --help`` of a page is followed by what the command answers."""

from __future__ import annotations

import io
import os
import re
from contextlib import redirect_stdout, suppress
from typing import Any

from hingeline.cli import main

CALL = re.compile(r"^```console\n\$ hingeline ([a-z ]*)--help\n```$", re.MULTILINE)


def help_of(words: str) -> str:
    """Return the help of a command, in lines of 100 characters."""
    out, os.environ["COLUMNS"] = io.StringIO(), "100"
    with redirect_stdout(out), suppress(SystemExit):
        main([*words.split(), "--help"])
    return out.getvalue().rstrip()


def answer(app: Any, docname: str, source: list[str]) -> None:
    """Add the answers to the calls for help of a page."""
    source[0] = CALL.sub(lambda call: f"{call[0]}\n\n```text\n{help_of(call[1])}\n```", source[0])


def setup(app: Any) -> dict[str, Any]:
    """Answer when a page is read."""
    app.connect("source-read", answer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
