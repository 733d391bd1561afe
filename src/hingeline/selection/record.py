"""A search in a folder: every cell is written as soon as it is done, so that an interrupted search can go on.

``path.json`` and ``path.csv`` hold the table. While the search is not finished, ``starts`` holds the last solutions of
each walk along C, from which the next C starts. So a search that was interrupted gives the same table as one that was
not.
"""

from __future__ import annotations

import json
import shutil
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..io.atomic import atomic_write
from ..io.models.native_file import read_native, write_native
from ..io.records.json_file import JsonFileError
from ..io.records.search_folder import has_search, read_search, write_search
from .choice import Choice, choose, means_and_errors
from .start import Reached
from .table import Cell, Table

KIND = "starts of hingeline search"
LISTS = {"scores": "score", "seconds": "seconds", "gaps": "gap", "work": "work"}


class SearchRecord:
    """Keeps the table of a search.

    Parameters
    ----------
    folder : path
        Created if it is missing. If it already holds a search, it must be the same one.
    problem : dict
        What the search depends on: if any entry differs, it is another search.
    about : dict
        What else ``path.json`` holds.
    Cs : ndarray
    n_folds : int
    """

    def __init__(
        self,
        folder: str | PathLike[str],
        problem: dict[str, Any],
        about: dict[str, Any],
        Cs: np.ndarray,
        n_folds: int,
    ) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self._starts = self.folder / "starts"
        self._problem = json.loads(json.dumps(problem))  # as it will be read again
        self._about = about
        self.table = Table(Cs, {}, n_folds)
        self.finished = False
        if has_search(self.folder):
            self._read()

    def reached(self) -> dict[tuple[int, int], list[Reached | None]]:
        """Return the solutions that are kept, by C and fold; one whose file is missing or broken is done without."""
        found: dict[tuple[int, int], list[Reached | None]] = {}
        for k, fold in self.table.cells:
            try:
                content = read_native(self._start(k, fold))
                if content.get("kind") == KIND:
                    problems = content["problems"]
                    found[k, fold] = [None if parts is None else Reached(**parts) for parts in problems]
            except (OSError, ValueError, TypeError, KeyError):
                continue
        return found

    def keep(self, k: int, fold: int, cell: Cell, reached: list[Reached | None]) -> None:
        """Write a cell, and the solutions of its problems; those for the C before it have served their purpose."""
        self._starts.mkdir(exist_ok=True)
        problems = [None if at is None else at._asdict() for at in reached]
        write_native({"kind": KIND, "problems": problems}, self._start(k, fold))
        self.table.cells[k, fold] = cell
        self._write(None)
        self._start(k - 1, fold).unlink(missing_ok=True)

    def _start(self, k: int, fold: int) -> Path:
        return self._starts / f"C-{k}-fold-{fold}"

    def finish(self, table: Table) -> Choice:
        """Write the whole table, and the C that are chosen from it; return the choice."""
        self.table, self.finished = table, True
        choice = choose(table.of("score"))
        self._write(choice)
        shutil.rmtree(self._starts, ignore_errors=True)
        return choice

    def _write(self, choice: Choice | None) -> None:
        rows = [self._row(k) for k in range(self.table.Cs.size)]
        content = {
            **self._about,
            "cells": rows,
            "best_C": None if choice is None else float(self.table.Cs[choice.best]),
            "one_se_C": None if choice is None else float(self.table.Cs[choice.one_se]),
            "finished": self.finished,
            "problem": self._problem,
        }
        write_search(self.folder, content)
        with atomic_write(self.folder / "path.csv") as file:
            file.write(self._csv().encode())

    def _row(self, k: int) -> dict[str, Any]:
        cells = [self.table.cells.get((k, fold)) for fold in range(self.table.n_folds)]
        row: dict[str, Any] = {"C": float(self.table.Cs[k])}
        for name, field in LISTS.items():
            row[name] = [None if cell is None else float(getattr(cell, field)) for cell in cells]
        row["converged"] = [None if cell is None else bool(cell.converged) for cell in cells]
        row["stop_reasons"] = [None if cell is None else cell.stop_reason for cell in cells]
        scores = np.array([np.nan if cell is None else cell.score for cell in cells])
        row["mean"], row["std_error"] = map(_number, means_and_errors(scores))
        return row

    def _csv(self) -> str:
        lines = ["C,fold,score,seconds,gap"]
        for (k, fold), cell in sorted(self.table.cells.items()):
            lines.append(f"{float(self.table.Cs[k])!r},{fold},{cell.score!r},{cell.seconds!r},{cell.gap!r}")
        return "\n".join(lines) + "\n"

    def _read(self) -> None:
        try:
            content = read_search(self.folder, to_resume=True)
        except JsonFileError as error:
            raise ValueError(
                f"{self.folder} holds a damaged search, or one of another version ({error}): delete it, or choose "
                "another folder with --out."
            ) from None
        known = content["problem"]
        differ = [name for name in self._problem if known.get(name) != self._problem[name]]
        if differ:
            raise ValueError(
                f"{self.folder} holds another search (it differs in {', '.join(differ)}): delete it, or choose another "
                "folder with --out."
            )
        self.finished = content["finished"]
        self.table.cells = self._cells(content["cells"])

    def _cells(self, rows: list[dict[str, Any]]) -> dict[tuple[int, int], Cell]:
        cells = {}
        for k, row in enumerate(rows[: self.table.Cs.size]):
            for fold in range(self.table.n_folds):
                fields = {field: row[name][fold] for name, field in LISTS.items()}
                fields |= {"converged": row["converged"][fold], "stop_reason": row["stop_reasons"][fold]}
                if None not in fields.values():
                    cells[k, fold] = Cell(**fields)
        return cells


def _number(value: float | np.ndarray) -> float | None:
    return float(value) if isfinite(value) else None
