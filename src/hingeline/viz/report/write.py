"""From what is known to the page: the sections in their order, filled into the template."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any

from hingeline import __version__
from hingeline.io.atomic import atomic_write
from hingeline.io.model_file import LinearModel

from . import c_path, convergence
from .features import features
from .markup import Section, by_label, escape, facts, json_block, name, table, value
from .outcome import outcome
from .source import Source, read_source

GIVEN = "given data"
MOST_LABELS = 40


def write_report(
    source: Any,
    path: str | PathLike[str],
    *,
    data: tuple[Any, Any] | None = None,
    data_name: str = GIVEN,
    feature_names: Sequence[str] | None = None,
    title: str | None = None,
) -> None:
    """Write one HTML file that tells what was trained, how it converged and how C was chosen; it needs no network.

    Parameters
    ----------
    source : fitted estimator, pipeline that ends in one, or path
        Paths lead to a run folder (``hingeline train --run``), a search folder (``hingeline search --out``), a folder
        that is both, or a model file (``hingeline.io.save_model``, or LIBLINEAR's).
    path : str or path
        Where to write; as a whole or not at all.
    data : tuple of X and y, optional
        Rows on which the model is evaluated (confusion matrix, or errors of a regression). A run folder already holds
        those of its training data.
    data_name : str
        What they are called on the page.
    feature_names : sequence of str, optional
        Names of the features, in their order; else those that a pipeline or a data frame gave.
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
    """Return the same with an evaluation on other rows."""
    if known.run is None or known.model is None:
        raise ValueError(f"{known.name} holds no model that could be evaluated on data.")
    if isinstance(known.model, LinearModel):
        from scipy import sparse

        from hingeline.liblinear.outcome import outcome as outcome_of

        evaluation = outcome_of(known.model, X if sparse.issparse(X) else sparse.csr_matrix(X), y, data_name)
    else:
        from .fitted import evaluate

        evaluation = evaluate(known.model, X, y, data_name)
    return replace(known, run={**known.run, "evaluation": evaluation})


def render(known: Source, title: str | None = None) -> str:
    """Return the page."""
    run, search = known.run or {}, known.search
    machines = sorted(run.get("machines", []), key=lambda m: by_label(m["label"] or ""))
    convergence_figure, convergence_data = convergence.chart(machines)
    path_section, path_data = c_path.chart(search)
    sections = (
        convergence_figure,
        path_section,
        convergence.certificate(machines),
        outcome(run.get("evaluation")),
        features(known.weights),
        _data(run),
        _settings(run),
        _command(run, search),
        _environment(run),
    )
    parts = [part for part in sections if part is not None]
    style, script = _resource("style.css"), _resource("charts.js")
    heading = title or _heading(run)
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'; form-action 'none'"
    )
    return Template(_resource("page.html")).substitute(
        policy=policy,
        title=escape(heading),
        style=style,
        script=script,
        heading=name(heading),
        subtitle=_subtitle(known),
        verdict=convergence.verdict(machines) or (c_path.verdict(search) if search else ""),
        glance=_glance(machines, run),
        contents="".join(f'<a href="#{part.identity}">{part.title}</a>' for part in parts),
        main="\n".join(part.html() for part in parts),
        data=json_block({"convergence": convergence_data, "path": path_data}),
        version=escape(__version__),
    )


def _heading(run: dict[str, Any]) -> str:
    words = run.get("title") or "Choosing C"
    C = run.get("settings", {}).get("C")
    return f"{words[:1].upper()}{words[1:]}" + (f", C = {C:g}" if isinstance(C, (int, float)) else "")


def _resource(file: str) -> str:
    return (files(__package__) / file).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return what a content security policy calls the content of an element."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


def _subtitle(known: Source) -> str:
    run, search = known.run, known.search
    data = (run or {}).get("data") or {}
    parts = [name(Path(data.get("name") or (search or {}).get("data") or known.name).name or known.name)]
    if data.get("rows") is not None:
        parts.append(f"{value(data['rows'])} rows, {value(data['columns'])} features")
    if run and run["created"]:
        parts.append(f"<time>{escape(run['created'].replace('T', ' ').replace('+00:00', ' UTC'))}</time>")
    return " \u00b7 ".join(parts)


def _glance(machines: list[dict[str, Any]], run: dict[str, Any]) -> str:
    cards = convergence.glance(machines)
    figures = (run.get("evaluation") or {}).get("figures", {})
    cards += [(key, f"{100.0 * figure:.4g}\u202f%") for key, figure in figures.items() if key == "accuracy"]
    items = "".join(f"<div><dt>{escape(key)}</dt><dd>{markup}</dd></div>" for key, markup in cards)
    return f'<dl class="glance">{items}</dl>' if cards else ""


def _data(run: dict[str, Any]) -> Section | None:
    data = run.get("data")
    if data is None:
        return None
    rows, columns, nonzeros = data["rows"], data["columns"], data["nonzeros"]
    told = [("from", name(data["name"]))] if data["name"] else []
    told += (
        [("rows", value(rows)), ("features", value(columns))] if rows is not None else [("features", value(columns))]
    )
    if nonzeros is not None and rows:
        told += [("non-zeros", value(nonzeros)), ("non-zeros in a row", value(nonzeros / rows))]
        told += [("density", value(nonzeros / (rows * max(columns, 1))))]
        told += [("shortest row", value(data["shortest_row"])), ("longest row", value(data["longest_row"]))]
    told += [("values", name(data["values"]))] if data["values"] else []
    told += [(f"{key} target", value(target)) for key, target in (data["targets"] or {}).items()]
    content = facts(told)
    if data["labels"]:
        labels = sorted(data["labels"], key=lambda item: -item["rows"])
        total = sum(item["rows"] for item in labels) or 1
        shown = [(name(i["label"]), value(i["rows"]), f"{100.0 * i['rows'] / total:.3g}\u202f%") for i in labels]
        content += table("Labels", ("label", "rows", "share"), shown[:MOST_LABELS], "numbers")
        if len(shown) > MOST_LABELS:
            content += f"<p>The commonest {MOST_LABELS} of {len(shown)} labels are shown.</p>"
    return Section("data", "Data", content)


def _settings(run: dict[str, Any]) -> Section | None:
    settings = run.get("settings")
    return (
        Section("settings", "Settings", facts((key, value(item)) for key, item in settings.items()))
        if settings
        else None
    )


def _command(run: dict[str, Any], search: dict[str, Any] | None) -> Section | None:
    """Return the commands, which are never cut short: they are to be run."""
    commands = [c for c in (run.get("command"), (search or {}).get("command")) if c]
    if not commands:
        return None
    blocks = "".join(
        f'<div class="command"><pre tabindex="0"><code>{escape(command, None)}</code></pre>'
        '<button type="button" class="copy" hidden>Copy</button></div>'
        for command in dict.fromkeys(commands)
    )
    return Section("reproduce", "Do it again", blocks)


def _environment(run: dict[str, Any]) -> Section | None:
    versions = run.get("environment")
    return (
        Section("environment", "Environment", facts((k, value(v)) for k, v in versions.items())) if versions else None
    )
