"""What surrounds the charts: heading, figures at a glance, data, settings, command and environment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import convergence
from .markup import Section, escape, facts, moment, name, table, value
from .source import Source

MOST_LABELS = 40
TRAINING, GIVEN = "training data", "given data"  # names of rows on which a model is evaluated


def heading(run: dict[str, Any], search: dict[str, Any] | None) -> str:
    """Return the title of the page."""
    words = run.get("title") or f"search over C, {(search or {}).get('loss', '').replace('_', ' ')}"
    C = run.get("settings", {}).get("C")
    return f"{words[:1].upper()}{words[1:]}" + (f", C = {C:g}" if isinstance(C, (int, float)) else "")


def subtitle(known: Source) -> str:
    """Return the data and the date of the run."""
    run, search = known.run, known.search
    data = (run or {}).get("data") or {}
    parts = [name(Path(data.get("name") or (search or {}).get("data") or known.name).name or known.name)]
    if data.get("rows") is not None:
        parts.append(f"{value(data['rows'])} rows, {value(data['columns'])} features")
    elif search and search["n_samples"]:
        parts.append(f"{value(search['n_samples'])} rows, {value(search['n_features'])} features")
    created = (run or search or {}).get("created")
    if created:
        parts.append(moment(created))
    return " \u00b7 ".join(parts)


def glance(problems: list[dict[str, Any]], run: dict[str, Any]) -> str:
    """Return the figures at the head of the page."""
    cards = convergence.glance(problems, run.get("seconds"))
    figures = (run.get("evaluation") or {}).get("figures", {})
    rows = str((run.get("evaluation") or {}).get("data", ""))
    where = rows if rows in (TRAINING, GIVEN) else "the given data"
    cards += [
        (f"{key} on {where}", f"{100.0 * figure:.4g}\u202f%") for key, figure in figures.items() if key == "accuracy"
    ]
    items = "".join(f"<div><dt>{escape(key)}</dt><dd>{markup}</dd></div>" for key, markup in cards)
    return f'<dl class="glance">{items}</dl>' if cards else ""


def data(run: dict[str, Any]) -> Section | None:
    """Return the section of the training data."""
    known = run.get("data")
    if known is None:
        return None
    rows, columns, nonzeros = known["rows"], known["columns"], known["nonzeros"]
    about = [("from", name(known["name"]))] if known["name"] else []
    about += [("rows", value(rows))] if rows is not None else []
    about += [("features", value(columns))]
    if nonzeros is not None and rows:
        about += [("non-zeros", value(nonzeros)), ("non-zeros in a row", value(nonzeros / rows))]
        about += [("density", value(nonzeros / (rows * max(columns, 1))))]
        about += [("shortest row", value(known["shortest_row"])), ("longest row", value(known["longest_row"]))]
    about += [("values", name(known["values"]))] if known["values"] else []
    about += [(f"{key} target", value(target)) for key, target in (known["targets"] or {}).items()]
    content = facts(about)
    if known["labels"]:
        labels = sorted(known["labels"], key=lambda item: -item["rows"])
        total = sum(item["rows"] for item in labels) or 1
        shown = [(name(i["label"]), value(i["rows"]), f"{100.0 * i['rows'] / total:.3g}\u202f%") for i in labels]
        content += table("Labels", ("label", "rows", "share"), shown[:MOST_LABELS], "numbers")
        if len(shown) > MOST_LABELS:
            content += f"<p>The commonest {MOST_LABELS} of {len(shown)} labels are shown.</p>"
    return Section("data", "Data", content)


def settings(run: dict[str, Any]) -> Section | None:
    """Return the section of the settings."""
    known = run.get("settings")
    return Section("settings", "Settings", facts((k, value(v)) for k, v in known.items())) if known else None


def commands(run: dict[str, Any], search: dict[str, Any] | None) -> Section | None:
    """Return the section of the commands, which are never cut short, so that they can be run."""
    known = [c for c in (run.get("command"), (search or {}).get("command")) if c]
    if not known:
        return None
    blocks = "".join(
        f'<div class="command"><pre tabindex="0"><code>{escape(command, None)}</code></pre>'
        '<button type="button" class="copy" hidden>Copy</button></div>'
        for command in dict.fromkeys(known)
    )
    return Section("reproduce", "Do it again", blocks)


def environment(run: dict[str, Any], search: dict[str, Any] | None) -> Section | None:
    """Return the section of versions and hardware."""
    known = run.get("environment") or (search or {}).get("environment")
    return Section("environment", "Environment", facts((k, value(v)) for k, v in known.items())) if known else None
