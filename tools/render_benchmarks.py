"""Write the benchmark tables and the picture of README.md and docs/benchmarks.md from the files in docs/results.

``hingeline bench peers`` writes those files: ``peers-hinge.json`` and ``peers-squared_hinge-intercept.json``. Tables
stand between marks (``<!-- results: NAME -->`` and ``<!-- end of results -->``), so running this again replaces them. A
test fails if page and files disagree.

    python tools/render_benchmarks.py             # after new files were copied to docs/results
    python tools/render_benchmarks.py --from DIR  # copies them from the output folder of the benchmark first
"""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hingeline.bench.peers import Cell
from hingeline.bench.ratios import speed_up
from hingeline.bench.results import Results, read
from hingeline.bench.tables import MARKS
from hingeline.viz import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "results"
PICTURE = ROOT / "docs" / "benchmark.png"
FILES = {"default": "peers-squared_hinge-intercept.json", "hinge": "peers-hinge.json"}
TITLES = {"default": "default", "hinge": "hinge"}
PAGES = ("README.md", "docs/benchmarks.md")
BLOCK = re.compile(r"(<!-- results: (\w+) -->\n).*?(<!-- end of results -->)", re.DOTALL)
OURS = "auto"
NAMES = {
    OURS: "hingeline",
    "liblinear": "LIBLINEAR",
    "liblinear-primal": "LIBLINEAR -s 2",
    "sklearn": "scikit-learn",
    "sklearn-auto": "scikit-learn",
    "sklearn-primal": "scikit-learn, primal",
    "snapml": "Snap ML",
    "rehline": "ReHLine",
}
COLOURS = {
    "hingeline": style.BLUE,
    "LIBLINEAR": style.VERMILION,
    "scikit-learn": style.GREEN,
    "Snap ML": style.ORANGE,
    "ReHLine": style.PURPLE,
}
DATA = ("a9a", "w8a", "covtype", "mnist20k", "news20", "debian_text", "debian_paths", "nycflights")
SHOWN = ("a9a", "covtype", "debian_text", "news20")  # in the picture of the README
SUMMARY_C = (1.0, 100.0)


def main() -> None:
    """Render what docs/results holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", type=Path, dest="source", metavar="DIR", help="output folder of bench peers")
    args = parser.parse_args()
    if args.source is not None:
        for name in FILES.values():
            shutil.copy(args.source / name, FOLDER / name)
    results = load()
    for page in PAGES:
        path = ROOT / page
        path.write_text(fill_in(path.read_text(encoding="utf-8"), results), encoding="utf-8")
    draw(results["hinge"], SHOWN, columns=len(SHOWN)).savefig(PICTURE, dpi=150)


def load(folder: Path = FOLDER) -> dict[str, Results]:
    """Return the results by the name of their problem."""
    return {name: read(folder / file) for name, file in FILES.items()}


def fill_in(text: str, results: Mapping[str, Results]) -> str:
    """Return a page with the tables between its marks replaced."""
    makers: dict[str, Callable[[], str]] = {
        "summary": lambda: summary_table(results),
        "default": lambda: full_table(results["default"]),
        "hinge": lambda: full_table(results["hinge"]),
        "setup": lambda: setup_text(results.values()),
    }
    return BLOCK.sub(lambda mark: f"{mark[1]}{makers[mark[2]]()}\n{mark[3]}", text)


def summary_table(results: Mapping[str, Results]) -> str:
    """Return one row per data set: hingeline's seconds, and those of the fastest other solver."""
    head = ["data", "rows x columns"]
    head += [f"{TITLES[name]}, C = {C:g}" for name in FILES for C in SUMMARY_C]
    rows = []
    for data in known(results["hinge"]):
        cells = [versus(results[name], data, C) for name in FILES for C in SUMMARY_C]
        rows.append([data, size_text(results["hinge"], data), *cells])
    return table(head, rows)


def versus(results: Results, data: str, C: float) -> str:
    """Return ours and the best of the others, the faster in bold."""
    cells = results.find(data, C, target_of(results))
    others = [cell for name, cell in cells.items() if name != OURS]
    if OURS not in cells or not others:
        return "-"
    ours, best = cells[OURS], min(others, key=order_of)
    won = ours.status == "ok" and not (best.status == "ok" and best.seconds < ours.seconds)
    left, right = seconds_text(ours), seconds_text(best)
    name = f" ({NAMES.get(best.solver, best.solver)})" if best.status == "ok" else ""
    if won:
        return f"**{left}** / {right}{name}"
    return f"{left} / **{right}**{name}" if best.status == "ok" else f"{left} / {right}"


def order_of(cell: Cell) -> tuple[int, float]:
    """Return what sorts cells: the fastest first; of those without seconds the late ones first, the earliest ended."""
    if cell.status == "ok":
        return 0, cell.seconds
    reasons = ["deadline", "skipped", *(status for status in MARKS if status != "skipped")]
    return 1 + reasons.index(cell.status), cell.deadline


