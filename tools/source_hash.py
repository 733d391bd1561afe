"""Name the folder for numba's compile cache after the sources it was compiled from.

numba looks only at the file that holds a kernel. A kernel that inlines functions of another module would go on running
their old code after an edit there, so every state of the sources gets a folder of its own.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PREFIX = "numba-"
GRACE_SECONDS = 3600.0  # an older state of the sources may still be running in another process


def source_hash(root: Path = ROOT) -> str:
    """Return a short hash of the names and contents of ``src/**/*.py``."""
    digest = hashlib.sha256()
    src = root / "src"
    for path in sorted(src.rglob("*.py")):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(src).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def numba_cache_dir(root: Path = ROOT) -> Path:
    """Return the cache folder of the present sources, made where missing, and remove those of older ones."""
    current = root / ".cache" / f"{PREFIX}{source_hash(root)}"
    current.mkdir(parents=True, exist_ok=True)
    os.utime(current)
    for folder in current.parent.glob(f"{PREFIX}*"):
        if folder != current and time.time() - folder.stat().st_mtime > GRACE_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)
    return current


if __name__ == "__main__":
    print(numba_cache_dir())
