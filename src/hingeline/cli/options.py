"""What commands share: argparse types, which report wrong usage before any work is done, and the exit status."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable
from typing import TypeVar

INTERRUPTED = 130  # exit status after Ctrl-C
LABEL_HELP = "DATA is a table (.csv, .tsv, .parquet; - is CSV), and this column has the labels"
DATA_HELP = "svmlight text, plain or compressed (gz, bz2, xz, zst), a dataset folder, or - for standard input"

N = TypeVar("N", int, float)


class HelpFormatter(argparse.ArgumentDefaultsHelpFormatter):
    """Shows defaults that are informative: not None, not False, and not already in the help text."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        told = action.help is not None and "default" in action.help
        if told or action.default is None or action.default is False:
            return action.help
        return super()._get_help_string(action)


def _number(text: str, kind: Callable[[str], N], accepts: Callable[[N], bool], wanted: str) -> N:
    try:
        value = kind(text)
    except ValueError:
        value = None
    if value is None or not accepts(value):
        raise argparse.ArgumentTypeError(f"expected {wanted}, got {text!r}")
    return value


def positive_int(text: str) -> int:
    """Parse a whole number, 1 or more."""
    return _number(text, int, lambda value: value >= 1, "a positive whole number")


def natural(text: str) -> int:
    """Parse a whole number, 0 or more."""
    return _number(text, int, lambda value: value >= 0, "a whole number that is not negative")


def positive_float(text: str) -> float:
    """Parse a finite number above zero."""
    return _number(text, float, lambda value: 0.0 < value < math.inf, "a finite number above zero")


def non_negative_float(text: str) -> float:
    """Parse a finite number, 0 or more."""
    return _number(text, float, lambda value: 0.0 <= value < math.inf, "a finite number that is not negative")


def byte_size(text: str) -> int:
    """Parse a number of bytes such as 512M or 2G (powers of 1024)."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    value = int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ")) if match else 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a size such as 512M or 2G, got {text!r}")
    return value


def real(text: str) -> float:
    """Parse a finite number of either sign."""
    return _number(text, float, math.isfinite, "a finite number")


def thread_count(text: str) -> int:
    """Parse a number of threads, or ``all``: as many as there are cores."""
    if text == "all":
        from hingeline.io.threads import usable_cores

        return usable_cores()
    return _number(text, int, lambda value: value >= 1, "a positive whole number, or all")


def add_threads(parser: argparse.ArgumentParser) -> None:
    """Add the option that all commands with threads share."""
    parser.add_argument("--threads", type=thread_count, default=1, metavar="N", help="threads, or all: one per core")


def add_columns(parser: argparse.ArgumentParser, help: str, default: int | None = None) -> None:
    """Add the number of columns of made-up data; ``--cols`` is its earlier name."""
    group = parser.add_mutually_exclusive_group(required=default is None)
    group.add_argument("--columns", type=positive_int, default=default, metavar="D", help=help)
    group.add_argument(
        "--cols", dest="columns", type=positive_int, default=argparse.SUPPRESS, metavar="D", help=argparse.SUPPRESS
    )


def add_seed(parser: argparse.ArgumentParser, of: str) -> None:
    """Add the option that all commands with random numbers share; ``of`` is what they are for."""
    parser.add_argument("--seed", type=natural, default=0, metavar="N", help=f"seed {of}")
