"""Spark MLlib's LinearSVC on two threads of this machine, behind the contract of ``solvers``.

Spark minimises (1/n) sum_i hinge + (regParam/2) |w|^2, which is the same problem for regParam = 1/(n C). It has no
stop rule that says how far the optimum is: the rungs of its ladder are numbers of iterations.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np

from ..io.text.dump import dump_svmlight
from .solvers import Solver, Unsupported
from .task import Task

MASTER = "local[2]"
FEWEST, GROWTH, N_RUNGS = 5, 1.5, 19  # iterations of the first rung, and how they grow: up to about 7,000
NEVER = 1e-12  # Spark's own tolerance: iterations end training


class Spark(Solver):
    """Spark MLlib's LinearSVC (PyPI: pyspark; needs Java): OWL-QN on cached rows. A tolerance t is 1/t iterations."""

    package = "pyspark"
    losses = ("hinge",)
    _session: ClassVar[Any] = None
    rows: Any = None

    def prepare(self, task: Task) -> None:
        """Read the rows into Spark's memory; the labels are in them, so each class is read anew."""
        self.task = task
        session = self._started()
        X = task.full_X()
        with TemporaryDirectory(prefix="hingeline-spark-") as folder:
            path = Path(folder) / "rows.svm"
            dump_svmlight(X, (task.y > 0.0).astype(np.int64), path)
            if self.rows is not None:
                self.rows.unpersist()
            read = session.read.format("libsvm").option("numFeatures", str(X.shape[1]))
            self.rows = read.load(str(path)).repartition(2).cache()
            self.rows.count()

    def _started(self) -> Any:
        if Spark._session is None:
            if shutil.which("java") is None:
                raise Unsupported("needs Java")
            from pyspark.sql import SparkSession

            how = {
                "spark.ui.enabled": "false",
                "spark.driver.memory": "8g",
                "spark.driver.bindAddress": "127.0.0.1",
                "spark.driver.host": "127.0.0.1",  # large results are fetched from there
            }
            builder = SparkSession.builder.master(MASTER).appName("hingeline bench")
            Spark._session = builder.config(map=how).getOrCreate()
            Spark._session.sparkContext.setLogLevel("ERROR")
        return Spark._session

    def run(self, tolerance: float, max_time: float, seed: int) -> None:
        """Fit the estimator."""
        from pyspark.ml.classification import LinearSVC

        n = self.task.y.size
        self.model = LinearSVC(
            regParam=1.0 / (n * self.task.C),
            maxIter=round(1.0 / tolerance),
            tol=NEVER,
            fitIntercept=False,
            standardization=False,
        ).fit(self.rows)

    def weights(self) -> np.ndarray:
        """Return w of the last run."""
        return np.asarray(self.model.coefficients.toArray())

    def ladder(self, targets: Sequence[float]) -> tuple[float, ...]:
        """Return the reciprocals of the numbers of iterations to try."""
        return tuple(1.0 / round(FEWEST * GROWTH**k) for k in range(N_RUNGS))
