"""Types for argparse: numbers with a condition, so that wrong usage is told before any work is done."""

from __future__ import annotations

import argparse
import math
import re


def positive_int(text: str) -> int:
    """Parse a whole number of at least one."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a positive whole number, got {text!r}")
    return value


def natural(text: str) -> int:
    """Parse a whole number that is not negative."""
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"expected a whole number that is not negative, got {text!r}")
    return value


def positive_float(text: str) -> float:
    """Parse a finite number above zero."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a finite number above zero, got {text!r}")
    return value


def non_negative_float(text: str) -> float:
    """Parse a finite number that is not negative."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a finite number that is not negative, got {text!r}")
    return value


def byte_size(text: str) -> int:
    """Parse a number of bytes such as 512M or 2G (powers of 1024)."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?([KMGT]?)(?:i?B)?", text, re.IGNORECASE)
    value = int(float(match[1]) * 1024 ** " KMGT".index(match[2].upper() or " ")) if match else 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a size such as 512M or 2G, got {text!r}")
    return value
