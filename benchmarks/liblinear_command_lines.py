"""Command lines compared with LIBLINEAR's own ``train`` and ``predict``: exit status, model, predictions, output.

    python benchmarks/liblinear_command_lines.py --programs DIR

DIR holds LIBLINEAR's two programs, built from its sources. Every difference is either one of ``DOCUMENTED``, which
docs/coming-from-liblinear.md describes, or a failure: the script ends with status 1.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from math import isclose
from pathlib import Path
from typing import NamedTuple

import numpy as np
from command_lines import CLASSIFIERS, DOCUMENTED, REGRESSIONS, TIGHT, Line, predict_lines, train_lines, write_data

from hingeline.cli import main as hingeline
from hingeline.io.models.liblinear_file import ModelFileError, read_model

CLOSE = {"default": 0.2, "tight": 2e-2}  # weights may differ by so much of the largest
PROGRESS = re.compile(r"[.*#]*|init f .*|iter .*|=+|WARNING: reaching max .*|(Using|Switching to use) -s \d+.*")
PER_PROBLEM = re.compile(r"(optimization finished|Objective value|nSV|#nonzeros/#features|rho)\b.*")
OWN = re.compile(r"(label -?\d+: )?[\w+]+, \d+ iterations, .*")
RHO = re.compile(r"^rho .*", re.MULTILINE)  # a number, like the weights
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")


class Done(NamedTuple):
    """What a program has done."""

    status: int
    out: str


@contextmanager
def standard_output_to(path: Path) -> Iterator[None]:
    """Send descriptor 1 to a file."""
    sys.stdout.flush()
    kept = os.dup(1)
    with path.open("wb") as file:
        os.dup2(file.fileno(), 1)
    try:
        yield
        sys.stdout.flush()
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def run_ours(line: Line) -> Done:
    """Run hingeline in this process, which has compiled what it needs by the second training."""
    with standard_output_to(Path("stdout")), open(os.devnull, "w") as silent:
        errors, sys.stderr = sys.stderr, silent
        try:
            status = hingeline([line.program, *line.words.split()])
        except SystemExit as stop:
            status = int(stop.code or 0)
        finally:
            sys.stderr = errors
    return Done(status, Path("stdout").read_text())


def run_theirs(line: Line, programs: Path) -> Done:
    """Run LIBLINEAR's program."""
    command = [str(programs / line.program), *line.words.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout if done.returncode == 0 else "")


def visible(text: str, words: str) -> list[str]:
    """Return the lines of standard output that are compared: without progress, and our own line about a solution."""
    lines = [line for line in text.splitlines() if not PROGRESS.fullmatch(line) and not OWN.fullmatch(line)]
    folds = "-v" in words.split() or "-C" in words.split()
    return [line for line in lines if not (folds and PER_PROBLEM.fullmatch(line))]


def compare_output(line: Line, ours: Done, theirs: Done) -> str | None:
    """Return what differs on standard output."""
    mine, yours = visible(ours.out, line.words), visible(theirs.out, line.words)
    if "newton" in line.may:
        mine = [text for text in mine if not PER_PROBLEM.fullmatch(text)]
    keys = [[NUMBER.sub("N", text) for text in lines] for lines in (mine, yours)]
    if "-C" in line.words.split():  # how many values of C are tried depends on the folds
        keys = [sorted(set(lines)) for lines in keys]
    if keys[0] != keys[1]:
        return f"standard output: {mine[:3]} instead of {yours[:3]}"
    if line.program == "predict" and mine != yours:
        return f"standard output: {mine} instead of {yours}"
    return None


def compare_models(line: Line) -> str | None:
    """Return what differs between the two models: words of the header, or weights beyond what tolerances allow."""
    try:
        mine, yours = read_model("ours"), read_model("theirs")
    except (OSError, ModelFileError) as error:
        return f"model: {error}"
    headers = [RHO.sub("", Path(name).read_text().split("\nw\n")[0]) for name in ("ours", "theirs")]
    if headers[0] != headers[1]:
        return f"model: {headers[0]!r} instead of {headers[1]!r}"
    if not isclose(mine.rho, yours.rho, rel_tol=1e-3):
        return f"model: rho {mine.rho} instead of {yours.rho}"
    close = CLOSE["tight" if TIGHT in line.words else "default"]
    apart = float(np.abs(mine.w - yours.w).max() / max(np.abs(yours.w).max(), 1e-300))
    return f"model: weights differ by {apart:.1e} of the largest" if apart > close else None


def compare(line: Line, programs: Path) -> str | None:
    """Run a command line on both sides; return the first difference."""
    product = {"train": "model", "predict": "output"}[line.program]
    names = [product, "two.model"] if line.program == "train" else [product]
    kept: list[dict[str, bytes]] = []
    results: list[Done] = []
    for side in ("ours", "theirs"):
        for name in names:
            Path(name).unlink(missing_ok=True)
        results.append(run_ours(line) if side == "ours" else run_theirs(line, programs))
        kept.append({name: Path(name).read_bytes() for name in names if Path(name).is_file()})
    ours, theirs = results
    if ours.status != theirs.status:
        return f"exit status {ours.status} instead of {theirs.status}"
    if theirs.status != 0:
        return None  # what is left of an output file, and what is printed to standard error, is our own
    if kept[0].keys() != kept[1].keys():
        return f"files: {sorted(kept[0])} instead of {sorted(kept[1])}"
    difference = compare_output(line, ours, theirs)
    for name in kept[0] if difference is None else ():
        if line.program == "predict" and kept[0][name] != kept[1][name]:
            return "predictions"
        if line.program == "train":
            Path("ours").write_bytes(kept[0][name])
            Path("theirs").write_bytes(kept[1][name])
            difference = compare_models(line)
    return difference


def main() -> int:
    """Print every difference, and how many lines are the same."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, required=True, metavar="DIR", help="folder of LIBLINEAR's programs")
    programs = parser.parse_args().programs.resolve()
    lines = [*train_lines(), *predict_lines()]
    count: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_data(Path())
        kinds = {
            "signs": CLASSIFIERS,
            "two": CLASSIFIERS,
            "many": CLASSIFIERS,
            "targets": REGRESSIONS,
            "positive": (21,),
        }
        for data, types in kinds.items():
            for s in types:
                subprocess.run([programs / "train", "-q", "-s", str(s), data, f"{data}.{s}"], check=True)
        for line in lines:
            difference = compare(line, programs)
            kind = "same" if difference is None else "documented" if line.may else "undocumented"
            count[kind] += 1
            if difference is not None:
                why = "; ".join(DOCUMENTED[name] for name in line.may)
                print(f"{kind}: {line.program} {line.words}\n    {difference}{f' ({why})' if why else ''}", flush=True)
        os.chdir("/")
    print(f"{len(lines)} command lines: " + ", ".join(f"{number} {kind}" for kind, number in sorted(count.items())))
    return 1 if count["undocumented"] else 0


if __name__ == "__main__":
    sys.exit(main())
