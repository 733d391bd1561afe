"""Work that test_killed.py has killed: training, fitting, converting, searching."""

import argparse
import os
from dataclasses import dataclass

import numpy as np

import hingeline.cli.search
from hingeline import Checkpoint, LinearSVC, LinearSVR
from hingeline.cli import main
from hingeline.cli.train_options import parse_train
from hingeline.io import load_svmlight, open_dataset
from hingeline.io.models.native_file import read_native
from hingeline.io.records.run_folder import read_run
from hingeline.io.records.search_folder import has_search, read_search
from hingeline.liblinear.starts import open_checkpoint

EVERY = 0.005  # seconds between two saves
GAP = 1e-5


class Case:
    """A piece of work in the current folder, which is empty at first except for ``data``."""

    def run(self):
        """Do it, from the beginning or from where it was killed."""
        raise NotImplementedError

    def progress(self):
        """Check what a killed child has left; return how far it is, a number that never falls."""
        raise NotImplementedError

    def result(self):
        """Return the objective that the finished work reports, or something else that two runs have in common."""
        raise NotImplementedError

    files = ("data",)  # what finished work leaves
    saved_as = "state"

    def stamp(self):
        """Return something that changes whenever the work is saved."""
        try:
            return os.stat(self.saved_as).st_mtime_ns
        except FileNotFoundError:
            return None


@dataclass
class Train(Case):
    """``hingeline train`` of one of LIBLINEAR's types."""

    kind: int
    options: tuple[str, ...] = ("--solver", "hybrid")
    files = ("data", "run", "state")

    def words(self):
        saving = ["--checkpoint", "state", "--checkpoint-every", str(EVERY), "--run", "run"]
        return ["-q", "-s", str(self.kind), "--gap", str(GAP), *self.options, *saving, "data"]

    def run(self):
        assert main(["train", *self.words()]) == 0

    def progress(self):
        if not os.path.exists("state"):
            return -np.inf
        X, y = load_svmlight("data")
        open_checkpoint(
            "state", X, y, parse_train(argparse.ArgumentParser(), self.words()).settings
        )  # raises if it is not sound
        (variables,) = read_native("state")["reached"].values()
        return value_of(self.kind, X.toarray(), y, variables)

    def result(self):
        problems = read_run("run")["machines"]
        assert all(problem["converged"] and problem["gap"] <= GAP for problem in problems), problems
        return [problem["primal"] for problem in problems]


def value_of(kind, X, y, variables):
    """Return the dual value of what was reached, or minus the primal one if weights are the variables."""
    if kind == 4:
        labels = list(dict.fromkeys(y.tolist()))
        own = np.array([labels.index(label) for label in y])
        return -0.5 * np.sum((X.T @ variables) ** 2) + variables[np.arange(len(y)), own].sum()
    if kind == 21:
        return -0.5 * np.sum((X.T @ variables) ** 2)
    s = np.where(y == 1, 1.0, -1.0)
    if kind in (5, 6):
        m = s * (X @ variables[:-1])
        losses = np.maximum(1.0 - m, 0.0) ** 2 if kind == 5 else np.logaddexp(0.0, -m)
        return -np.abs(variables).sum() - losses.sum()
    w = X.T @ (variables * s)
    return variables.sum() - 0.5 * w @ w - (0.25 * variables @ variables if kind == 1 else 0.0)


@dataclass
class Fit(Case):
    """``fit`` of an estimator with a checkpoint."""

    estimator: object
    files = ("data", "result", "state")

    def run(self):
        X, y = load_svmlight("data")
        model = self.estimator.set_callbacks(Checkpoint("state", every=EVERY)).fit(X, y)
        assert model.converged_
        assert model.duality_gap_ <= GAP
        np.savetxt("result", model.per_class_["objective"])

    def progress(self):
        if not os.path.exists("state"):
            return -np.inf
        X, y = load_svmlight("data")
        rows = self.estimator._read(X, y, None)
        Checkpoint("state").open(self.estimator, rows)  # raises if it is not sound
        if self.estimator.solver != "hybrid":  # its dual value may fall on the way
            return 0.0
        reached = read_native("state")["reached"]
        return sum(value_of(3, X.toarray(), y == k, alpha) for k, alpha in reached.items())

    def result(self):
        return np.loadtxt("result", ndmin=1).tolist()


class Convert(Case):
    """``hingeline convert``, which starts afresh every time."""

    files = ("data", "set")
    saved_as = "."  # a hidden folder appears in it

    def run(self):
        assert main(["convert", "--force", "data", "set"]) == 0

    def progress(self):
        if os.path.exists("set"):
            open_dataset("set", verify=True)
        return 0.0

    def result(self):
        X, y = open_dataset("set", verify=True)
        return [*map(float, X.shape), float(X.nnz), float(X.sum()), float(y.sum())]


class Search(Case):
    """``hingeline search``."""

    files = ("data", "out")
    saved_as = "out/path.json"

    def run(self):
        hingeline.cli.search.can_plot = lambda *_: False
        words = ["-v", "3", "--n-c", "4", "--c-max", "10", "--loss", "hinge", "--solver", "hybrid", "--gap", str(GAP)]
        assert main(["search", *words, "--threads", "1", "--out", "out", "data"]) == 0

    def progress(self):
        if not (os.path.exists("out") and has_search("out")):
            return 0.0
        cells = read_search("out", to_resume=True)["cells"]
        return float(sum(score is not None for cell in cells for score in cell["scores"]))

    def result(self):
        found = read_search("out")
        assert found["finished"]
        assert sorted(os.listdir("out")) == ["path.csv", "path.json"]
        return [score for cell in found["cells"] for score in cell["scores"]]


def rows(n, d, labels, shift=0.0):
    """Return random rows and labels, the latter hard to learn."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)).round(3) + shift, rng.choice(labels, n)


CASES = {
    "train -s 1": (Train(1), rows(500, 15, [-1, 1])),
    "train -s 3": (Train(3), rows(200, 8, [-1, 1])),
    "train -s 4": (Train(4), rows(150, 10, [1, 2, 3])),
    "train -s 5": (Train(5), rows(1500, 200, [-1, 1])),
    "train -s 6": (Train(6), rows(1500, 200, [-1, 1])),
    "train -s 21": (Train(21, ("--solver", "avsf", "-n", "0.3")), rows(1500, 80, [1], 1.0)),
    "fit, several classes": (
        Fit(LinearSVC(loss="hinge", solver="hybrid", fit_intercept=False, gap_tol=GAP, random_state=0)),
        rows(200, 12, [0, 1, 2]),
    ),
    "fit, Newton": (Fit(LinearSVR(solver="newton", epsilon=0.1, gap_tol=GAP)), rows(10_000, 40, [0.0, 1.0, 2.0])),
    "convert": (Convert(), rows(8000, 40, [-1, 1])),
    "search": (Search(), rows(120, 8, [-1, 1])),
}
