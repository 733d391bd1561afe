"""``hingeline data``: data sets by name, their statistics, and made-up ones of any size."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .convert import add_memory, print_written
from .options import HelpFormatter, add_columns, natural, non_negative_float, positive_int
from .table import PlainTable

if TYPE_CHECKING:
    from hingeline.io.dataset.catalogue import Entry
    from hingeline.io.dataset.statistics import Statistics

MOST_LABELS_SHOWN = 20


def add_parser(commands: Any) -> None:
    """Add the command and its four verbs to the subparsers ``commands``."""
    parser = commands.add_parser("data", help="data sets by name, their statistics, and synthetic ones")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    shared = {"formatter_class": HelpFormatter}

    verb = verbs.add_parser("list", help="the data sets that are known by name", **shared)
    _add_folder(verb)
    verb.set_defaults(run=run_list)

    text = "Rows, columns (the paper's Table 1), non-zeros and labels of a dataset, a file, or a data set by name."
    verb = verbs.add_parser("info", help="statistics of a dataset or file", description=text, **shared)
    verb.add_argument("name", metavar="NAME", help="a dataset folder, a svmlight file, or a name from the list")
    _add_folder(verb)
    verb.add_argument("--json", action="store_true", help="print the statistics as one JSON object")
    verb.set_defaults(run=run_info)

    text = "Download a data set, verify and convert it. An interrupted download is resumed."
    verb = verbs.add_parser("fetch", help="download and convert a data set", description=text, **shared)
    verb.add_argument("name", metavar="NAME", help="a name from the list")
    _add_folder(verb)
    verb.add_argument(
        "--url", metavar="URL", help="address of a mirror: the part before binary/, multiclass/, regression/"
    )
    verb.add_argument("--sha256", metavar="HEX", help="checksum that the downloaded file must have")
    verb.add_argument("--keep", action="store_true", help="keep the downloaded text as well")
    verb.add_argument("--force", action="store_true", help="fetch again, and replace an earlier dataset")
    add_memory(verb)
    verb.set_defaults(run=run_fetch)

    text = "Make a synthetic two-class dataset of any size: Zipf-distributed features, a hidden linear rule, noise."
    verb = verbs.add_parser("make", help="a synthetic dataset of any size", description=text, **shared)
    verb.add_argument("dataset", type=Path, metavar="OUT", help="the folder to create")
    verb.add_argument("--rows", type=positive_int, required=True, metavar="N", help="number of rows")
    add_columns(verb, "number of columns")
    verb.add_argument("--nnz", type=positive_int, required=True, metavar="K", help="non-zeros in each row")
    verb.add_argument(
        "--zipf",
        type=non_negative_float,
        default=1.1,
        metavar="A",
        help="the column of rank r is drawn in proportion to r^-A",
    )
    verb.add_argument("--noise", type=non_negative_float, default=0.02, metavar="S", help="fraction of wrong labels")
    verb.add_argument("--seed", type=natural, default=0, metavar="N", help="the same arguments give the same data")
    verb.add_argument("--values", action="store_true", help="values in (0, 1] instead of ones, which are not stored")
    verb.add_argument("--force", action="store_true", help="replace an existing dataset")
    verb.set_defaults(run=run_make)


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="where fetched data sets are kept (default: $HINGELINE_DATA, else a folder in the user's cache)",
    )


def run_list(args: argparse.Namespace) -> int:
    """Print the catalogue."""
    from hingeline.io.dataset.catalogue import entries, note

    folder = _folder(args)
    header = ["name", "rows", "columns", "non-zeros", "here"]
    with PlainTable(header, [17, 11, 10, 13, 4]) as table:
        for entry in entries():
            here = "yes" if (folder / entry.name).exists() else ""
            table.add([entry.name, *(_count(n) for n in (entry.rows, entry.columns, entry.nonzeros)), here])
    print(f"{note()}\nkept in {folder}; `hingeline data info NAME` shows more")
    return 0


def run_info(args: argparse.Namespace) -> int:
    """Print the statistics of a dataset or file, and what the catalogue knows about it."""
    from hingeline.io.dataset.catalogue import entries
    from hingeline.io.dataset.statistics import describe
    from hingeline.progress import counting

    known = {entry.name: entry for entry in entries()}
    fetched = _folder(args) / args.name
    path = Path(args.name) if Path(args.name).exists() else fetched
    if not path.exists() and args.name not in known:
        raise ValueError(
            f"{args.name}: there is no such file, folder or data set; `hingeline data list` shows the known names."
        )
    entry = known[args.name] if args.name in known and path == fetched else None
    if args.json:
        from .train_results import print_json

        print_json({"catalogue": _entry_content(entry), "statistics": _read_statistics(path)}, sys.stdout)
        return 0
    if entry is not None:
        _print_fields(
            {
                "name": f"{entry.name}: {entry.about}",
                "published": entry.url(),
                "licence": entry.licence,
                "sha256": entry.sha256 or "not known",
                "rows": _count(entry.rows),
                "columns": _count(entry.columns),
                "non-zeros": _count(entry.nonzeros),
            }
        )
    if not path.exists():
        print(f"not fetched yet; fetch it with: hingeline data fetch {args.name}")
        return 0
    with counting("reading") as progress:
        statistics = describe(path, progress)
    _print_statistics(path, statistics)
    return 0


def _entry_content(entry: Entry | None) -> dict[str, Any] | None:
    """Return what the catalogue knows, in JSON's terms."""
    if entry is None:
        return None
    numbers = {"rows": entry.rows, "columns": entry.columns, "nonzeros": entry.nonzeros}
    texts = {"about": entry.about, "url": entry.url(), "licence": entry.licence, "sha256": entry.sha256}
    return {"name": entry.name, **texts, **numbers}


