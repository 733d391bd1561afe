"""Command lines beside LIBLINEAR's own ``train`` and ``predict``: exit status, model, predictions, standard output.

    python benchmarks/liblinear_command_lines.py --programs DIR

DIR holds LIBLINEAR's two programs, built from its sources. Every difference is either one of ``DOCUMENTED``, which
docs/coming-from-liblinear.md tells about, or a failure: the script ends with status 1.
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

from hingeline.cli import main as hingeline
from hingeline.io.models.liblinear_file import ModelFileError, read_model

TIGHT = "-e 1e-7"
CLASSIFIERS, REGRESSIONS = (0, 1, 2, 3, 4, 5, 6, 7), (11, 12, 13)
CLOSE = {"default": 0.2, "tight": 2e-2}  # weights may differ by so much of the largest
PROGRESS = re.compile(r"[.*#]*|init f .*|iter .*|=+|WARNING: reaching max .*|(Using|Switching to use) -s \d+.*")
PER_PROBLEM = re.compile(r"(optimization finished|Objective value|nSV|#nonzeros/#features|rho)\b.*")
OWN = re.compile(r"(label -?\d+: )?[\w+]+, \d+ sweeps, .*")
RHO = re.compile(r"^rho .*", re.MULTILINE)  # a number, like the weights
NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")

DOCUMENTED = {
    "newton": "types 0, 2, 11 print an objective instead of Newton's steps",
    "folds": "-v prints no lines about each fold",
    "capped": "LIBLINEAR stops at its limit of sweeps (types 3, 13) or above the optimum (type 5)",
    "shuffle": "folds are drawn by another generator: rates and the best C differ",
    "strict number": "an option's value must be a number, and only that",
    "strict label": "labels of a classification are whole numbers",
    "strict weight": "weights of classes are not negative",
    "strict value": "NaN and infinity are refused",
    "strict nu": "-n is above 0 and at most 1",
    "strict entry": "an entry without a colon is refused",
    "operands": "more files than the program takes are refused",
    "lenient order": "indices in any order are sorted",
    "lenient blank": "blank lines and comments are skipped",
    "no rows": "a file without rows is refused",
    "search": "-C searches every classification type",
}


class Line(NamedTuple):
    """A command line: words after the program's name; files are in the folder of the data."""

    program: str
    words: str
    may: tuple[str, ...] = ()  # the documented differences that may show


class Done(NamedTuple):
    """What a program has done."""

    status: int
    out: str


def train_lines() -> Iterator[Line]:
    """Yield trainings: every type, label kind and option, valid and not."""
    for s in CLASSIFIERS:
        capped = ("capped",) if s in (3, 5) else ()
        newton = ("newton",) if s in (0, 2) else ()
        for data in ("signs", "two", "many"):
            yield Line("train", f"-s {s} {data} model", (*newton, *capped))
            yield Line("train", f"-s {s} {TIGHT} -q {data} model", capped)
        yield Line("train", f"-s {s} -c 3 -B 1 {TIGHT} signs model", (*newton, *capped))
        yield Line("train", f"-s {s} -B 2.5 -w5 3 -w9 0.5 {TIGHT} -q many model", capped)
        yield Line("train", f"-s {s} -v 4 many", ("folds", "shuffle"))
    for s in (0, 2, 5, 6):
        yield Line("train", f"-s {s} -B 1 -R {TIGHT} -q many model", ("capped",) if s == 5 else ())
    for s in REGRESSIONS:
        capped, newton = ("capped",) if s == 13 else (), ("newton",) if s == 11 else ()
        yield Line("train", f"-s {s} targets model", (*newton, *capped))
        yield Line("train", f"-s {s} -p 0.4 -c 0.3 -B 1 {TIGHT} -q targets model", capped)
        yield Line("train", f"-s {s} -v 3 targets", ("folds", "shuffle"))
    yield Line("train", f"-s 11 -B 1 -R {TIGHT} -q targets model")
    yield Line("train", "-s 21 positive model")
    yield Line("train", f"-s 21 -n 0.1 {TIGHT} positive model")
    yield Line("train", "-v 200 two", ("folds", "shuffle"))
    for words in (
        "-C two",
        "-C -s 0 -v 3 many",
        "-C -s 2 -q signs",
        "-C -c 0.5 two",
        "-C -s 11 -p 0.5 -c 4096 targets",
    ):
        yield Line("train", words, ("shuffle",))
    yield Line("train", "-C -s 1 two", ("search",))
    for words in (
        "-q two",
        "-w7 0.2 -w3 4 -q two model",
        "-w99 2 -q two model",
        "-q -B 0 two model",
        "-q signs /dev/null",
    ):
        yield Line("train", words)
    for words in ("-c 1x -q two model", "-e 1e-1y -q two model", "-s 1z -q two model", "-w1 x -q two model"):
        yield Line("train", words, ("strict number",))
    yield Line("train", "-w7 -1 -q two model", ("strict weight",))
    yield Line("train", "-q two model model2", ("operands",))
    wrong = (
        "",
        "-c 0 two",
        "-c -1 two",
        "-e 0 two",
        "-e -1 two",
        "-p -1 -s 11 targets",
        "-s 8 two",
        "-s 99 two",
        "-s 21 -B 1 positive",
    )
    refused = (
        "-R two",
        "-R -B 1 -s 1 two",
        "-v 1 two",
        "-v 0 two",
        "-x 1 two",
        "-s",
        "-C -s 21 positive",
    )
    missing = ("-q nosuchfile model", "-q two nosuchfolder/model", "-q two .")
    for words in (*wrong, *refused, *missing):
        yield Line("train", words)
    for data in ("letters", "zero", "twice", "no-label", "no-value", "negative-index"):
        yield Line("train", f"-q {data} model")
    yield Line("train", "-n 0 -s 21 positive", ("strict nu",))
    yield Line("train", "-q no-colon model", ("strict entry",))
    yield Line("train", "-q half model", ("strict label",))
    yield Line("train", "-q nan model", ("strict value",))
    yield Line("train", "-q unsorted model", ("lenient order",))
    yield Line("train", "-q blank model", ("lenient blank",))
    yield Line("train", "-q empty model", ("no rows",))


