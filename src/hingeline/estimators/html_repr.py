"""The certificate in scikit-learn's HTML representation, alone and within pipelines.

scikit-learn draws a box for each estimator. A caption under its name says in one line how good the model is; if the box
is unfolded, a table follows the parameters. Both hooks are scikit-learn's own. A release that lacks one of them draws
its usual box.
"""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

COLUMNS = {
    "objective": "objective_",
    "relative gap": "duality_gap_",
    "converged": "converged_",
    "ended by": "stop_reason_",
    "sweeps": "n_iter_",
    "seconds": "fit_time_",
    "engine": "solver_",
}
MOST_ROWS = 30


class CertificateRepr:
    """Shows the certificate of a fitted estimator; one that is not fitted looks as scikit-learn's do."""

    def _sk_visual_block_(self) -> Any:
        """Return scikit-learn's description of the box (if this raises, it draws its usual one)."""
        try:
            from sklearn.utils._repr_html.estimator import _VisualBlock
        except ImportError:  # before scikit-learn 1.7
            from sklearn.utils._estimator_html_repr import _VisualBlock

        caption, text = (_caption(self), f"{self}\n\n{_text(self)}") if _certified(self) else (None, str(self))
        return _VisualBlock("single", self, names=type(self).__name__, name_details=text, name_caption=caption)

    def _get_params_html(self, *args: Any, **kwargs: Any) -> Any:
        """Return the parameters' table (scikit-learn 1.7 or newer), with the certificate below it."""
        params = super()._get_params_html(*args, **kwargs)  # type: ignore[misc]
        return _Below(params, _table(self)) if _certified(self) else params


class _Below:
    """A representation with something below it."""

    def __init__(self, above: Any, below: str) -> None:
        self._above, self._below = above, below

    def _repr_html_inner(self) -> str:
        return f"{self._above._repr_html_inner()}{self._below}"


def _certified(estimator: Any) -> bool:
    """Tell whether there is a certificate; a model from one of LIBLINEAR's files has none."""
    return all(hasattr(estimator, attribute) for attribute in COLUMNS.values())


def _rows(estimator: Any) -> list[tuple[str, list[str]]]:
    """Return a name and the values for each problem."""
    columns = [np.atleast_1d(getattr(estimator, attribute)) for attribute in COLUMNS.values()]
    count = columns[0].size
    names = [str(label) for label in estimator.classes_] if count > 1 else [""]
    return [
        (names[k], [_short(title, c[k].item()) for title, c in zip(COLUMNS, columns, strict=True)])
        for k in range(count)
    ]


def _short(title: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    digits = 7 if title == "objective" else 3
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def _caption(estimator: Any) -> str:
    converged, gaps = np.atleast_1d(estimator.converged_), np.atleast_1d(estimator.duality_gap_)
    seconds, engines = np.sum(estimator.fit_time_), sorted(set(np.atleast_1d(estimator.solver_).tolist()))
    word = "converged" if converged.all() else "not converged"
    if converged.size == 1:
        word += f", objective {float(np.ravel(estimator.objective_)[0]):.6g}"
    else:
        word = f"{np.count_nonzero(converged)} of {converged.size} problems converged"
    return f"{word}, relative gap {gaps.max():.1e}, {seconds:.3g} s, {', '.join(engines)}"


def _text(estimator: Any) -> str:
    """Return the certificate as plain text, for boxes that hold nothing else."""
    lines = []
    for name, values in _rows(estimator)[:MOST_ROWS]:
        text = ", ".join(f"{title} {value}" for title, value in zip(COLUMNS, values, strict=True))
        lines.append(f"{name}: {text}" if name else text)
    return "\n".join(lines)


def _table(estimator: Any) -> str:
    """Return the certificate as a table that looks like scikit-learn's own."""
    rows = _rows(estimator)
    head = "".join(f"<th>{title}</th>" for title in COLUMNS)
    several = len(rows) > 1
    body = "".join(
        "<tr>"
        + (f'<td class="param">{escape(name)}</td>' if several else "")
        + "".join(f'<td class="value">{escape(value)}</td>' for value in values)
        + "</tr>"
        for name, values in rows[:MOST_ROWS]
    )
    if len(rows) > MOST_ROWS:
        body += f'<tr><td colspan="{len(COLUMNS) + 1}">and {len(rows) - MOST_ROWS} more</td></tr>'
    return (
        '<div class="estimator-table"><details open><summary>Certificate</summary><table class="parameters-table">'
        f"<tbody><tr>{'<th>class</th>' if several else ''}{head}</tr>{body}</tbody></table></details></div>"
    )
