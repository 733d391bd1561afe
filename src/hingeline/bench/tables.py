"""Results as rows of text, as CSV files and as numbers for a figure."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..solvers.engines import SOLVERS
from . import paper, peers
from .ratios import Ratio, speed_up

if TYPE_CHECKING:
    from hingeline.viz import CGridDisplay

Row = list[str]
MARKS = {
    "capped": "capped",
    "missed": "missed",
    "other objective?": "other?",
    "unsupported": "n/a",
    "failed": "failed",
    "skipped": "not run",
}
LEGEND = {
    "deadline": "> did not reach the target before the deadline",
    "capped": "capped: ended by a limit of iterations before it reached the target",
    "missed": "missed: its tightest tolerance was not good enough",
    "other objective?": "other?: better than the certified optimum, or far from it at its tightest tolerance",
    "unsupported": "n/a: does not take this loss or data",
    "failed": "failed: see the CSV file for its message",
    "skipped": "not run: late or capped at a smaller C (--skip-late)",
}
LOOSE = "! the optimum is certified only to more than a tenth of the target: suboptimalities are upper bounds"


def write_csv(path: Path, kind: type[Any], cells: Iterable[Any]) -> None:
    """Write cells, one per line."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(kind)])
        writer.writeheader()
        writer.writerows(asdict(cell) for cell in cells)


def peer_text(cell: peers.Cell) -> str:
    """Return a cell of the table of peers."""
    if cell.status == "ok":
        return f"{cell.seconds:.3g}"
    return f">{cell.deadline:.3g}" if cell.status == "deadline" else MARKS[cell.status]


def peer_row(dataset: str, C: float, target: float, cells: Mapping[str, peers.Cell], solvers: Sequence[str]) -> Row:
    """Return a line: one target at one C; solvers that have not run yet are left empty."""
    loose = any(map(_is_loose, cells.values()))
    texts = [peer_text(cells[solver]) if solver in cells else "" for solver in solvers]
    ratio = speed_up(cells) if len(cells) == len(solvers) else Ratio(nan, False)
    speed = "" if isnan(ratio.value) else f"{'>' if ratio.bound else ''}{ratio.value:.3g}"
    return [dataset, f"{C:g}", f"{target:g}{'!' if loose else ''}", *texts, speed]


def legend(cells: Iterable[peers.Cell]) -> list[str]:
    """Return the explanations of the marks that occur."""
    cells = list(cells)
    seen = {cell.status for cell in cells}
    lines = [text for status, text in LEGEND.items() if status in seen]
    return lines + [LOOSE] * any(map(_is_loose, cells))


def _is_loose(cell: peers.Cell) -> bool:
    """Tell whether a solver that does not certify its own result was compared with a loose bound of the optimum."""
    is_judged = cell.solver not in SOLVERS and cell.status != "skipped"
    return is_judged and cell.optimum_gap > cell.target / 10.0


def paper_rows(name: str, cells: Mapping[tuple[str, float], paper.Cell], Cs: Sequence[float], eps: float) -> list[Row]:
    """Return the lines of one data set in Table 2 or 3: seconds and steps of each solver, ours and the paper's."""
    rows: list[Row] = []
    for source, solvers in (("", paper.SOLVERS), ("paper's ", paper.SOLVERS[:2])):
        theirs = paper.paper_cells()
        table = {(s, C): theirs.get((name, eps, s, C)) for s in solvers for C in Cs} if source else dict(cells)
        for solver in solvers:
            line = {C: table.get((solver, C)) for C in Cs}
            if not any(line.values()):
                continue
            finished = {C: any(c is not None and c.finished for s in solvers if (c := table.get((s, C)))) for C in Cs}
            rows.append(["" if rows else name, source + solver, "s", *(_seconds(line[C], finished[C]) for C in Cs)])
            rows.append(["", "", "steps", *(_steps(line[C]) for C in Cs)])
    return rows


def _seconds(cell: paper.Cell | None, any_finished: bool) -> str:
    """Return seconds as the paper prints them: a star for a lower bound, --- if no solver finished."""
    if cell is None:
        return ""
    if cell.seconds is None or not (cell.finished or any_finished):
        return "---"
    text = f"{cell.seconds:.3g}" if cell.seconds < 1000.0 else f"{cell.seconds:,.0f}"
    return text if cell.finished else f"{text}*"


def _steps(cell: paper.Cell | None) -> str:
    return f"{cell.steps:.2e}" if cell is not None and cell.finished and cell.steps is not None else ""


def peer_panels(cells: Iterable[peers.Cell], solvers: Sequence[str], target: float) -> dict[str, CGridDisplay]:
    """Return for each data set its display: seconds to one target against C."""
    kept = [cell for cell in cells if cell.target == target]
    # The same in all panels; hingeline's engines have solid lines.
    styles = {
        solver: {"color": f"C{k % 10}", "linestyle": "-" if solver in SOLVERS else "--"}
        for k, solver in enumerate(solvers)
    }
    panels = {}
    for name in dict.fromkeys(cell.dataset for cell in kept):
        points = {
            (cell.solver, cell.C): (cell.seconds if cell.status == "ok" else cell.deadline, cell.status != "ok")
            for cell in kept
            if cell.dataset == name and cell.status in ("ok", "deadline")
        }
        panels[name] = _display(points, styles)
    return panels


def paper_panels(cells: Iterable[paper.Cell]) -> dict[str, CGridDisplay]:
    """Return for each data set its display, as in the paper: solid for the largest eps, dashed for the others."""
    kept = [cell for cell in cells if cell.seconds is not None]
    largest = max((cell.eps for cell in kept), default=0.0)
    colours = dict(zip(paper.SOLVERS, ("tab:red", "tab:blue", "tab:green"), strict=True))
    markers = dict(zip(paper.SOLVERS, "osD", strict=True))
    panels = {}
    for name in dict.fromkeys(cell.dataset for cell in kept):
        points = {(_label(c), c.C): (c.seconds or nan, not c.finished) for c in kept if c.dataset == name}
        styles = {
            _label(c): {
                "color": colours[c.solver],
                "marker": markers[c.solver],
                "linestyle": "-" if c.eps == largest else "--",
            }
            for c in kept
        }
        panels[name] = _display(points, styles)
    return panels


def _label(cell: paper.Cell) -> str:
    return f"{cell.solver}, eps {cell.eps:g}"


def _display(
    points: Mapping[tuple[str, float], tuple[float, bool]], styles: Mapping[str, Mapping[str, Any]]
) -> CGridDisplay:
    """Return a display of (seconds, whether capped) by line and C; lines without a point are left out."""
    from hingeline.viz import CGridDisplay

    Cs = sorted({C for _, C in points})
    lines = [name for name in styles if any(name == line for line, _ in points)]
    at = {name: [points.get((name, C), (nan, False)) for C in Cs] for name in lines}
    return CGridDisplay(
        C=Cs,
        seconds={name: [seconds for seconds, _ in values] for name, values in at.items()},
        capped={name: [capped for _, capped in values] for name, values in at.items()},
        styles={name: styles[name] for name in lines},
    )
