"""What the experiments of ``hingeline bench`` share: options, data sets, progress, plots."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from .options import positive_float
from .plots import can_plot

if TYPE_CHECKING:
    from hingeline.bench.datasets import Dataset
    from hingeline.progress import StepsBar
    from hingeline.viz import CGridDisplay

    from .table import PlainTable

GRID = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
PEER_DATA = ("covtype", "news20", "debian_text", "nycflights", "debian_paths", "a9a", "w8a", "mnist20k")
OUT = "hingeline-bench"
MISSING_DATA = "skipped: {}, not found in --data-dir"


def add_common(parser: argparse.ArgumentParser, deadline: float) -> None:
    """Add the options that all experiments have."""
    parser.add_argument("--data-dir", type=Path, default=Path("data"), metavar="DIR", help="folder of svmlight files")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="names (default: all known ones in --data-dir)")
    parser.add_argument(
        "--c", type=positive_float, nargs="+", default=list(GRID), metavar="C", help="weights of the loss"
    )
    parser.add_argument("--deadline", type=positive_float, default=deadline, metavar="S", help="seconds for one cell")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(OUT),
        metavar="DIR",
        help="results, CSV, plot; an earlier benchmark there is continued",
    )
    parser.add_argument("--json", action="store_true", help="print the results as one JSON object, and nothing else")


def advance(bar: StepsBar, table: PlainTable) -> None:
    """Count a piece of work, and show how much is left."""
    bar.advance()
    table.tell(bar.line().text)


def datasets_of(args: argparse.Namespace, known: Sequence[str], most_classes: float = inf) -> list[Dataset]:
    """Return the data sets that can be used, parsed; print a line for each of the others."""
    from hingeline.bench.datasets import find, n_classes

    there, missing = find(args.data_dir, args.datasets or known)
    if missing and args.datasets:
        print(MISSING_DATA.format(", ".join(missing)), file=sys.stderr)
    usable = []
    for dataset in there:
        try:
            classes = n_classes(dataset.parsed(args.out / "data"))
            if classes > most_classes:
                raise ValueError(f"{dataset.name} has {classes} labels: this experiment needs two.")
            usable.append(dataset)
        except ValueError as error:
            print(f"skipped: {error}", file=sys.stderr)
    if not usable:
        wanted = ", ".join(args.datasets or known)
        raise ValueError(f"--data-dir {args.data_dir}: found none of {wanted}; choose another folder or other data.")
    return usable


def say_kept(count: int, path: Path) -> None:
    """Tell how many results were there already."""
    if count:
        print(f"{count} results are from an earlier run ({path}; delete it to run them again)")


def plot(panels: dict[str, CGridDisplay], path: Path) -> None:
    """Draw one panel per data set into a file, if matplotlib is there."""
    if not (can_plot() and any(panel.seconds for panel in panels.values())):
        return
    from hingeline.viz import CPanelsDisplay

    CPanelsDisplay(panels).plot().figure_.savefig(path, dpi=120)
    print(f"plot saved to {path}")
