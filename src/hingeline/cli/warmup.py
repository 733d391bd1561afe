"""``hingeline warmup``: compile the kernels and keep them in numba's cache, for example in a container image."""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

KINDS = {  # of problems, and what trains them
    "linear": "LinearSVC, LinearSVCCV, -s 1, 2, 3",
    "logistic": "LogisticRegression, LogisticRegressionCV, -s 0, 7",
    "l1": "penalties l1 and elasticnet, -s 5, 6",
    "regression": "LinearSVR, LinearSVRCV, -s 11, 12, 13",
    "crammer_singer": 'LinearSVC(multi_class="crammer_singer"), -s 4',
    "one_class": "OneClassSVM, -s 21",
}
DEFAULT = ("linear",)


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    parser = commands.add_parser(
        "warmup",
        help="compile the kernels and cache them on disk",
        description="Train small problems, so that all kernels for problems of their kind are compiled and cached. "
        "Nothing is compiled when such a problem is trained later.",
        epilog="kinds:\n" + "\n".join(f"  {kind:16}{what}" for kind, what in KINDS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "kinds",
        nargs="*",
        metavar="KIND",
        help=f"kinds of problems (default: {', '.join(DEFAULT)}); others are compiled when they are first trained",
    )
    parser.add_argument("--all", action="store_true", help="every kind, which takes several times as long")
    parser.add_argument(
        "--layout",
        metavar="TEXT",
        help='only layouts of the data whose names contain this, such as "dense" or "float64 values, int32"; the '
        "default is all ten",
    )
    parser.set_defaults(run=run, parser=parser)


def run(args: argparse.Namespace) -> int:
    """Train small problems of each kind in each layout, and print how long it took."""
    unknown = [kind for kind in args.kinds if kind not in KINDS]
    if unknown:
        args.parser.error(f"unknown kind {unknown[0]!r}: choose among {', '.join(KINDS)}")
    from hingeline.kernels.cache import needed
    from hingeline.progress import StepsBar, open_screen

    from . import warmup_problems as problems

    kinds = tuple(KINDS) if args.all else tuple(args.kinds) or DEFAULT
    layouts = [layout for layout in problems.LAYOUTS if args.layout is None or args.layout in layout]
    if not layouts:
        args.parser.error(f"no layout contains {args.layout!r}: choose among {'; '.join(problems.LAYOUTS)}")
    work: list[tuple[str, list[tuple[Any, Any]]]]
    work = [(layout, [(problems.KINDS[kind], layout) for kind in kinds]) for layout in layouts]
    if problems.OF_TEXT in layouts:
        work.append(("text, datasets, commands", [(problems.files, kinds)]))
    start = time.perf_counter()
    bar = StepsBar("warming up", len(work), "layouts")
    with open_screen() as screen, screen.showing(bar), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the problems are hard, and get no time
        for name, parts in work:
            began = time.perf_counter()
            for function, what in parts:
                function(what)
            bar.advance()
            print(f"{name:42} {time.perf_counter() - began:6.2f} s", flush=True)
    if len(kinds) < len(KINDS):
        print(f"ready: {', '.join(kinds)}; --all adds the other kinds")
    print(f"{len(needed)} kernels ready in {time.perf_counter() - start:.1f} s; cache: {_cache_folder()}")
    return 0


def _cache_folder() -> str:
    from numba import config

    return str(config.CACHE_DIR) or "beside the package, or numba's folder for the user if that is read-only"
