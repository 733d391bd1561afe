"""How training went: certificates, and the history of each problem as a chart and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .markup import Section, details, escape, name, short, table, value

LARGE_GAP = 1e-2  # relative; above it even a model that has converged gets no green
TO_BE_CLOSER = "For a better model, set the gap itself (<code>--gap 1e-3</code>, <code>gap_tol=1e-3</code>)."
TO_GO_ON = "Allow more time or iterations, loosen the tolerance, or scale the features."
MOST_POINTS = 12_000  # in the whole chart
MOST_PROBLEMS = 200  # in the chart: those with the largest gaps
MOST_LINES = 60  # of the table of a problem
COLUMNS = ("seconds", "steps", "objective", "lower_bound", "gap", "violation")


def verdict(problems: Sequence[dict[str, Any]]) -> str:
    """Return one sentence: how good the model is, and what to do if it is not."""
    if not problems:
        return ""
    gap = max((m["gap"] for m in problems if m["gap"] is not None), default=None)
    distance = f"within a relative gap of <strong>{value(gap)}</strong> of the optimum" if gap is not None else ""
    open_ones = [m for m in problems if not m["converged"]]
    which = "" if len(problems) == 1 else f" ({len(problems) - len(open_ones)} of {len(problems)} problems)"
    if open_ones:
        reasons = ", ".join(sorted({escape(m["stop_reason"]) for m in open_ones}))
        return (
            f'<p class="verdict warn"><span>Not converged{which}</span> Training was ended by {reasons}; the objective '
            f"is certified {distance}. {TO_GO_ON}</p>"
        )
    if gap is not None and gap > LARGE_GAP:
        return (
            f'<p class="verdict warn"><span>Converged{which}, with a large gap</span> The tolerance was met, but the '
            f"objective is only certified {distance}. {TO_BE_CLOSER}</p>"
        )
    return f'<p class="verdict good"><span>Converged{which}</span> The objective is certified {distance}.</p>'


def glance(problems: Sequence[dict[str, Any]], wall: float | None) -> list[tuple[str, str]]:
    """Return the figures at the head of the page; ``wall`` is what training took, if that is known."""
    if not problems:
        return []
    one = problems[0] if len(problems) == 1 else None
    seconds, iterations = sum(m["seconds"] for m in problems), sum(m["n_iter"] for m in problems)
    gaps = [m["gap"] for m in problems if m["gap"] is not None]
    cards = [("objective", value(one["primal"]))] if one else [("problems", value(len(problems)))]
    cards.append(("relative gap" if one else "largest relative gap", value(max(gaps, default=None))))
    known = wall is not None or one is not None
    cards.append(("training seconds" if known else "seconds, all classes", value(seconds if wall is None else wall)))
    cards.append(("iterations", value(iterations)))
    cards.append(("engine", ", ".join(sorted({name(_spaced(m["solver"])) for m in problems}))))
    return cards


def _spaced(solver: str) -> str:
    """Return the engines so that a line can end between them."""
    return solver.replace("+", " + ")


def certificate(problems: Sequence[dict[str, Any]]) -> Section | None:
    """Return the section of the certificates."""
    if not problems:
        return None
    head = (
        *("class", "objective", "lower bound", "relative gap", "violation", "converged", "ended by"),
        *("engine", "iterations", "steps", "support", "seconds"),
    )
    rows = [
        (
            title(m, k, len(problems)),
            *(value(m[key], 9 if len(problems) == 1 else 7) for key in ("primal", "dual")),
            *(value(m[key], 3) for key in ("gap", "violation")),
            f'<span class="{"good" if m["converged"] else "warn"}">{value(m["converged"])}</span>',
            value(m["stop_reason"]),
            name(_spaced(m["solver"])),
            *(value(m[key], 3) for key in ("n_iter", "n_steps", "n_support", "seconds")),
        )
        for k, m in enumerate(problems)
    ]
    text = (
        "<p>The objective is exact at the returned weights, and no weights have one below the lower bound: the optimum "
        "lies between the two. The violation is the largest of the optimality conditions.</p>"
    )
    if len(problems) == 1:
        cells = [(key, cell) for key, cell in zip(head[1:], rows[0][1:], strict=True)]
        body = "".join(f"<div><dt>{key}</dt><dd>{cell}</dd></div>" for key, cell in cells)
        return Section("certificate", "Certificate", f'{text}<dl class="facts">{body}</dl>')
    return Section("certificate", "Certificate", text + table("Certificate of each class", head, rows, "numbers dense"))


def title(problem: dict[str, Any], k: int, count: int) -> str:
    """Return what a problem is called."""
    if problem["label"] is not None:
        return name(problem["label"])
    return "all rows" if count == 1 else str(k + 1)


def chart(problems: Sequence[dict[str, Any]]) -> tuple[Section | None, dict[str, Any] | None]:
    """Return the section of the convergence chart, and what it is drawn from."""
    drawn = [m for m in problems if m["history"]["seconds"]]
    drawn = sorted(drawn, key=lambda m: -(m["gap"] or 0.0))[:MOST_PROBLEMS] if len(drawn) > MOST_PROBLEMS else drawn
    if not drawn:
        return None, None
    share = max(60, MOST_POINTS // len(drawn))
    lines = []
    for k, m in enumerate(drawn):
        kept = thinned(len(m["history"]["seconds"]), share)
        columns = {column: [m["history"][column][i] for i in kept] for column in (*COLUMNS, "phase")}
        label = m["label"] if m["label"] is not None else "" if len(drawn) == 1 else str(k + 1)
        sweeps = [m["history"]["sweep"][i] for i in kept]
        lines.append({"name": label, "engines": m["solver"].split("+"), "sweeps": sweeps, **columns})
    note = f"<p>Shown are the {len(drawn)} problems with the largest gaps.</p>" if len(drawn) < len(problems) else ""
    figure = CHART.format(
        problems=_chooser(drawn) if len(drawn) > 1 else "", summary=_summary(drawn), note=note, table=_tables(drawn)
    )
    return Section("convergence", "Convergence", figure), {"problems": lines}


def thinned(count: int, most: int) -> list[int]:
    """Return evenly spaced places, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(k * (count - 1) / (most - 1)) for k in range(most)})


