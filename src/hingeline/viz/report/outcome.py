"""How rows come out: the confusion matrix of a classifier, the errors of a regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from .markup import NOTHING, Section, escape, facts, name, percent, table, value

MOST_CLASSES = 30  # with more, the matrix is not shown as a whole
MOST_PAIRS = 25  # of labels that are taken for one another, which are shown instead
LEVELS = 9  # of shading


def outcome(evaluation: dict[str, Any] | None) -> Section | None:
    """Return the section."""
    if evaluation is None:
        return None
    shares = {"accuracy"}
    figures = [
        (key, percent(figure) if key in shares and figure is not None else value(figure))
        for key, figure in evaluation["figures"].items()
    ]
    about = [("rows from", name(evaluation["data"])), ("rows", value(evaluation["rows"])), *figures]
    if evaluation["labels"] is None:
        return Section("outcome", "How the rows come out", facts(about))
    labels = evaluation["labels"]
    counts = np.array(evaluation["counts"], dtype=np.int64).reshape(-1, 3)
    hits = np.zeros(len(labels), dtype=np.int64)
    on_diagonal = counts[counts[:, 0] == counts[:, 1]]
    hits[on_diagonal[:, 0]] = on_diagonal[:, 2]
    true = np.bincount(counts[:, 0], counts[:, 2], len(labels))
    predicted = np.bincount(counts[:, 1], counts[:, 2], len(labels))
    present = true > 0
    about.append(("balanced accuracy", percent(float(np.mean(hits[present] / true[present])))))
    if len(labels) <= MOST_CLASSES:
        matrix = np.zeros((len(labels), len(labels)), dtype=np.int64)
        matrix[counts[:, 0], counts[:, 1]] = counts[:, 2]
        body = _matrix(labels, matrix, true, predicted, hits)
    else:
        body = _pairs(labels, counts, true)
    return Section("outcome", f"Confusion matrix, {escape(evaluation['data'])}", facts(about) + body)


def _matrix(labels: list[str], matrix: np.ndarray, true: np.ndarray, predicted: np.ndarray, hits: np.ndarray) -> str:
    rows = []
    for i, label in enumerate(labels):
        cells = [
            _cell(int(n), float(n / true[i]) if true[i] else 0.0, i == j, label, labels[j])
            for j, n in enumerate(matrix[i])
        ]
        recall = percent(float(hits[i] / true[i])) if true[i] else NOTHING
        rows.append(f'<tr><th scope="row">{name(label)}</th>{"".join(cells)}<td class="edge">{recall}</td></tr>')
    precision = "".join(
        f'<td class="edge">{percent(float(hit / n)) if n else NOTHING}</td>'
        for hit, n in zip(hits, predicted, strict=True)
    )
    head = "".join(f'<th scope="col">{name(label)}</th>' for label in labels)
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Confusion matrix"><table class="matrix">'
        "<caption>Rows: the true label. Columns: the predicted one.</caption>"
        f'<thead><tr><td></td>{head}<th scope="col" class="edge">recall</th></tr></thead><tbody>{"".join(rows)}'
        f'<tr><th scope="row" class="edge">precision</th>{precision}<td></td></tr></tbody></table></div>'
    )


def _cell(n: int, share: float, hit: bool, true: str, predicted: str) -> str:
    level = int(np.ceil(share * LEVELS)) if n else 0
    kind = f"{'hit' if hit else 'miss'}{level}" if level else "none"
    part = f"<small>{_in_few(100.0 * share)}\u202f%</small>" if n else ""
    return f'<td class="{kind}">{value(n)}{part}</td>'


def _in_few(x: float) -> str:
    return f"{x:.1f}" if x >= 0.1 else "&lt;0.1"


def _pairs(labels: list[str], counts: np.ndarray, true: np.ndarray) -> str:
    wrong = counts[counts[:, 0] != counts[:, 1]]
    wrong = wrong[np.argsort(-wrong[:, 2], kind="stable")][:MOST_PAIRS]
    rows = [
        (name(labels[i]), name(labels[j]), value(int(n)), percent(float(n / true[i]))) for i, j, n in wrong.tolist()
    ]
    head = ("true label", "taken for", "rows", "share of the label's rows")
    return table(f"The commonest confusions among {len(labels)} labels", head, rows, "numbers")
