"""``hingeline convert``: svmlight text to a dataset, which opens without being read."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .options import HelpFormatter, byte_size, positive_int

if TYPE_CHECKING:
    from hingeline.io.dataset.folder import Description


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    parser = commands.add_parser(
        "convert",
        help="convert svmlight text to a memory-mapped dataset",
        description="Convert svmlight text of any size (plain, gz, bz2, xz, zst) into a folder that opens at once.",
        formatter_class=HelpFormatter,
    )
    parser.add_argument("data", type=Path, metavar="DATA", help="the text")
    parser.add_argument("dataset", type=Path, metavar="DATASET", help="the folder to create")
    add_memory(parser)
    parser.add_argument(
        "--zero-based",
        action="store_true",
        help="columns count from 0 (detected automatically if a column 0 occurs)",
    )
    parser.add_argument(
        "--columns", type=positive_int, metavar="N", help="number of columns, if the text does not use the last ones"
    )
    parser.add_argument("--force", action="store_true", help="replace an existing dataset")
    parser.set_defaults(run=run)


def add_memory(parser: argparse.ArgumentParser) -> None:
    """Add the option that bounds the memory of a conversion."""
    parser.add_argument(
        "--memory", type=byte_size, default="1G", metavar="SIZE", help="most memory for the data, such as 512M or 2G"
    )


def run(args: argparse.Namespace) -> int:
    """Convert, and print what the dataset holds."""
    from hingeline.io.dataset.convert import convert
    from hingeline.progress import counting
    from hingeline.runtime.training_clock import now

    began = now()
    with counting("converting") as progress:
        description = convert(
            args.data,
            args.dataset,
            memory=args.memory,
            zero_based=args.zero_based or "auto",
            columns=args.columns,
            force=args.force,
            progress=progress,
        )
    print_written(description, args.dataset, now() - began)
    return 0


def print_written(description: Description, path: Path, seconds: float) -> None:
    """Print what a dataset holds and how long it took to write."""
    values = "all 1, not stored" if description.all_ones else description.vectors["data"].dtype
    print(
        f"{path}: {description.rows:,} rows, {description.columns:,} columns, {description.nonzeros:,} non-zeros "
        f"({values}), {description.bytes / 1e6:,.1f} MB, {seconds:.1f} s"
    )
