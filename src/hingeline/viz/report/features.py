"""The features with the largest weights, class by class."""

from __future__ import annotations

import numpy as np

from .markup import Section, by_label, details, facts, name, value
from .source import Weights

MOST_FEATURES = 12  # on each side
MOST_OUTPUTS = 60


def features(weights: Weights | None) -> Section | None:
    """Return the section."""
    if weights is None or not weights.coef.size:
        return None
    coef = weights.coef
    about = [("features", value(coef.shape[1])), ("weights that are not zero", value(int(np.count_nonzero(coef))))]
    if coef.shape[0] == 1:
        about.append(("length of w", value(float(np.linalg.norm(coef)))))
        parts = facts(about) + _output(weights, 0)
    else:
        order = sorted(range(coef.shape[0]), key=lambda k: by_label(weights.labels[k]))
        parts = facts(about) + "".join(
            details(f"class {name(weights.labels[k])}", _output(weights, k), "fold", opened=place == 0)
            for place, k in enumerate(order[:MOST_OUTPUTS])
        )
        if coef.shape[0] > MOST_OUTPUTS:
            parts += f"<p>The first {MOST_OUTPUTS} of {coef.shape[0]} classes are shown.</p>"
    return Section("features", "Features that weigh most", parts)


def top(w: np.ndarray, most: int = MOST_FEATURES) -> tuple[np.ndarray, np.ndarray]:
    """Return the features with the largest weights, and those with the smallest, each in order; zeros are left out."""
    most = min(most, w.size)
    chosen = np.argpartition(-w, most - 1)[:most]
    up = chosen[np.argsort(-w[chosen], kind="stable")]
    chosen = np.argpartition(w, most - 1)[:most]
    down = chosen[np.argsort(w[chosen], kind="stable")]
    return up[w[up] > 0.0], down[w[down] < 0.0]


def _output(weights: Weights, k: int) -> str:
    w, label = weights.coef[k], weights.labels[k]
    up, down = top(w)
    largest = float(np.abs(w).max(initial=0.0)) or 1.0
    if label:
        other = f"for {name(weights.against)}" if weights.against is not None else f"against {name(label)}"
        titles = (f"speak for {name(label)}", f"speak {other}")
    else:
        titles = ("raise the value", "lower the value")
    sides = zip(titles, (up, down), ("a", "b"), strict=True)
    return f'<div class="pair">{"".join(_side(weights, w, largest, *side) for side in sides)}</div>'


def _side(weights: Weights, w: np.ndarray, largest: float, title: str, chosen: np.ndarray, kind: str) -> str:
    rows = "".join(
        f'<tr><th scope="row">{name(weights.name(j))}</th><td class="bar"><svg class="bar {kind}" viewBox="0 0 100 10" '
        f'preserveAspectRatio="none" aria-hidden="true"><rect width="{100.0 * abs(w[j]) / largest:.4g}" height="10"/>'
        f"</svg></td><td>{value(float(w[j]), 4)}</td></tr>"
        for j in chosen.tolist()
    )
    rows = rows or '<tr><td colspan="3">none</td></tr>'
    return f'<table class="weights"><caption>{title}</caption><tbody>{rows}</tbody></table>'


def read_names(path: str) -> list[str]:
    """Return the names in a file, one per line."""
    with open(path, encoding="utf-8", errors="replace", newline=None) as file:
        names = [line.rstrip("\n") for line in file]
    if not names:
        raise ValueError(f"{path} holds no names: write one per line.")
    return names