def _chooser(problems: Sequence[dict[str, Any]]) -> str:
    options = "".join(f'<option value="{k}">{title(m, k, 2)}</option>' for k, m in enumerate(problems))
    options = options.replace("<bdi>", "").replace("</bdi>", "")  # an option holds text alone
    return f'<label class="choice">class <select name="problem"><option value="">all</option>{options}</select></label>'


def _summary(problems: Sequence[dict[str, Any]]) -> str:
    """Return in words what the chart shows, for those who do not see it."""
    first = [m["history"]["violation"][0] for m in problems if m["history"]["violation"][0] is not None]
    last = [m["history"]["violation"][-1] for m in problems if m["history"]["violation"][-1] is not None]
    seconds = max(m["history"]["seconds"][-1] for m in problems)
    if not (first and last):
        return f"Training over {short(seconds)} seconds."
    return f"Largest violation from {short(max(first))} down to {short(max(last))} over {short(seconds)} seconds."


def _tables(problems: Sequence[dict[str, Any]]) -> str:
    tables = []
    for k, m in enumerate(problems):
        history = m["history"]
        rows = [
            (str(history["sweep"][i]), *(value(history[column][i]) for column in COLUMNS))
            for i in thinned(len(history["seconds"]), MOST_LINES)
        ]
        caption = "History" if len(problems) == 1 else f"History of class {m['label'] or k + 1}"
        head = ("sweep", *(column.replace("_", " ") for column in COLUMNS))
        tables.append(table(caption, head, rows, "numbers"))
        if len(tables) * MOST_LINES >= MOST_POINTS // 4:
            break
    return details("The values as a table", "".join(tables))


CHART = """<figure class="chart" data-chart="convergence">
<form class="controls" aria-label="What the charts show">
<fieldset><legend>show</legend>
<label><input type="checkbox" name="bounds" checked><i class="key a"></i>objective,
<i class="key a dashed"></i>lower bound</label>
<label><input type="checkbox" name="gap" checked><i class="key b"></i>relative gap</label>
<label><input type="checkbox" name="violation"><i class="key c"></i>violation</label></fieldset>
<fieldset><legend>against</legend>
<label><input type="radio" name="x" value="seconds" checked>seconds</label>
<label><input type="radio" name="x" value="steps">steps</label>
<label><input type="radio" name="x" value="sweeps">iterations</label></fieldset>
<fieldset><legend>scale</legend>
<label><input type="checkbox" name="ylog" checked>log</label>
<label><input type="checkbox" name="xlog">log time</label></fieldset>
{problems}
</form>
<div class="pair">
<div class="plot" data-part="bounds" tabindex="0" role="group" aria-roledescription="chart" aria-label="Objective and \
lower bound. {summary} Arrow keys move from value to value."></div>
<div class="plot" data-part="distance" tabindex="0" role="group" aria-roledescription="chart" aria-label="Convergence. \
{summary} Arrow keys move from value to value."></div>
</div>
<p class="live" aria-live="polite"></p>
<figcaption>The best objective and lower bound so far: the optimum lies between them. Sweeps estimate the objective;
the last value is exact. Point at a line, or focus a chart and use the arrow keys, to read values. {note}</figcaption>
{table}
</figure>"""
