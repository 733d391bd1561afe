"""Results of ``bench peers`` as one small JSON file: what was measured, when, where, and by which commands.

The file collects the cells of all commands that had the same output folder, problem and quality, so that a grid that
needs several commands (fewer C on large data) is one file. Tables and pictures are made from such files.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime, timezone
from math import isfinite, nan
from pathlib import Path
from typing import Any

import numpy as np

from ..io.atomic import atomic_write
from ..runtime.environment import environment
from .datasets import Dataset
from .peers import Cell, PeerBench, Settings

FORMAT = 1
CELL = ("dataset", "C", "solver", "target", "status", "seconds", "suboptimality", "tolerance", "deadline", "version")


@dataclass(frozen=True)
class Size:
    """Rows, columns and classes of a data set."""

    rows: int
    columns: int
    classes: int

    @classmethod
    def of(cls, path: Path) -> Size:
        """Return the size of a file that ``Dataset.parsed`` made."""
        with np.load(path) as arrays:
            rows, columns = arrays["shape"]
            return cls(int(rows), int(columns), int(arrays["codes"].max()) + 1)


@dataclass(frozen=True)
class Results:
    """The contents of a file.

    Attributes
    ----------
    loss, intercept, penalty
        The problem.
    own_gap : bool
        Whether quality is the gap that each solver's own weights certify.
    date : str
        When the last command ran, as YYYY-MM-DD.
    environment : mapping
        Versions, system and processor.
    commands : tuple of str
        What produced the cells.
    sizes : mapping of str to Size
        By name of the data set.
    cells : tuple of Cell
    """

    loss: str
    intercept: bool
    date: str
    environment: Mapping[str, Any]
    commands: tuple[str, ...]
    sizes: Mapping[str, Size]
    cells: tuple[Cell, ...]
    penalty: str = "l2"
    own_gap: bool = False

    def find(self, dataset: str, C: float, target: float) -> dict[str, Cell]:
        """Return the cells of one data set, C and target, by solver."""
        return {c.solver: c for c in self.cells if (c.dataset, c.C, c.target) == (dataset, C, target)}


def save(path: Path, command: str, bench: PeerBench, dataset: Dataset, cells: Iterable[Cell]) -> None:
    """Add the cells of a command, which has come as far as ``dataset``, to those in the file."""
    s = bench.settings
    before = read(path) if path.exists() else Results(s.loss, s.intercept, "", {}, (), {}, ())
    merged = {(c.dataset, c.C, c.solver, c.target): c for c in [*before.cells, *cells]}
    results = Results(
        loss=s.loss,
        intercept=s.intercept,
        date=datetime.now(timezone.utc).date().isoformat(),
        environment=environment(),
        commands=tuple(dict.fromkeys([*before.commands, command])),
        sizes={**before.sizes, dataset.name: Size.of(dataset.parsed(bench.out / "data"))},
        cells=tuple(merged.values()),
        penalty=s.penalty,
        own_gap=s.own_gap,
    )
    write(path, results)


def command_of(settings: Settings, solvers: Iterable[str], datasets: Iterable[Dataset], Cs: Iterable[float]) -> str:
    """Return the command line that measures a grid."""
    s = settings
    words = ["hingeline", "bench", "peers", "--data-dir", "DIR", "--loss", s.loss]
    words += [*["--penalty", "l1"] * (s.penalty == "l1"), *["--intercept"] * s.intercept]
    words += ["--own-gap"] * s.own_gap
    words += ["--subopt", *(f"{target:g}" for target in s.targets), "--repeat", str(s.repeat)]
    words += ["--deadline", f"{s.deadline:g}", *["--skip-late"] * s.skip_late]
    words += ["--times", f"{s.times:g}"] * isfinite(s.times) + ["--jobs", str(s.jobs)] * (s.jobs > 1)
    words += ["--peers", *solvers, "--datasets", *(dataset.name for dataset in datasets)]
    return shlex.join([*words, "--c", *(f"{C:g}" for C in Cs)])


def write(path: Path, results: Results) -> None:
    """Write a file, one cell per line."""
    head = asdict(results) | {"format": FORMAT}
    cells = [{name: _plain(getattr(cell, name)) for name in CELL} for cell in results.cells]
    del head["cells"]
    text = json.dumps(head, indent=1)[:-2] + ',\n "cells": [\n'
    text += ",\n".join(f"  {json.dumps(cell)}" for cell in cells) + "\n ]\n}\n"
    with atomic_write(path) as file:
        file.write(text.encode())


def _plain(value: Any) -> Any:
    """Return a value in JSON's terms, with six digits: None for NaN."""
    if not isinstance(value, float):
        return value
    return None if value != value else float(f"{value:.6g}")


def read(path: Path) -> Results:
    """Read a file."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found.pop("format") != FORMAT:
            raise ValueError("another version of the format")
        found["sizes"] = {name: Size(**size) for name, size in found["sizes"].items()}
        problem = {name: found[name] for name in ("loss", "intercept", "penalty", "own_gap") if name in found}
        problem["optimum_gap"] = 0.0
        found["cells"] = tuple(_cell(cell | problem) for cell in found["cells"])
        return Results(**found | {"commands": tuple(found["commands"])})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path}: not a result file of bench peers ({error}): delete it or name another.") from error


def _cell(found: dict[str, Any]) -> Cell:
    for field in fields(Cell):
        if field.type == "float" and found.get(field.name, 0.0) is None:
            found[field.name] = nan
    return Cell(**found)
