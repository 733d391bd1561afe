"""The command line, one file per command: each parses, calls and prints, and contains no mathematics.

Exit status: 0 success, 1 bad input, 2 wrong usage (argparse), 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from hingeline import __version__

from .options import INTERRUPTED

COMMANDS = (
    "demo",
    "train",
    "predict",
    "search",
    "inspect",
    "report",
    "convert",
    "data",
    "warmup",
    "bench",
    "completion",
)
WORTH_A_WORD = 0.5  # seconds of compiling
EXAMPLES = """\
examples:
  hingeline demo                                  compared with scikit-learn on built-in data: a table and a picture
  hingeline train -s 3 -c 1 data.svm model        LIBLINEAR's options; the model is in its format
  hingeline predict test.svm model predictions    writes labels, prints the accuracy
  hingeline search data.svm --model model         chooses C by cross-validation, and trains with it

`hingeline COMMAND --help` shows the options of a command.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``hingeline`` with the arguments ``argv`` (default: those of the process); return the exit status."""
    try:
        words = sys.argv[1:] if argv is None else list(argv)
        if words[:1] == ["search"]:
            from .search_options import with_weights

            words = with_weights(words)
        if not words:
            parser_of().print_help()
            return 0
        args = parser_of(words[:1] if words and words[0] in COMMANDS else COMMANDS).parse_args(words)
        status: int = args.run(args)
        if sys.stdout is not None:  # it may be closed
            sys.stdout.flush()
        if args.command != "warmup":
            _tell_of_compiling()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone (as `head` does). Without this, Python complains once more when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ValueError, OSError) as error:
        from .wording import in_options

        print(f"hingeline: {in_options(str(error))}", file=sys.stderr)
        return 1
    except MemoryError as error:
        reason = f" ({error})" if str(error) else ""
        print(f"hingeline: out of memory{reason}; `hingeline data info` tells how large data is.", file=sys.stderr)
        return 1
    return status


def _tell_of_compiling() -> None:
    """Say on a terminal if kernels had to be compiled: the command took longer than the times it printed."""
    from hingeline.runtime.training_clock import compile_seconds

    seconds = compile_seconds()
    if seconds > WORTH_A_WORD and sys.stderr is not None and sys.stderr.isatty():
        print(f"compiling, once, took {seconds:.1f} s more (`hingeline warmup` does it in advance)", file=sys.stderr)


def parser_of(names: Sequence[str] = COMMANDS) -> argparse.ArgumentParser:
    """Return the parser of some commands. Only their modules are imported, so that no command waits for the others."""
    parser = argparse.ArgumentParser(
        prog="hingeline",
        description="Fast linear support vector machines, with a certificate of optimality on every model.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"hingeline {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, dest="command")
    for name in names:
        import_module(f".{name}", __name__).add_parser(commands)
    return parser
