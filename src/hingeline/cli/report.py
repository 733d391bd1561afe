"""``hingeline report``: what was trained, how it converged and how C was chosen, as one HTML file."""

from __future__ import annotations

import argparse
from typing import Any

DEFAULT = "report.html"


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    parser = commands.add_parser(
        "report",
        help="write an HTML report of a run",
        description="Write one HTML file, which needs no network, about a run: data, certificate, convergence, choice "
        "of C, confusion matrix, features, settings, versions.",
    )
    parser.add_argument(
        "source",
        metavar="RUN",
        help="folder of `hingeline train --run` or `hingeline search --out` (or of both), or a model file",
    )
    parser.add_argument("--out", metavar="FILE", default=DEFAULT, help=f"the page to write (default: {DEFAULT})")
    parser.add_argument(
        "-o", "--output", dest="out", default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )  # earlier names
    parser.add_argument(
        "--data", help="evaluate the model on these rows (default: show the result on the training data)"
    )
    parser.add_argument("--label", metavar="COLUMN", help="--data is a table (.csv, .tsv, .parquet) with labels here")
    parser.add_argument("--feature-names", metavar="FILE", help="names of the features, one per line")
    parser.add_argument("--title", help="heading of the page")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read the run, evaluate it on other data if asked to, and write the page."""
    if args.label is not None and args.data is None:
        raise ValueError(f"--label {args.label}: name the table with --data.")
    from hingeline.progress import Bar, open_screen
    from hingeline.viz.report.features import read_names
    from hingeline.viz.report.write import write_report

    from .data_input import read_rows

    names = read_names(args.feature_names) if args.feature_names else None
    data = read_rows(args.data, label=args.label) if args.data else None
    with open_screen() as screen, screen.showing(Bar("writing the report")):
        write_report(args.source, args.out, data=data, data_name=args.data or "", feature_names=names, title=args.title)
    print(f"written to {args.out}")
    return 0
