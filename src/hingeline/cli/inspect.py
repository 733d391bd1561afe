"""``hingeline inspect``: describes a model file: problem, certificate, sizes, largest weights."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from .options import HelpFormatter, natural
from .standard_streams import STANDARD, open_model_input

if TYPE_CHECKING:
    from hingeline.io.models.describe import Description

FORMATS = {"liblinear": "LIBLINEAR's format", "native": "hingeline's own format"}
MOST_OUTPUTS = 20  # that are printed; --json has all of them


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    parser = commands.add_parser(
        "inspect",
        help="describe a model file: problem, certificate, sizes, largest weights",
        description="Describe a model file, LIBLINEAR's or hingeline's own.",
        formatter_class=HelpFormatter,
    )
    parser.add_argument("model", metavar="MODEL", help="the model file, or - for standard input")
    parser.add_argument("--top", type=natural, default=10, metavar="N", help="features to show for each class")
    parser.add_argument("--feature-names", metavar="FILE", help="names of the features, one per line")
    parser.add_argument("--json", action="store_true", help="print everything as one JSON object")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read the file and print what it says."""
    from hingeline.io.models.describe import describe_model
    from hingeline.io.models.files import read_content

    names = None
    if args.feature_names is not None:
        with open(args.feature_names, encoding="utf-8") as file:
            names = file.read().splitlines()
    with open_model_input(args.model) as file:
        content = read_content(file, args.model)
    try:
        found = describe_model(content, args.top, names)
    except ValueError as error:
        raise ValueError(f"{args.model}: {error}") from None
    size = None if args.model == STANDARD else os.path.getsize(args.model)
    if args.json:
        import json

        print(json.dumps({"file": args.model, "bytes": size, **found.as_json()}, allow_nan=False))
        return 0
    _print(args.model, size, found)
    return 0


def _print(name: str, size: int | None, found: Description) -> None:
    by = f", written by hingeline {found.written_by}" if found.written_by else ""
    length = "" if size is None else f", {size:,} bytes"
    _field("file", f"{name} ({FORMATS[found.format]}{by}{length})")
    _field("model", found.model)
    if found.labels is not None:
        _field("classes", f"{len(found.labels)}: {', '.join(found.labels[:MOST_OUTPUTS])}{_more(len(found.labels))}")
    weights = found.n_features * len(found.outputs)
    nonzeros = sum(output.nonzeros for output in found.outputs)
    _field("features", f"{found.n_features:,}")
    _field("weights", f"{nonzeros:,} of {weights:,} are not zero")
    _field("settings", ", ".join(f"{key} {value}" for key, value in found.parameters.items()))
    if found.certificate:
        for key, value in found.certificate.items():
            _field(key.replace("_", " "), f"{value:.6g}" if isinstance(value, float) else str(value))
    else:
        _field("certificate", "none: LIBLINEAR's files only hold weights")
    for output in found.outputs[:MOST_OUTPUTS]:
        title = "" if output.label is None else f"label {output.label}: "
        print(f"\n{title}intercept {output.intercept:.6g}, length of w {output.length:.6g}")
        for weight in output.top:
            print(f"  {weight.weight:+13.6g}  {weight.feature}")
    if len(found.outputs) > MOST_OUTPUTS:
        print(f"\nand {len(found.outputs) - MOST_OUTPUTS} more classes (--json shows all)")


def _field(name: str, text: str) -> None:
    print(f"{name:15} {text}")


def _more(count: int) -> str:
    return ", ..." if count > MOST_OUTPUTS else ""