def full_table(results: Results) -> str:
    """Return all cells: one row per data set and C, one column per solver."""
    target, solvers = target_of(results), list(dict.fromkeys(cell.solver for cell in results.cells))
    head = ["data", "C", *(NAMES.get(name, name) for name in solvers), "best other / hingeline"]
    rows = []
    for data in known(results):
        first = data
        for C in sorted({cell.C for cell in results.cells if cell.dataset == data}):
            cells = results.find(data, C, target)
            best = min((cell.seconds for cell in cells.values() if cell.status == "ok"), default=nan)
            texts = [seconds_text(cells[name], best) if name in cells else "" for name in solvers]
            ratio = speed_up(cells)
            times = "" if ratio.value != ratio.value else f"{'> ' if ratio.bound else ''}{number(ratio.value)}"
            rows.append([first, f"{C:g}", *texts, times])
            first = ""
    return table(head, rows)


def setup_text(results: Iterable[Results]) -> str:
    """Return when, where and by which commands the cells were measured."""
    results = list(results)
    where = results[-1].environment
    cores = f"{where['processor']}, {where['cores']} cores" if where else "unknown"
    versions = {NAMES.get(c.solver, c.solver): c.version for r in results for c in r.cells if c.version}
    python = f"Python {where.get('python', '?')}, NumPy {where.get('numpy', '?')}"
    solvers = ", ".join(f"{name} {version}" for name, version in versions.items())
    commands = "\n".join(command for r in results for command in r.commands)
    return f"Measured on {results[-1].date} ({cores}, {python}) with {solvers}, by\n\n```console\n{commands}\n```"


def table(head: list[str], rows: Iterable[list[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def seconds_text(cell: Cell, best: float = nan) -> str:
    """Return the seconds of a cell, or why there are none; in bold if they are the best."""
    if cell.status == "ok":
        return f"**{number(cell.seconds)}**" if cell.seconds == best else number(cell.seconds)
    return f"> {number(cell.deadline)}" if cell.status == "deadline" else MARKS[cell.status]


def number(value: float) -> str:
    """Return two digits, or all before the point."""
    return f"{value:.2g}" if value < 10.0 else f"{value:.0f}"


def size_text(results: Results, data: str) -> str:
    """Return rows, columns and, if there are more than two, classes."""
    size = results.sizes[data]
    classes = f", {size.classes} classes" if size.classes > 2 else ""
    return f"{size.rows:,} x {size.columns:,}{classes}"


def known(results: Results) -> list[str]:
    """Return the data sets of a file: the usual ones first, in their order."""
    there = dict.fromkeys(cell.dataset for cell in results.cells)
    return [*(name for name in DATA if name in there), *(name for name in there if name not in DATA)]


def target_of(results: Results) -> float:
    """Return the loosest target that was measured."""
    return max(cell.target for cell in results.cells)


def draw(results: Results, datasets: Iterable[str] | None = None, columns: int = 4) -> Figure:
    """Return a picture: seconds against C, one panel per data set."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = [name for name in (datasets or known(results)) if name in results.sizes]
    rows = -(-len(names) // columns)
    figure = Figure(figsize=(2.8 * columns, 2.6 * rows + 0.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    handles: dict[str, Any] = {}
    for ax, name in zip(axes.flat, names, strict=False):
        handles |= draw_panel(ax, results, name)
    for ax in axes.flat[len(names) :]:
        ax.set_axis_off()
    for ax in axes[:, 0]:
        ax.set_ylabel("training time [s]")
    for ax in axes[-1]:
        ax.set_xlabel("C")
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=len(handles), frameon=False)
    return figure


def draw_panel(ax: Axes, results: Results, data: str) -> dict[str, Any]:
    """Draw one data set; return its lines by name.

    Hollow triangles at the deadline stand for runs that it ended. A line ends where a solver did not reach the target.
    """
    from matplotlib.ticker import FuncFormatter

    cells = [cell for cell in results.cells if cell.dataset == data and cell.target == target_of(results)]
    lines: dict[str, Any] = {}
    for solver in dict.fromkeys(cell.solver for cell in cells):
        name = NAMES.get(solver, solver)
        mine = sorted((cell for cell in cells if cell.solver == solver), key=lambda cell: cell.C)
        late = [cell for cell in mine if cell.status == "deadline"]
        seconds = [cell.seconds if cell.status == "ok" else nan for cell in mine]
        heights = [cell.deadline if cell in late[:1] else value for cell, value in zip(mine, seconds, strict=True)]
        colour, Cs = COLOURS.get(name, style.BLACK), [cell.C for cell in mine]
        how: dict[str, Any] = {"color": colour, "linewidth": 2.6 if solver == OURS else 1.3, "zorder": 3}
        ax.plot(Cs, heights, **how)
        (lines[name],) = ax.plot(Cs, seconds, "o-", markersize=4, **how)
        ax.plot([cell.C for cell in late], [cell.deadline for cell in late], "^", color=colour, markerfacecolor="white")
    ax.set(xscale="log", yscale="log")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.set_title(f"{data}\n{size_text(results, data)}", fontsize=9)
    ax.grid(True, alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    return lines


if __name__ == "__main__":
    main()
