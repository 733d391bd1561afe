"""Command lines for LIBLINEAR's programs and hingeline's, valid and not, the data for them, and known differences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

TIGHT = "-e 1e-7"
CLASSIFIERS, REGRESSIONS = (0, 1, 2, 3, 4, 5, 6, 7), (11, 12, 13)

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
