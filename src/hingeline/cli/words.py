"""Command lines in LIBLINEAR's grammar: short options as LIBLINEAR takes them, and hingeline's own as long ones.

LIBLINEAR's grammar is not argparse's: ``-w1 2`` names the label within the option, and ``-B -1`` has a value that
looks like an option. So words are sorted here first, and argparse reads only the long options. An error in a short
option is a ``ValueError`` (exit status 1, as in LIBLINEAR), in a long option an argparse error (status 2).
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from math import isnan
from typing import Any, NamedTuple, NoReturn

LONG_FLAGS = {"--help", "--json", "--scores"}  # long options without a value


class Words(NamedTuple):
    """A command line, sorted: LIBLINEAR's options with their values, hingeline's own as they came, and the rest."""

    short: list[tuple[str, str]]
    long: list[str]
    operands: list[str]


def add_words_parser(commands: Any, name: str, help: str, usage: str, text: str) -> argparse.ArgumentParser:
    """Add a command that gets all its words from argparse: no word begins with the only prefix that marks an option."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=help,
        usage=f"hingeline {name} {usage}",
        description=text,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        prefix_chars="\0",
        add_help=False,
    )
    parser.add_argument("words", nargs="*", help=argparse.SUPPRESS)
    return parser


def refuse(parser: argparse.ArgumentParser, text: str) -> NoReturn:
    """End the process as LIBLINEAR does for wrong usage: how the command is used, what is wrong, exit status 1."""
    parser.print_usage(sys.stderr)
    parser.exit(1, f"{parser.prog}: error: {text}\n")


def sort_words(words: Sequence[str], flags: str, valued: str) -> Words:
    """Sort a command line; ``flags`` and ``valued`` are the letters of the options without and with a value."""
    sorted_words = Words([], [], [])
    rest = iter(words)
    for word in rest:
        if word == "--":
            sorted_words.operands.extend(rest)
        elif word.startswith("--"):
            sorted_words.long.append(word)
            if "=" not in word and word not in LONG_FLAGS:
                sorted_words.long.extend(_next(rest))
        elif word == "-h":
            sorted_words.long.append("--help")
        elif not word.startswith("-") or word == "-":
            sorted_words.operands.append(word)
        elif len(word) == 2 and word[1] in flags:
            sorted_words.short.append((word[1], ""))
        elif re.fullmatch(r"-w[+-]?\d{1,10}" if word[1] == "w" else r"-.", word) and word[1] in valued:
            value = _next(rest)
            if not value:
                raise ValueError(f"{word}: needs a value.")
            sorted_words.short.append((word[1:], value[0]))
        else:
            raise ValueError(f"unknown option: {word} (see --help)")
    return sorted_words


def _next(rest: Any) -> list[str]:
    return [word for word in (next(rest, None),) if word is not None]


def whole(given: dict[str, str], key: str, default: int) -> int:
    """Return the value of LIBLINEAR's option ``key``, a whole number."""
    text = given.get(key, str(default))
    if not re.fullmatch(r"[+-]?\d{1,9}", text):
        raise ValueError(f"-{key} {text}: must be a whole number.")
    return int(text)


def number(given: dict[str, str], key: str, default: float) -> float:
    """Return the value of LIBLINEAR's option ``key``, a number."""
    text = given.get(key, str(default))
    try:
        value = float("nan" if "_" in text else text)
    except ValueError:
        value = float("nan")
    if isnan(value):
        raise ValueError(f"-{key} {text}: must be a number.")
    return value


class _Help(argparse.Action):
    """Prints the help of the command whose long options are being read."""

    def __call__(self, parser: argparse.ArgumentParser, *rest: Any) -> None:
        self.const.print_help()
        parser.exit()


def own_parser(command: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Return the parser of the long options of ``command``."""
    parser = argparse.ArgumentParser(prog=command.prog, usage=command.usage, add_help=False, allow_abbrev=False)
    parser.add_argument("--help", action=_Help, nargs=0, const=command)
    return parser
