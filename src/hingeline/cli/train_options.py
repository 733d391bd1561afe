"""The command line of ``train``: LIBLINEAR's options, and hingeline's own."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hingeline.io.models.solver_types import DEFAULT, DEFAULT_OF_SEARCH, SOLVER_TYPES, numbers_with
from hingeline.liblinear.settings import Settings
from hingeline.solvers.engines import SOLVERS

from .options import add_seed, add_threads, positive_float
from .words import number, own_parser, refuse, sort_words, whole

FLAGS, VALUED = "CRq", "scpneBvw"  # LIBLINEAR's options, without and with a value
DEFAULT_FOLDS = 5
SEARCHED_REGRESSION = numbers_with(is_regression=True, can_search=True)


@dataclass(frozen=True)
class TrainOptions:
    """What ``train`` is asked to do; ``start_C`` and ``start_p`` are None if ``-c`` and ``-p`` are not given."""

    settings: Settings
    data: str
    label: str | None
    model: str | None
    folds: int | None
    search: bool
    quiet: bool
    json: bool
    checkpoint: str | None
    checkpoint_every: float | None
    run: str | None
    start_C: float | None
    start_p: float | None
    assumed_type: bool


def parse_train(parser: argparse.ArgumentParser, words: Sequence[str]) -> TrainOptions:
    """Return what a command line of ``train`` asks for, checked as far as possible without the data."""
    short, long, operands = sort_words(words, FLAGS, VALUED)
    own = own_options(parser).parse_args(long)
    if not 1 <= len(operands) <= 2:
        refuse(parser, "DATA is missing" if not operands else f"too many files: {' '.join(operands)}")
    given = dict(short)
    settings = Settings(
        type=whole(given, "s", DEFAULT.number),
        C=number(given, "c", 1.0),
        p=number(given, "p", 0.1),
        nu=number(given, "n", 0.5),
        tolerance=number(given, "e", 0.0) if "e" in given else None,
        bias=number(given, "B", -1.0),
        free_bias="R" in given,
        weights=tuple((int(key[1:]), number({key: text}, key, 1.0)) for key, text in short if key[0] == "w"),
        solver=own.solver,
        gap=own.gap,
        threads=own.threads,
        seed=own.seed,
        max_time=own.max_time,
    )
    search = "C" in given
    if search and "s" not in given:
        settings = replace(settings, type=DEFAULT_OF_SEARCH.number)
    settings.check()
    folds = whole(given, "v", DEFAULT_FOLDS) if search or "v" in given else None
    if folds is not None and folds < 2:
        raise ValueError(f"-v {folds}: cross validation needs at least two folds.")
    if search and not settings.solver_type.can_search:
        choice = numbers_with(can_search=True)
        raise ValueError(f"-C: not available for -s {settings.type}; choose -s {choice}.")
    if own.checkpoint is not None and folds is not None:
        parser.error("--checkpoint: not available with -v or -C, which train no model")
    if own.checkpoint_every is not None and own.checkpoint is None:
        parser.error("--checkpoint-every: has no effect without --checkpoint FILE")
    if own.run is not None and folds is not None:
        parser.error("--run: not available with -v or -C, which train no model")
    return TrainOptions(
        settings=settings,
        data=operands[0],
        label=own.label,
        model=operands[1] if len(operands) == 2 else None,
        folds=folds,
        search=search,
        quiet="q" in given,
        json=own.json,
        checkpoint=own.checkpoint,
        checkpoint_every=own.checkpoint_every,
        run=own.run,
        start_C=settings.C if "c" in given else None,
        start_p=settings.p if "p" in given else None,
        assumed_type=search and "s" not in given,
    )


def own_options(command: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Return the parser of hingeline's own options."""
    parser = own_parser(command)
    parser.add_argument("--solver", choices=SOLVERS, default="auto")
    parser.add_argument("--gap", type=positive_float)
    add_threads(parser)
    add_seed(parser, "of the order of visits and of the folds")
    parser.add_argument("--max-time", type=positive_float)
    parser.add_argument("--checkpoint")
    parser.add_argument("--checkpoint-every", type=positive_float)
    parser.add_argument("--run")
    parser.add_argument("--label")
    parser.add_argument("--json", action="store_true")
    return parser


def _types_text() -> str:
    return "\n".join(f"                {known.number:2}  {known.title}" for known in SOLVER_TYPES.values())


def _tolerances_text() -> str:
    """Return LIBLINEAR's default tolerances, the most frequent one first."""
    found = [known.eps for known in SOLVER_TYPES.values()]
    usual, *others = sorted(set(found), key=found.count, reverse=True)
    return "; ".join((f"{usual:g}", *(f"{eps:g} for -s {numbers_with(eps=eps)}" for eps in others)))


TRAIN_USAGE = "[OPTIONS] DATA [MODEL]"
TRAIN_TEXT = f"""\
Train on DATA and write the model in LIBLINEAR's format to MODEL (default: DATA.model in the current folder).
DATA is svmlight text, plain or compressed (gz, bz2, xz, zst), a dataset folder, or - for standard input. MODEL may be
- for standard output (results are then printed to standard error). With --label, DATA is CSV or Parquet.

LIBLINEAR's options, with the same meanings and defaults:
  -s TYPE     what to train (default {DEFAULT.number})
{_types_text()}
  -c C        weight of the loss (default 1)
  -p EPSILON  half the width of the tube of regression (default 0.1)
  -n NU       fraction of outliers of the one-class SVM (default 0.5)
  -e EPS      tolerance (default {_tolerances_text()})
  -B BIAS     append a constant feature of this value, unless below zero (default -1)
  -R          do not regularise its weight; needs -B 1 (for -s {numbers_with(can_free_bias=True)})
  -wLABEL W   multiply C by W for a class
  -v N        N-fold cross validation instead of a model
  -C          look for the best C (and p for -s {SEARCHED_REGRESSION}) by cross validation instead of a model
  -q          print only results

hingeline's own:
  --label COLUMN     DATA is a table (.csv, .tsv, .parquet; - is CSV): this column has the labels, the others are
                     features 1, 2, ... in their order
  --solver NAME      {", ".join(SOLVERS)} (default auto)
  --gap G            stop at this relative duality gap instead of -e
  --threads N        threads, over the classes or the rows, or all: one per core (default 1)
  --seed N           seed of the order of visits and of the folds (default 0)
  --max-time S       seconds after which training ends, with the best model so far
  --checkpoint FILE  save the state at intervals and when interrupted; continue from FILE if it exists
  --checkpoint-every S
                     seconds between two saves, which wait for the end of a sweep (default 20, growing to 300)
  --run DIR          write a folder for "hingeline report": how training went, and the model (also written to MODEL if
                     that is named)
  --json             print the results as one JSON object
  --help             this text
"""
