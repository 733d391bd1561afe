"""How well a model predicts rows: which labels are confused, or how far off a regression is. In bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..io.csr import row_blocks, rows_between
from ..io.models.liblinear_file import LinearModel
from .evaluate import Tally, regression_figures
from .predict import decide, scores

BLOCK = 1 << 22  # non-zeros, and rows, that are predicted at a time
MOST_LABELS = 1000  # a larger table would be of no use


def outcome(model: LinearModel, X: Any, y: np.ndarray, name: str) -> dict[str, Any]:
    """Return the evaluation for the record of a run; the rows are in CSR form, and ``name`` describes them."""
    tally, pairs, inside = Tally(), Pairs(), 0
    task = model.solver_type.task
    for begin, end in row_blocks(X.indptr, BLOCK, BLOCK):
        predicted, truth = decide(model, scores(model, rows_between(X, begin, end))), y[begin:end]
        tally = tally.add(predicted, truth)
        if task == "one_class":
            inside += int(np.count_nonzero(predicted == 1))
        elif task != "regression":
            pairs.add(truth, predicted)
    base: dict[str, Any] = {"data": name, "rows": tally.rows, "labels": None, "counts": None}
    if task == "regression":
        return {**base, "figures": regression_figures(tally)}
    if task == "one_class":
        return {**base, "figures": {"rows inside": inside, "rows outside": tally.rows - inside}}
    return {**base, "figures": {"accuracy": tally.correct / tally.rows}, **pairs.counts()}


class Pairs:
    """Counts pairs of a true and a predicted label, block by block."""

    def __init__(self) -> None:
        self._counts: dict[tuple[Any, Any], int] | None = {}

    def add(self, truth: np.ndarray, predicted: np.ndarray) -> None:
        """Count more rows."""
        true_labels, rows = np.unique(truth, return_inverse=True)
        predicted_labels, columns = np.unique(predicted, return_inverse=True)
        if self._counts is None or true_labels.size > MOST_LABELS:
            self._counts = None
            return
        n = predicted_labels.size
        counts = np.bincount(rows.ravel() * n + columns.ravel(), minlength=true_labels.size * n)
        true_list, predicted_list = true_labels.tolist(), predicted_labels.tolist()
        for at in np.flatnonzero(counts).tolist():
            pair = (true_list[at // n], predicted_list[at % n])
            self._counts[pair] = self._counts.get(pair, 0) + int(counts[at])

    def counts(self) -> dict[str, Any]:
        """Return the labels in increasing order, and the counts that are not zero; nothing for too many labels."""
        labels = sorted({label for pair in self._counts or () for label in pair})
        if self._counts is None or len(labels) > MOST_LABELS:
            return {}
        place = {label: k for k, label in enumerate(labels)}
        counts = sorted([place[truth], place[predicted], n] for (truth, predicted), n in self._counts.items())
        return {"labels": list(map(label_text, labels)), "counts": counts}


def label_text(label: Any) -> str:
    """Return a label as it is shown: whole numbers without a point."""
    return f"{label:.17g}" if isinstance(label, float) else str(label)
