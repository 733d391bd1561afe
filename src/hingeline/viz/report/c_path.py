"""How C was chosen: score and seconds against C, as charts and as a table."""

from __future__ import annotations

from typing import Any

from .markup import Section, details, escape, facts, moment, name, short, table, value


def verdict(search: dict[str, Any]) -> str:
    """Return one sentence: which C is the best."""
    if search["best_C"] is None:
        return '<p class="verdict warn"><span>No C yet</span> The search has no result yet.</p>'
    best = next((cell for cell in search["cells"] if cell["C"] == search["best_C"]), None)
    text = f"Best C <strong>{value(search['best_C'])}</strong>"
    if best and best["mean"] is not None:
        text += f", mean {name(search['scoring'])} {value(best['mean'])}"
        text += f" \u00b1 {value(best['std_error'], 2)}" if best["std_error"] is not None else ""
    if search["one_se_C"] is not None:
        text += f"; smallest C within one standard error of it: <strong>{value(search['one_se_C'])}</strong>"
    kind, word = ("good", "Search finished") if search["finished"] else ("warn", "Search not finished")
    return f'<p class="verdict {kind}"><span>{word}</span> {text}.</p>'


def chart(search: dict[str, Any] | None) -> tuple[Section | None, dict[str, Any] | None]:
    """Return the section of the search, and what its charts are drawn from."""
    if search is None:
        return None, None
    cells = sorted(search["cells"], key=lambda cell: cell["C"])
    about = facts(
        [
            ("data", name(search["data"])),
            ("rows", value(search["n_samples"] or None)),
            ("features", value(search["n_features"])),
            ("loss", name(search["loss"].replace("_", " "))),
            ("engine asked for", name(search["solver"])),
            ("score", name(search["scoring"])),
            ("folds", value(search["folds"])),
            ("seed", value(search["seed"])),
            *((key, value(setting)) for key, setting in search["settings"].items() if setting is not None),
            *([("written", moment(search["created"]))] if search["created"] else []),
        ]
    )
    drawn = [
        {
            "C": cell["C"],
            "mean": cell["mean"],
            "error": cell["std_error"],
            "seconds": _sum(cell["seconds"]),
            "gap": _largest(cell["gaps"]),
            "folds": sum(score is not None for score in cell["scores"]),
        }
        for cell in cells
    ]
    content = {
        "cells": drawn,
        "best": search["best_C"],
        "one_se": search["one_se_C"],
        "scoring": search["scoring"],
    }
    summary = f"{len(cells)} values of C"
    if cells:
        summary += f" from {short(cells[0]['C'])} to {short(cells[-1]['C'])}"
    if search["best_C"] is not None:
        summary += f"; the best is {short(search['best_C'])}"
    figure = CHART.format(
        summary=escape(summary),
        scoring=escape(search["scoring"]),
        table=details("The values as a table", _table(cells)),
    )
    return Section("c-path", "Choosing C", verdict(search) + about + (figure if cells else "")), content


def _table(cells: list[dict[str, Any]]) -> str:
    rows = [
        (
            value(cell["C"]),
            value(cell["mean"]),
            value(cell["std_error"]),
            value(_sum(cell["seconds"])),
            value(_largest(cell["gaps"])),
            ", ".join(value(score) for score in cell["scores"]),
        )
        for cell in cells
    ]
    head = ("C", "mean score", "standard error", "seconds", "largest gap", "scores by fold")
    return table("Score and seconds of each C", head, rows, "numbers")


def _sum(values: list[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return float(sum(known)) if known else None


def _largest(values: list[float | None]) -> float | None:
    return max((v for v in values if v is not None), default=None)


CHART = """<figure class="chart" data-chart="c-path">
<form class="controls" aria-label="What the charts show">
<fieldset><legend>show</legend>
<label><input type="checkbox" name="score" checked><i class="key a"></i>score</label>
<label><input type="checkbox" name="seconds" checked><i class="key b"></i>seconds</label></fieldset>
<fieldset><legend>scale</legend><label><input type="checkbox" name="ylog" checked>log seconds</label></fieldset>
</form>
<div class="pair">
<div class="plot" data-part="score" tabindex="0" role="group" aria-roledescription="chart" aria-label="Mean {scoring} \
against C. {summary}. Arrow keys move from value to value."></div>
<div class="plot" data-part="seconds" tabindex="0" role="group" aria-roledescription="chart" aria-label="Seconds \
against C. {summary}. Arrow keys move from value to value."></div>
</div>
<p class="live" aria-live="polite"></p>
<figcaption>Bars are one standard error over the folds; seconds are those of all folds. Point at a value, or focus a
chart and use the arrow keys, to read it.</figcaption>
{table}
</figure>"""
