"""A Sphinx extension: where a page says ``<!-- every command -->``, it has the help of every command of hingeline."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import Any

from hingeline.cli import parser_of

MARK = "<!-- every command -->"


def commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield the commands below ``parser``, those of commands included, with their names."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield command.prog.removeprefix("hingeline "), command
                yield from commands(command)


def every_command() -> str:
    """Return a section for each command: a heading, and its help in lines of 100 characters."""
    os.environ["COLUMNS"] = "100"
    return "\n".join(
        f"{'##' if ' ' not in name else '###'} {name}\n\n```text\n{command.format_help().rstrip()}\n```\n"
        for name, command in commands(parser_of())
    )


def answer(app: Any, docname: str, source: list[str]) -> None:
    """Fill in the commands where a page asks for them."""
    if MARK in source[0]:
        source[0] = source[0].replace(MARK, every_command())


def setup(app: Any) -> dict[str, Any]:
    """Act when a page is read."""
    app.connect("source-read", answer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