def predict_lines() -> Iterator[Line]:
    """Yield predictions with LIBLINEAR's models, which have the name of their data and type."""
    for s in CLASSIFIERS:
        for data in ("signs", "two", "many"):
            yield Line("predict", f"{data} {data}.{s} output")
    for s in (0, 7):
        yield Line("predict", f"-b 1 many many.{s} output")
        yield Line("predict", f"-b 1 signs signs.{s} output")
    for s in REGRESSIONS:
        yield Line("predict", f"targets targets.{s} output")
    for words in ("positive positive.21 output", "-q many many.1 output", "wide many.1 output", "many two.1 output"):
        yield Line("predict", words)
    yield Line("predict", "-b 0 two two.0 output")
    refused = ("-b 1 two two.1 output", "-x 1 two two.1 output", "", "two", "two two.1", "nosuchfile two.1 output")
    missing = ("two nosuchmodel output", "two two output", "two two.1 nosuchfolder/output", "letters two.1 output")
    for words in (*refused, *missing, "zero two.1 output", "twice two.1 output"):
        yield Line("predict", words)
    yield Line("predict", "no-colon two.1 output", ("strict entry",))
    yield Line("predict", "nan two.1 output", ("strict value",))
    yield Line("predict", "blank two.1 output", ("lenient blank",))
    yield Line("predict", "unsorted two.1 output", ("lenient order",))


def write_data(folder: Path) -> None:
    """Write the data: four kinds of labels, and files with one thing wrong."""
    rng = np.random.default_rng(0)
    n, d = 120, 12
    dense = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    dense[0, d - 1] = 1.0
    f = dense @ rng.normal(size=(d, 3)) + 0.5 * rng.normal(size=(n, 3))
    kinds = {
        "signs": (dense, np.where(f[:, 0] > 0.0, 1, -1)),
        "two": (dense, np.where(f[:, 0] > 0.0, 7, 3)),
        "many": (dense, np.array([5, -2, 9])[f.argmax(axis=1)]),
        "targets": (dense, f[:, 0].round(6)),
        "positive": (np.abs(dense), np.ones(n, dtype=int)),
        "wide": (np.hstack((dense, rng.normal(size=(n, 3)))), np.array([5, -2, 9])[f.argmax(axis=1)]),
    }
    for name, (X, y) in kinds.items():
        rows = (" ".join(f"{j + 1}:{row[j]:.6g}" for j in np.flatnonzero(row)) for row in X)
        (folder / name).write_text("".join(f"{label} {row}\n" for label, row in zip(y, rows, strict=True)))
    for name, text in {
        "letters": "7 1:1\n3 1:x\n",
        "no-colon": "7 1:1\n3 1\n3 2 3\n",
        "zero": "7 0:1\n3 1:1\n",
        "twice": "7 1:1 1:2\n3 1:1\n",
        "no-label": "7 1:1\n1:1 2:1\n",
        "no-value": "7 1:1\n3 1:\n",
        "negative-index": "7 -1:1\n3 1:1\n",
        "half": "7.5 1:1\n3 1:2\n",
        "nan": "7 1:nan\n3 1:1\n",
        "unsorted": "7 2:1 1:1\n3 1:1\n",
        "blank": "7 1:1\n\n3 1:2\n",
        "empty": "",
    }.items():
        (folder / name).write_text(text)


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
        return None  # what is left of an output file, and what stands on standard error, is our own
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
