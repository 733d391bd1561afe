"""Reading DATA of a command line: text, compressed text, a dataset folder, or standard input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .standard_streams import STANDARD, standard_input


def read_rows(name: str, quiet: bool = False) -> tuple[Any, np.ndarray]:
    """Return rows (CSR) and labels; in text, indices begin at 1, as in LIBLINEAR."""
    from hingeline.io import load_svmlight
    from hingeline.progress import counting

    if name != STANDARD and Path(name).is_dir():
        from hingeline.io import open_dataset

        X, y = open_dataset(name)
    else:
        with counting("reading", wanted=not quiet) as bar:
            X, y = load_svmlight(standard_input() if name == STANDARD else name, zero_based=False, progress=bar)
    if y.size == 0:
        raise ValueError(f"{name}: it holds no rows; at least one is needed.")
    return X, y
