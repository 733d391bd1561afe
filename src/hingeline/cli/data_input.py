"""Reading DATA of a command line: text, compressed text, a dataset folder, or standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np


def read_rows(name: str, quiet: bool = False) -> tuple[Any, np.ndarray]:
    """Return rows (CSR) and labels; in text, indices begin at 1, as in LIBLINEAR."""
    from hingeline.io import load_svmlight
    from hingeline.progress import counting

    if Path(name).is_dir():
        from hingeline.io import open_dataset

        X, y = open_dataset(name)
    else:
        with counting("reading", wanted=not quiet) as bar:
            X, y = load_svmlight(sys.stdin.buffer if name == "-" else name, zero_based=False, progress=bar)
    if y.size == 0:
        raise ValueError(f"{name}: it holds no rows; at least one is needed.")
    return X, y
