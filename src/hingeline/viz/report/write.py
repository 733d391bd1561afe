"""From what is known to the page: the sections in order, filled into the template."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from os import PathLike
from string import Template
from typing import Any

import numpy as np

from hingeline import __version__
from hingeline.io.atomic import atomic_write
from hingeline.io.models.liblinear_file import LinearModel

from . import c_path, convergence, summary
from .features import features
from .markup import by_label, escape, json_block, name
from .outcome import outcome
from .source import Source, read_source

GIVEN = "given data"


def write_report(
    source: Any,
    path: str | PathLike[str],
    *,
    data: tuple[Any, Any] | None = None,
    data_name: str = GIVEN,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
) -> None:
    """Write one HTML file about what was trained, how it converged and how C was chosen; it needs no network.

    Parameters
    ----------
    source : fitted estimator, pipeline that ends in one, or path
        The path of a run folder (``hingeline train --run``), of a search folder (``hingeline search --out``), of a
        folder that is both, or of a model file (``hingeline.io.save_model``, or LIBLINEAR's).
    path : str or path
        Where to write. The file is written completely or not at all.
    data : tuple of X and y, optional
        Rows on which the model is evaluated (confusion matrix, or errors of a regression). A run folder already holds
        those of its training data.
    data_name : str
        The name of these rows on the page.
    feature_names : sequence of str, optional
        Names of the features, in order. Default: the names from a pipeline or a data frame, if there are any.
    title : str, optional
    """
    known = read_source(source) if isinstance(source, (str, PathLike)) else _fitted(source)
    if feature_names is not None:
        known = known.with_names([str(item) for item in feature_names])
    if data is not None:
        known = _evaluated(known, *data, data_name)
    text = render(known, title)
    with atomic_write(path) as file:
        file.write(text.encode("utf-8"))


def _fitted(estimator: Any) -> Source:
    from .fitted import of_estimator

    return of_estimator(estimator)


def _evaluated(known: Source, X: Any, y: Any, data_name: str) -> Source:
    """Return ``known`` with an evaluation on other rows."""
    if known.run is None or known.model is None:
        raise ValueError(f"{known.name} holds no model that could be evaluated on data.")
    if isinstance(known.model, LinearModel):
        evaluation = _outcome(known.model, X, np.asarray(y), data_name)
    else:
        from .fitted import evaluate

        evaluation = evaluate(known.model, X, y, data_name)
    return replace(known, run={**known.run, "evaluation": evaluation})


def _outcome(model: LinearModel, X: Any, y: np.ndarray, data_name: str) -> dict[str, Any]:
    from scipy import sparse

    from hingeline.liblinear.outcome import outcome as outcome_of

    rows = X if sparse.issparse(X) and X.format == "csr" else sparse.csr_matrix(X)
    if not rows.shape[0] or y.shape != (rows.shape[0],):
        raise ValueError(f"y has shape {y.shape}, but X has {rows.shape[0]} rows: pass one label per row.")
    return outcome_of(model, rows, y, data_name)


def render(known: Source, title: str | None = None) -> str:
    """Return the page."""
    run, search = known.run or {}, known.search
    problems = sorted(run.get("machines", []), key=lambda m: by_label(m["label"] or ""))
    convergence_figure, convergence_data = convergence.chart(problems)
    path_section, path_data = c_path.chart(search)
    sections = (
        convergence_figure,
        path_section,
        convergence.certificate(problems),
        outcome(run.get("evaluation")),
        features(known.weights),
        summary.data(run),
        summary.settings(run),
        summary.commands(run, search),
        summary.environment(run, search),
    )
    parts = [part for part in sections if part is not None]
    style, script = _resource("style.css"), _resource("charts.js")
    heading = title or summary.heading(run, search)
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )
    return Template(_resource("page.html")).substitute(
        policy=policy,
        title=escape(heading),
        style=style,
        script=script,
        heading=name(heading),
        subtitle=summary.subtitle(known),
        verdict=convergence.verdict(problems),
        glance=summary.glance(problems, run),
        contents="".join(f'<a href="#{part.identity}">{part.title}</a>' for part in parts),
        main="\n".join(part.html() for part in parts),
        data=json_block({"convergence": convergence_data, "path": path_data}),
        version=escape(__version__),
    )


def _resource(file: str) -> str:
    return (files(__package__) / file).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return what a content security policy calls the content of an element."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"
