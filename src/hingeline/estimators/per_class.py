"""How the training of each problem went, as a table, and an estimator's attributes for all of them together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from math import inf, isnan
from typing import Any

import numpy as np

from ..solution import HISTORY, Solution

ALL = "all"  # the label of a single problem
COLUMNS = {  # what the table holds: a name, and where a solution has it
    "converged": "converged",
    "stop_reason": "stop_reason",
    "n_iter": "n_iter",
    "n_steps": "n_steps",
    "fit_time": "seconds",
    "solver": "solver",
    "kkt_violation": "certificate.violation",
    "duality_gap": "certificate.gap",
    "objective": "certificate.primal",
    "dual_objective": "certificate.dual",
}
KINDS = "bUiifUffff"  # of these columns' types
SHOWN = {  # the columns that the HTML representation shows, by the names that it gives them
    "objective": "objective",
    "relative gap": "duality_gap",
    "converged": "converged",
    "ended by": "stop_reason",
    "iterations": "n_iter",
    "seconds": "fit_time",
    "engine": "solver",
}
MOST_ROWS = 30
UNFINISHED = ' style="background: #ffe8b3; color: #5c3d00; font-weight: bold"'  # a row that has not converged: amber
PROBLEM_HISTORY = np.dtype([("problem", "i8"), *((name, HISTORY[name]) for name in HISTORY.names or ())])


class PerClass(Mapping[str, np.ndarray]):
    """A table with one row per class: its columns by name, each an array. ``pandas.DataFrame(dict(table))`` takes it.

    ``table["label"]`` holds the classes; a problem that is not one of several has the label "all".

    Parameters
    ----------
    columns : mapping of str to array
        All of the same length.
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        self._columns = {name: np.asarray(column) for name, column in columns.items()}
        if len({column.shape for column in self._columns.values()}) != 1:
            raise ValueError("The columns of a table must have the same length.")

    @classmethod
    def of(cls, solutions: Sequence[Solution], labels: Sequence[Any] = ()) -> PerClass:
        """Return the table of ``solutions``; ``labels`` are the classes if there is a problem for each."""
        several = len(solutions) > 1
        label = np.asarray(labels if several else [ALL])
        return cls({"label": label, **{name: [_value(s, at) for s in solutions] for name, at in COLUMNS.items()}})

    @classmethod
    def read(cls, columns: Mapping[str, Any]) -> PerClass:
        """Return the table with these columns, which may come from a damaged file; raises ``ValueError``."""
        table = cls(columns)
        kinds = [table[name].dtype.kind for name in COLUMNS]
        if not (table["label"].ndim == 1 and table.n_rows and "".join(kinds) == KINDS):
            raise ValueError("a column is missing, or of a type that it cannot have.")
        return table

    @property
    def n_rows(self) -> int:
        """How many rows the table has."""
        return int(self._columns["label"].size)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PerClass):
            return NotImplemented
        return [*self] == [*other] and all(np.array_equal(self[name], other[name]) for name in self)

    __hash__ = None  # type: ignore[assignment]

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict per row."""
        return [dict(zip(self, row, strict=True)) for row in zip(*(c.tolist() for c in self.values()), strict=True)]

    def worst(self) -> int:
        """Return the row that did worst: not converged, or else with the largest gap."""
        gaps = [inf if isnan(gap) else gap for gap in self["duality_gap"].tolist()]
        return max(range(self.n_rows), key=lambda k: (not self["converged"][k], gaps[k]))

    def shown(self) -> list[tuple[str, list[str]]]:
        """Return a label and the values of ``SHOWN`` as text, for each row."""
        return [
            (str(row["label"]), [_short(name, row[name]) for name in SHOWN.values() if name in row])
            for row in self.rows()
        ]

    def __repr__(self) -> str:
        lines = [["", *SHOWN], *([label, *values] for label, values in self.shown()[:MOST_ROWS])]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        if self.n_rows > MOST_ROWS:
            text.append(f"and {self.n_rows - MOST_ROWS} more")
        return "\n".join(text)

    def _repr_html_(self) -> str:
        several = self.n_rows > 1
        head = "".join(f"<th>{title}</th>" for title in SHOWN)
        body = "".join(
            f"<tr{'' if converged else UNFINISHED}>"
            + (f'<td class="param">{escape(label)}</td>' if several else "")
            + "".join(f'<td class="value">{escape(value)}</td>' for value in values)
            + "</tr>"
            for (label, values), converged in zip(self.shown()[:MOST_ROWS], self["converged"].tolist(), strict=False)
        )
        if self.n_rows > MOST_ROWS:
            body += f'<tr><td colspan="{len(SHOWN) + 1}">and {self.n_rows - MOST_ROWS} more</td></tr>'
        first = "<th>class</th>" if several else ""
        return f'<table class="parameters-table"><tbody><tr>{first}{head}</tr>{body}</tbody></table>'


def overall(table: PerClass) -> dict[str, Any]:
    """Return an estimator's attributes from those of its problems: plain Python scalars, whatever their number."""
    worst = table.worst()
    return {
        "n_iter_": int(table["n_iter"].max()),
        "n_steps_": int(table["n_steps"].sum()),
        "fit_time_": float(table["fit_time"].sum()),
        "solver_": str(table["solver"][worst]),
        "converged_": bool(table["converged"].all()),
        "stop_reason_": str(table["stop_reason"][worst]),
        "kkt_violation_": float(table["kkt_violation"].max()),
        "objective_": float(table["objective"].sum()),
        "dual_objective_": float(table["dual_objective"].sum()),
        "duality_gap_": float(table["duality_gap"].max()),
        "per_class_": table,
    }


def joined(histories: Sequence[np.ndarray]) -> np.ndarray:
    """Return the histories of all problems as one: those of the first, then those of the second, ..."""
    whole = np.empty(sum(map(len, histories)), dtype=PROBLEM_HISTORY)
    whole["problem"] = np.repeat(np.arange(len(histories)), [len(history) for history in histories])
    for name in HISTORY.names or ():
        whole[name] = np.concatenate([history[name] for history in histories])
    return whole


def present_history(history: np.ndarray) -> np.ndarray:
    """Return the history with the fields that it has today; those of an earlier version have no bounds and phases."""
    fields = history.dtype.names or ()
    missing = [name for name in HISTORY.names or () if name not in fields]
    if not missing:
        return history
    whole = np.zeros(history.shape, [*history.dtype.descr, *((name, HISTORY[name]) for name in missing)])
    for name in fields:
        whole[name] = history[name]
    for name in set(missing) - {"phase"}:
        whole[name] = np.nan
    return whole


def _value(solution: Solution, at: str) -> Any:
    value: Any = solution
    for name in at.split("."):
        value = getattr(value, name)
    return value


def _short(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    digits = 7 if name == "objective" else 3
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
