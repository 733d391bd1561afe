"""The certificate in scikit-learn's HTML representation, alone and within pipelines.

scikit-learn draws a box for each estimator. A caption under its name says in one line how good the model is; if the box
is unfolded, a table follows the parameters. Both hooks are scikit-learn's own. A release that lacks one of them draws
its usual box.
"""

from __future__ import annotations

from typing import Any

from .per_class import MOST_ROWS, SHOWN


class CertificateRepr:
    """Shows the certificate of a fitted estimator; one that is not fitted looks like scikit-learn's."""

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
    return hasattr(estimator, "per_class_")


def _caption(estimator: Any) -> str:
    converged = estimator.per_class_["converged"]
    word = "converged" if estimator.converged_ else f"\u26a0 not converged ({estimator.stop_reason_})"
    if converged.size == 1:
        word += f", objective {estimator.objective_:.6g}"
    else:
        mark = "" if estimator.converged_ else "\u26a0 "
        word = f"{mark}{int(converged.sum())} of {converged.size} problems converged"
    if hasattr(estimator, "C_"):  # the choice of a search
        word = f"C = {estimator.C_:.4g}: {word}"
    engines = ", ".join(sorted(set(estimator.per_class_["solver"].tolist())))
    return f"{word}, relative gap {estimator.duality_gap_:.1e}, {estimator.fit_time_:.3g} s, {engines}"


def _text(estimator: Any) -> str:
    """Return the certificate as plain text, for boxes that hold nothing else."""
    lines, rows = [], estimator.per_class_.shown()
    for label, values in rows[:MOST_ROWS]:
        text = ", ".join(f"{title} {value}" for title, value in zip(SHOWN, values, strict=True))
        lines.append(f"{label}: {text}" if len(rows) > 1 else text)
    return "\n".join(lines)


def _table(estimator: Any) -> str:
    """Return the certificate as a table that looks like scikit-learn's own."""
    return (
        '<div class="estimator-table"><details open><summary>Certificate</summary>'
        f"{estimator.per_class_._repr_html_()}</details></div>"
    )
