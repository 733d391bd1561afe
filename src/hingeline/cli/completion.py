"""``hingeline completion``: a script for a shell, so that it completes commands, options and files."""

from __future__ import annotations

import argparse
from typing import Any

SHELLS = ("bash", "zsh", "tcsh")
MISSING_SHTAB = "completion needs shtab, which is not installed: pip install shtab."
FILES = {"data", "model", "output", "source", "dataset", "checkpoint", "feature_names"}  # what file names are taken for


def add_parser(commands: Any) -> None:
    """Add the command to the subparsers ``commands``."""
    parser = commands.add_parser(
        "completion",
        help="print a script with which the shell completes commands, options and files",
        description="Print a completion script for a shell. For bash: hingeline completion bash >> ~/.bash_completion",
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    try:
        import shtab
    except ModuleNotFoundError:
        raise ValueError(MISSING_SHTAB) from None
    parser = completed_parser()
    for action in _actions(parser):
        if action.dest in FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(parser, args.shell))
    return 0


def completed_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands, in which ``train`` and ``predict`` have options that argparse knows."""
    from . import COMMANDS, parser_of

    parser = parser_of([name for name in COMMANDS if name not in ("train", "predict")])
    commands = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    _add_train(commands)
    _add_predict(commands)
    return parser


def _add_train(commands: Any) -> None:
    from .train_options import FLAGS, VALUED, own_options

    parser = commands.add_parser("train", help="train a model with LIBLINEAR's options", add_help=False)
    _add_letters(parser, FLAGS, VALUED.replace("w", ""))
    for action in own_options(parser)._actions:
        parser._add_action(action)
    parser.add_argument("data", metavar="DATA")
    parser.add_argument("model", metavar="MODEL", nargs="?")


def _add_predict(commands: Any) -> None:
    from .predict_options import FLAGS, VALUED, own_options

    parser = commands.add_parser("predict", help="predict with a model", add_help=False)
    _add_letters(parser, FLAGS, VALUED)
    for action in own_options(parser)._actions:
        parser._add_action(action)
    for name in ("data", "model", "output"):
        parser.add_argument(name, metavar=name.upper())


def _add_letters(parser: argparse.ArgumentParser, flags: str, valued: str) -> None:
    """Add LIBLINEAR's options."""
    for letter in flags:
        parser.add_argument(f"-{letter}", action="store_true", help="as in LIBLINEAR")
    for letter in valued:
        parser.add_argument(f"-{letter}", help="as in LIBLINEAR")


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the arguments of a parser and of those below it."""
    found: list[argparse.Action] = []
    for action in parser._actions:
        found.append(action)
        if isinstance(action, argparse._SubParsersAction):
            found += [below for each in action.choices.values() for below in _actions(each)]
    return found
