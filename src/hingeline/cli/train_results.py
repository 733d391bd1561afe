"""What ``train`` says about a training that has ended: lines for people and scripts, JSON, and what is unfinished."""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hingeline.liblinear.search import Found
    from hingeline.liblinear.settings import Settings
    from hingeline.liblinear.training import Trained
    from hingeline.solution import Solution

MOST_LABELS_NAMED = 10


def print_summary(trained: Trained, out: Any) -> None:
    """Print LIBLINEAR's lines, and one of our own for each solution: how it was found, and how good it is."""
    from hingeline.liblinear.report_lines import report_lines

    print("\n".join(report_lines(trained)), file=out)
    for label, s in zip(labels_of(trained), trained.solutions, strict=True):
        name, c = "" if label is None else f"label {label}: ", s.certificate
        print(
            f"{name}{s.solver}, {s.n_iter} iterations, {s.n_steps} steps, {s.seconds:.3g} s, objective {c.primal:.6g}, "
            f"relative gap {c.gap:.1e}, violation {c.violation:.1e} ({s.stop_reason})",
            file=out,
        )


def print_json(content: dict[str, Any], out: Any) -> None:
    """Print one JSON object, on a line of its own."""
    print(json.dumps(content, allow_nan=False), file=out, flush=True)


def finite(value: Any) -> float | None:
    """Return a number as JSON can hold it: None if it is not finite."""
    return float(value) if isfinite(value) else None


def training_content(trained: Trained, settings: Settings, places: list[str], data: str) -> dict[str, Any]:
    """Return what was trained, for JSON."""
    from hingeline.liblinear.record import solution_record

    problems = [solution_record(s, label) for label, s in zip(labels_of(trained), trained.solutions, strict=True)]
    for problem in problems:
        del problem["history"]
    return {
        "data": data,
        "saved": places,
        "type": settings.type,
        "C": settings.C,
        "n_features": trained.model.n_features,
        "labels": None if trained.model.labels is None else list(trained.model.labels),
        "converged": all(s.converged for s in trained.solutions),
        "interrupted": any(s.stop_reason == "interrupted" for s in trained.solutions),
        "problems": problems,
    }


def search_content(data: str, tried: list[Found], best: Found, settings: Settings) -> dict[str, Any]:
    """Return the values of C that ``-C`` has tried, for JSON."""
    return {"data": data, "tried": [_found(each, settings) for each in tried], "best": _found(best, settings)}


def _found(found: Found, settings: Settings) -> dict[str, float]:
    if settings.solver_type.is_regression:
        return {"C": found.C, "p": found.p, "mean_squared_error": found.score}
    return {"C": found.C, "accuracy": found.score}


def labels_of(trained: Trained) -> list[str | None]:
    """Return the label of each solution; None if it is not the only one of its class."""
    labels = trained.model.labels
    if labels is None or len(trained.solutions) != len(labels):
        return [None] * len(trained.solutions)
    return [str(label) for label in labels]


def unfinished(trained: Trained) -> str:
    """Return which problems have not converged: not begun, or begun and ended early. Empty if all have."""
    early = [(label, s) for label, s in zip(labels_of(trained), trained.solutions, strict=True) if not s.converged]
    if not early:
        return ""
    if len(trained.solutions) == 1:
        gap = early[0][1].certificate.gap
        return f"training ended before it converged; the relative gap of {gap:.1e} shows how far it is from the optimum"
    untrained = [label for label, s in early if is_untrained(s)]
    parts = [
        f"{len(labels)} {what} ({_named(labels)})"
        for what, labels in (
            ("not converged", [label for label, s in early if not is_untrained(s)]),
            ("untrained", untrained),
        )
        if labels
    ]
    return f"of {len(trained.solutions)} classes, " + " and ".join(parts)


def is_untrained(s: Solution) -> bool:
    """Tell whether a solution has seen no sweep."""
    return not s.converged and s.n_iter == 0


def _named(labels: list[str | None]) -> str:
    shown = ", ".join(str(label) for label in labels[:MOST_LABELS_NAMED])
    more = len(labels) - MOST_LABELS_NAMED
    return f"label{'s' if len(labels) > 1 else ''} {shown}" + (f" and {more} more" if more > 0 else "")
