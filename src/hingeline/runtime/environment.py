"""Where something was computed: versions, system and processor, for records that others will read."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ..version import __version__

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")


def environment() -> dict[str, str | int]:
    """Return versions, system and processor; imports no package."""
    found: dict[str, str | int] = {"hingeline": __version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return {**found, "system": platform.platform(), "processor": _processor(), "cores": os.cpu_count() or 1}


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