def _read_statistics(path: Path) -> dict[str, Any] | None:
    """Return the statistics of what is there, in JSON's terms; None if nothing is."""
    from dataclasses import asdict

    from hingeline.io.dataset.statistics import describe
    from hingeline.progress import counting

    if not path.exists():
        return None
    with counting("reading") as progress:
        s = describe(path, progress)
    counts = s.label_counts
    labels = None if counts is None else [{"label": label, "rows": count} for label, count in counts]
    return {"path": str(path), **asdict(s), "label_counts": labels, "density": s.density}


def run_fetch(args: argparse.Namespace) -> int:
    """Download, verify, convert."""
    from hingeline.io.dataset.catalogue import find_entry
    from hingeline.io.dataset.fetch import fetch
    from hingeline.progress import counting
    from hingeline.runtime.training_clock import now

    entry, folder = find_entry(args.name), _folder(args)
    began = now()
    print(f"{entry.url(args.url)} (licence: {entry.licence})", file=sys.stderr)
    with counting("downloading") as downloading, counting("converting") as converting:
        description = fetch(
            entry,
            folder,
            base=args.url,
            sha256=args.sha256,
            memory=args.memory,
            force=args.force,
            keep=args.keep,
            on_download=downloading,
            on_convert=converting,
        )
    print_written(description, folder / entry.name, now() - began)
    if description.rows != entry.rows or entry.nonzeros not in (None, description.nonzeros):
        print(
            f"warning: the size differs from the expected {entry.rows:,} rows, {_count(entry.nonzeros)} non-zeros",
            file=sys.stderr,
        )
    return 0


def run_make(args: argparse.Namespace) -> int:
    """Stream a synthetic dataset to disk."""
    from hingeline.io.dataset.generate import make_dataset
    from hingeline.progress import counting
    from hingeline.runtime.training_clock import now

    began = now()
    with counting("making", unit=" rows") as progress:
        description = make_dataset(
            args.dataset,
            args.rows,
            args.columns,
            args.nnz,
            zipf=args.zipf,
            noise=args.noise,
            values=args.values,
            seed=args.seed,
            force=args.force,
            progress=progress,
        )
    print_written(description, args.dataset, now() - began)
    return 0


def _folder(args: argparse.Namespace) -> Path:
    from hingeline.io.dataset.catalogue import data_folder

    return args.data_dir or data_folder()


def _count(n: int | None) -> str:
    return "not known" if n is None else f"{n:,}"


def _print_statistics(path: Path, s: Statistics) -> None:
    labels = "too many for classes"
    if s.label_counts is not None:
        labels = ", ".join(f"{label:g}: {count:,}" for label, count in s.label_counts[:MOST_LABELS_SHOWN])
        more = len(s.label_counts) - MOST_LABELS_SHOWN
        labels += f", and {more} more" if more > 0 else ""
    _print_fields(
        {
            "data": str(path),
            "rows": f"{s.rows:,}",
            "columns": f"{s.columns:,}",
            "non-zeros": f"{s.nonzeros:,}",
            "per row": f"{s.nonzeros_per_row:.4g} (from {s.shortest_row:,} to {s.longest_row:,})",
            "density": f"{s.density:.3g}",
            "values": s.values,
            "labels": labels,
            "bytes": f"{s.bytes:,}",
        }
    )


def _print_fields(fields: dict[str, str]) -> None:
    for name, value in fields.items():
        print(f"{name:10} {value}")
