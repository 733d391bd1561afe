"""LIBLINEAR's model file: a header of words and, row by row, the weights, written with 17 digits.

====================  ========================================================================================
``solver_type NAME``  the name of one of ``SOLVER_TYPES``
``nr_class K``        2 for regression and one-class, which have no labels
``label A B ...``     whole numbers; of two, the first is the one that positive scores stand for
``nr_feature N``      without the constant feature
``bias B``            value of the constant feature; below zero: there is none
``rho R``             one-class only: what is subtracted from a score
``w``                 then one line per feature (the constant one last) with a weight for each output
====================  ========================================================================================

There is one output for two classes, regression and one-class, else one per class; Crammer and Singer's SVM has two
outputs for two classes as well. Reading trusts nothing: what a header announces is compared with what the file holds,
and memory is taken only for what was read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from os import PathLike
from typing import BinaryIO, NoReturn

import numpy as np

from ..atomic import atomic_write
from .solver_types import SOLVER_TYPES, SolverType, find_by_name

INT_MAX = 2**31 - 1  # LIBLINEAR's numbers are C's int
BLOCK_BYTES = 1 << 22
BLOCK_VALUES = 1 << 16
FIRST_WORD = b"solver_type"


class ModelFileError(ValueError):
    """A file that is damaged, or is no model file."""


@dataclass(frozen=True)
class LinearModel:
    """What LIBLINEAR's model file says.

    Attributes
    ----------
    type : int
        Number of LIBLINEAR's type (``-s``).
    labels : tuple of int, optional
        None for regression and one-class.
    n_features : int
    bias : float
        Value of the constant feature, below zero if there is none.
    w : ndarray of shape (n_features [+ 1], n_outputs)
        The constant feature's weights come last.
    rho : float
        One-class: what is subtracted from a score.
    """

    type: int
    labels: tuple[int, ...] | None
    n_features: int
    bias: float
    w: np.ndarray
    rho: float = 0.0

    @property
    def solver_type(self) -> SolverType:
        """LIBLINEAR's type."""
        return SOLVER_TYPES[self.type]

    @property
    def n_classes(self) -> int:
        """Number of classes, as the file counts them."""
        return 2 if self.labels is None else len(self.labels)


def write_model(model: LinearModel, path: str | PathLike[str]) -> None:
    """Write ``model``, byte for byte as LIBLINEAR does, atomically."""
    with atomic_write(path) as file:
        write_model_file(model, file)


