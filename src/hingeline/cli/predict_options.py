"""The command line of ``predict``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import NamedTuple

from .standard_streams import STANDARD
from .words import own_parser, refuse, sort_words, whole

FLAGS, VALUED = "q", "b"  # LIBLINEAR's options, without and with a value


class PredictOptions(NamedTuple):
    """What ``predict`` is asked to do."""

    data: str
    label: str | None
    model: str
    output: str
    probabilities: bool
    quiet: bool
    scores: bool
    json: bool


def own_options(command: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Return the parser of hingeline's own options."""
    parser = own_parser(command)
    parser.add_argument("--label")
    parser.add_argument("--scores", action="store_true")
    parser.add_argument("--json", action="store_true")
    return parser


def parse_predict(parser: argparse.ArgumentParser, words: Sequence[str]) -> PredictOptions:
    """Return what a command line of ``predict`` asks for."""
    short, long, operands = sort_words(words, FLAGS, VALUED)
    own = own_options(parser).parse_args(long)
    if len(operands) != 3:
        refuse(parser, "name three files: DATA MODEL OUTPUT")
    given = dict(short)
    probabilities = whole(given, "b", 0)
    if probabilities not in (0, 1):
        raise ValueError(f"-b {probabilities}: must be 0 or 1.")
    data, model, output = operands
    if data == model == STANDARD:
        parser.error("only one of DATA and MODEL can be standard input")
    if own.scores and probabilities == 1:
        parser.error("--scores: not available with -b 1; each line has probabilities or scores")
    return PredictOptions(data, own.label, model, output, probabilities == 1, "q" in given, own.scores, own.json)


PREDICT_USAGE = "[-b 0|1] [-q] [OPTIONS] DATA MODEL OUTPUT"
PREDICT_TEXT = """\
Predict the labels of DATA with MODEL (LIBLINEAR's format or hingeline's own), write one per line to OUTPUT, and print
the accuracy, or the error of a regression. DATA is as for train; MODEL may be - for standard input, OUTPUT - for
standard output (the accuracy is then printed to standard error).

  -b 1        write probabilities too, for logistic regression
  -q          do not print the accuracy
  --scores    write the scores (decision values) after each label; the first line names their classes. With two
              classes there is one score, and a positive one stands for the class named
  --label COLUMN
              DATA is a table (.csv, .tsv, .parquet; - is CSV) with this label column; leave the option out if the table
              has no labels: then no accuracy is printed
  --json      print the accuracy, or the error of a regression, as one JSON object
  --help      this text
"""
