"""Data sets found by name in a folder of svmlight files, parsed once and kept as NumPy arrays."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np

from ..io.atomic import atomic_write

PAPER = ("covtype", "kdda", "kddb", "news20", "rcv1", "url")
STAND_INS = ("nycflights", "debian_paths", "debian_text")
MOST_CLASSES = 1000  # more are the targets of a regression
OPENERS: dict[str, Any] = {".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open}
# File names, without the endings of compressed files, if they do not follow from the name of the data set.
PATTERNS = {
    "covtype": "covtype*.scale",
    "news20": "news20.binary*",
    "rcv1": "rcv1_train.binary*",
    "url": "url_combined*",
}


@dataclass(frozen=True)
class Dataset:
    """A data set of two or more classes: its name and its svmlight file (plain, gz, bz2 or xz)."""

    name: str
    path: Path

    @property
    def source(self) -> str:
        """File name and size, by which parsed arrays and results of earlier runs are recognised."""
        return f"{self.path.name}:{self.path.stat().st_size}"

    def parsed(self, cache: Path) -> Path:
        """Return the .npz file with the arrays; the text is parsed if ``cache`` does not hold them yet."""
        kept = cache / f"{self.name}.npz"
        if kept.exists():
            with np.load(kept) as arrays:
                if "codes" in arrays and str(arrays["source"]) == self.source:
                    return kept
        X, codes = self._parse()
        cache.mkdir(parents=True, exist_ok=True)
        matrix = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
        with atomic_write(kept) as file:  # other benchmarks may parse the same file at the same time
            np.savez(file, **matrix, codes=codes, source=np.str_(self.source))
        return kept

    def _parse(self) -> tuple[Any, np.ndarray]:
        from sklearn.datasets import load_svmlight_file

        with OPENERS.get(self.path.suffix, open)(self.path, "rb") as file:
            X, labels = load_svmlight_file(file)
        if max(X.nnz, *X.shape) <= np.iinfo(np.int32).max:
            X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        return X, class_codes(labels, self.name)


def class_codes(labels: np.ndarray, name: str) -> np.ndarray:
    """Return 0, 1, ... in the order of the labels."""
    classes, codes = np.unique(labels, return_inverse=True)
    if not 2 <= classes.size <= MOST_CLASSES:
        raise ValueError(f"{name} has {classes.size} labels: the benchmarks take two to {MOST_CLASSES}.")
    return codes.astype(np.int32)


def read_arrays(path: Path) -> tuple[Any, np.ndarray]:
    """Return X (CSR) and class codes 0, 1, ... from a file that ``Dataset.parsed`` made."""
    from scipy import sparse

    with np.load(path) as arrays:
        X = sparse.csr_matrix((arrays["data"], arrays["indices"], arrays["indptr"]), shape=tuple(arrays["shape"]))
        return X, arrays["codes"]


def n_classes(path: Path) -> int:
    """Return the number of classes in a file that ``Dataset.parsed`` made."""
    with np.load(path) as arrays:
        return int(arrays["codes"].max()) + 1


def find(data_dir: Path, names: Iterable[str]) -> tuple[list[Dataset], list[str]]:
    """Return the data sets of ``names`` that have a file in ``data_dir``, and the names that have none."""
    if not data_dir.is_dir():
        raise ValueError(f"--data-dir {data_dir}: there is no such folder.")
    files = sorted(path for path in data_dir.iterdir() if path.is_file())
    there, missing = list[Dataset](), list[str]()
    for name in dict.fromkeys(names):
        fitting = sorted((rank, len(path.name), path) for path in files if (rank := _rank(path, name)) is not None)
        if fitting:
            there.append(Dataset(name, fitting[0][-1]))
        else:
            missing.append(name)
    return there, missing


def _rank(path: Path, name: str) -> int | None:
    """Return how well a file fits a name (0 is best), None if it does not."""
    stem = path.name.removesuffix(path.suffix) if path.suffix in OPENERS else path.name
    if stem.endswith(".t") and not name.endswith(".t"):  # LIBSVM's ending for test sets
        return None
    patterns = [PATTERNS[name]] if name in PATTERNS else []
    for rank, pattern in enumerate([*patterns, name, f"{name}.*"]):
        if fnmatch(stem, pattern):
            return rank
    return None
