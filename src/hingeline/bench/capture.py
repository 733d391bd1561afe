"""Keeps what a solver prints apart from what a worker answers: only there does LIBLINEAR mention its limit."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import IO, Any

_captured: IO[Any] | None = None


def redirect() -> IO[str]:
    """Send standard output, also of compiled code, to a temporary file; return the original stream."""
    global _captured
    sys.stdout.flush()
    original = os.fdopen(os.dup(1), "w", encoding="utf-8")
    _captured = tempfile.TemporaryFile()  # noqa: SIM115  (open until the process ends)
    os.dup2(_captured.fileno(), 1)
    return original


def printed() -> str:
    """Return what was printed since the last call; nothing if standard output is not redirected."""
    if _captured is None:
        return ""
    sys.stdout.flush()
    _captured.seek(0)
    text: bytes = _captured.read()
    _captured.seek(0)
    _captured.truncate()
    return text.decode(errors="replace")
