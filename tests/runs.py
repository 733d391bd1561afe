"""Runs and searches for tests of reports."""

from __future__ import annotations

import json

from svmlight_files import make_rows, write_rows

from hingeline.cli import main


def make_run(folder, kind="signs", *words):
    """Train on rows of a kind with ``--run``, and return the run folder."""
    folder.mkdir(parents=True, exist_ok=True)
    data = write_rows(folder / f"{kind}.svm", *make_rows(kind))
    assert main(["train", "-q", *words, "--run", str(folder / "run"), data]) == 0
    return folder / "run"


def make_search(folder, **changes):
    """Write what ``hingeline search`` leaves, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    means, errors = [0.7, 0.8125, 0.8, None], [0.03, 0.02, 0.025, None]
    cells = [
        {
            "C": 10.0**k,
            "scores": [None, None] if mean is None else [mean - 0.01, mean + 0.01],
            "seconds": [0.01 * 3**k, None if mean is None else 0.02 * 3**k],
            "gaps": [1e-5, None],
            "mean": mean,
            "std_error": error,
        }
        for k, (mean, error) in enumerate(zip(means, errors, strict=True), -1)
    ]
    document = {
        "format": "hingeline search",
        "version": 1,
        "command": "hingeline search -v 2 --out found rows",
        "data": "rows",
        "n_samples": 80,
        "n_features": 12,
        "loss": "hinge",
        "solver": "auto",
        "scoring": "accuracy",
        "folds": 2,
        "seed": 0,
        "cells": cells,
        "best_C": 1.0,
        "one_se_C": 10.0,
        "finished": True,
    }
    (folder / "path.json").write_text(json.dumps(document | changes))
    return folder


def change(path, edit):
    """Change a JSON file by a function of its document."""
    document = json.loads(path.read_text())
    edit(document)
    path.write_text(json.dumps(document))