def write_model_file(model: LinearModel, file: BinaryIO) -> None:
    """Write ``model`` to a file that is open."""
    file.write(_header(model).encode("ascii"))
    rows = np.ascontiguousarray(model.w, dtype=np.float64)
    line = "%.17g " * rows.shape[1] + "\n"
    block = max(1, BLOCK_VALUES // rows.shape[1])
    for begin in range(0, rows.shape[0], block):
        part = rows[begin : begin + block]
        file.write((line * part.shape[0] % tuple(part.ravel().tolist())).encode("ascii"))


def _header(model: LinearModel) -> str:
    lines = [f"solver_type {model.solver_type.name}", f"nr_class {model.n_classes}"]
    if model.labels is not None:
        lines.append(" ".join(("label", *map(str, model.labels))))
    lines += [f"nr_feature {model.n_features}", f"bias {model.bias:.17g}"]
    if model.solver_type.task == "one_class":
        lines.append(f"rho {model.rho:.17g}")
    return "\n".join((*lines, "w", ""))


def read_model(path: str | PathLike[str]) -> LinearModel:
    """Read a model file of LIBLINEAR's; raises ``ModelFileError``, which names the line, if it is damaged."""
    with open(path, "rb") as file:
        return read_model_file(file, str(path))


def read_model_file(file: BinaryIO, name: str) -> LinearModel:
    """Read the model from a file called ``name`` that is open."""
    return _Reader(file, name).model()


class _Reader:
    """Reads a model line by line, and knows its line."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.file, self.name, self.line = file, name, 0
        self.line_of: dict[str, int] = {}

    def fail(self, what: str, key: str = "") -> NoReturn:
        """Raise, naming the line of the keyword ``key``, or else the current one."""
        raise ModelFileError(f"{self.name}, line {self.line_of.get(key, self.line)}: {what}")

    def model(self) -> LinearModel:
        """Return the whole model."""
        words = self._read_header()
        solver_type, labels = self._kind(words)
        n_features = self._whole(words, "nr_feature", least=0)
        bias = self._number(words, "bias")
        rho = self._number(words, "rho") if solver_type.task == "one_class" else 0.0
        if words:
            key = next(iter(words))
            self.fail(f"{key!r} does not belong in a model of type {solver_type.name}.", key)
        outputs = solver_type.n_outputs(2 if labels is None else len(labels))
        w = self._weights(n_features + (bias >= 0.0), outputs)
        return LinearModel(solver_type.number, labels, n_features, bias, w, rho)

    def _read_header(self) -> dict[str, list[str]]:
        """Return the words that follow each keyword, up to the line ``w``."""
        words: dict[str, list[str]] = {}
        for raw in self.file:
            self.line += 1
            try:
                key, *values = raw.decode("ascii").split()
            except ValueError:  # an empty line, or no text at all
                self.fail("no keyword of LIBLINEAR's model file is here: the file is damaged, or not a model.")
            if key == "w" and not values:
                return words
            if key not in ("solver_type", "nr_class", "label", "nr_feature", "bias", "rho"):
                self.fail(f"unknown keyword {key[:40]!r}: the file is damaged, or not a model of LIBLINEAR's.")
            if key in words:
                self.fail(f"{key!r} occurs a second time.")
            words[key], self.line_of[key] = values, self.line
        self.line += 1
        self.fail("the file ends within the header: no line 'w' and no weights.")

    def _kind(self, words: dict[str, list[str]]) -> tuple[SolverType, tuple[int, ...] | None]:
        """Return the type and the labels, which must fit each other."""
        name = self._word(words, "solver_type")
        solver_type = find_by_name(name)
        if solver_type is None:
            self.fail(f"unknown solver_type {name[:40]!r}.", "solver_type")
        n_classes = self._whole(words, "nr_class", least=1)
        if not solver_type.is_classifier:
            if n_classes != 2:
                self.fail(f"nr_class is {n_classes}; {name} has 2.", "nr_class")
            return solver_type, None
        texts = words.pop("label", None)
        if texts is None:
            self.fail(f"no 'label' line: {name} needs one.")
        labels = tuple(self._int(text, "label", least=-INT_MAX - 1) for text in texts)
        if len(labels) != n_classes or len(set(labels)) != n_classes:
            differ = f"{len(labels)} labels, {len(set(labels))} of them different"
            self.fail(f"nr_class is {n_classes}, but there are {differ}.", "label")
        return solver_type, labels

    def _word(self, words: dict[str, list[str]], key: str) -> str:
        values = words.pop(key, None)
        if values is None:
            self.fail(f"no {key!r} line in the header.")
        if len(values) != 1:
            self.fail(f"{key!r} has {len(values)} values instead of one.", key)
        return values[0]

    def _whole(self, words: dict[str, list[str]], key: str, least: int) -> int:
        return self._int(self._word(words, key), key, least)

    def _int(self, text: str, key: str, least: int) -> int:
        digits = text.removeprefix("-")
        if not (digits.isdigit() and len(digits) <= 10 and least <= int(text) <= INT_MAX):
            self.fail(f"{key} is {text[:40]!r}, not a whole number from {least} to {INT_MAX}.", key)
        return int(text)

    def _number(self, words: dict[str, list[str]], key: str) -> float:
        text = self._word(words, key)
        try:
            value = float(text)
        except ValueError:
            value = np.nan
        if not isfinite(value) or "_" in text:
            self.fail(f"{key} is {text[:40]!r}, not a finite number.", key)
        return value

    def _weights(self, rows: int, outputs: int) -> np.ndarray:
        """Return as many weights as announced; the file decides how much memory is taken."""
        parts, count = [np.empty(0)], 0
        for lines in self._blocks():
            part = _floats(lines)
            if part is None:
                self._find_bad_weight(lines)
            count += part.size
            if count > rows * outputs:
                self.line += len(lines)
                self.fail(f"{rows} x {outputs} weights are announced, but there are more.")
            parts.append(part)
            self.line += len(lines)
        if count < rows * outputs:
            self.fail(f"the file ends after {count} weights; {rows} x {outputs} are announced: it was cut off.")
        return np.concatenate(parts).reshape(rows, outputs)

    def _blocks(self) -> Iterator[list[bytes]]:
        while lines := self.file.readlines(BLOCK_BYTES):
            yield lines

    def _find_bad_weight(self, lines: list[bytes]) -> NoReturn:
        for line in lines:
            self.line += 1
            for word in line.split():
                if _floats([word]) is None:
                    self.fail(f"{word[:40]!r} is not a finite number.")
        raise AssertionError("every word of the block is a finite number")


def _floats(lines: list[bytes]) -> np.ndarray | None:
    """Return the numbers of some lines; None if one of them is no number, or not finite."""
    text = b" ".join(lines)
    if b"_" in text:  # Python, not C, reads 1_000 as a number
        return None
    try:
        values = np.array(text.split(), dtype=np.float64)
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None
