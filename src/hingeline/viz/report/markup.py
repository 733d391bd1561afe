"""Small pieces of HTML. Every text that comes from outside goes through ``escape``; numbers keep all their digits."""

from __future__ import annotations

import html
import json
import unicodedata
from collections.abc import Iterable, Sequence
from math import inf
from typing import Any, NamedTuple

LONGEST = 300  # characters of a name that are shown
NOTHING = "\u2013"


def escape(text: Any, most: int | None = LONGEST) -> str:
    """Return text that is safe within an element and within quotes; at most ``most`` characters of it."""
    text = str(text)
    if most is not None and len(text) > most:
        text = f"{text[: most - 1]}\u2026"
    return html.escape(visible(text), quote=True)


def visible(text: str) -> str:
    """Return text in which control characters and halves of surrogate pairs are replaced by a mark."""
    return "".join(c if c == "\n" or unicodedata.category(c) not in ("Cc", "Cs") else "\ufffd" for c in text)


def moment(text: str) -> str:
    """Return the time of a record, which is in UTC."""
    return f"<time>{escape(text.replace('T', ' ').replace('+00:00', ' UTC'))}</time>"


def name(text: Any) -> str:
    """Return a name from outside, whose direction of writing does not affect the text around it."""
    return f"<bdi>{escape(text)}</bdi>"


def value(x: Any, digits: int = 5) -> str:
    """Return a number in readable form, with all its digits in the element's value; None is a dash."""
    if x is None:
        return NOTHING
    if isinstance(x, bool):
        return "yes" if x else "no"
    if isinstance(x, str):
        return name(x)
    return f'<data value="{x!r}">{short(x, digits)}</data>'


def short(x: float, digits: int = 5) -> str:
    """Return a number in few characters."""
    if isinstance(x, int) or (x == int(x) and abs(x) < 1e7):
        return f"{int(x):,}"
    large = 10.0 ** max(7, digits)
    return f"{x:,.{digits}g}" if 1e-3 <= abs(x) < large and abs(x) < 1e15 else f"{x:.2e}"


def by_label(label: str) -> tuple[float, str]:
    """Return what labels are sorted by: numbers as numbers, before all others."""
    try:
        return float(label), label
    except ValueError:
        return inf, label


def percent(share: float) -> str:
    """Return a fraction as a percentage, with all its digits in the element's value."""
    return f'<data value="{share!r}">{100.0 * share:.4g}\u202f%</data>'


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Return a list of names and values; the values are HTML already."""
    items = "".join(f"<div><dt>{escape(key)}</dt><dd>{markup}</dd></div>" for key, markup in rows)
    return f'<dl class="facts">{items}</dl>'


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """Return a table whose cells are HTML already; the first cell of a row names it."""
    columns = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    body = "".join(
        f'<tr><th scope="row">{cells[0]}</th>' + "".join(f"<td>{cell}</td>" for cell in cells[1:]) + "</tr>"
        for cells in rows
    )
    label = escape(caption)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table class="{kind}">'
        f"<caption>{label}</caption><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def details(summary: str, content: str, kind: str = "", opened: bool = False) -> str:
    """Return content that is hidden until its summary is clicked."""
    state = " open" if opened else ""
    return f'<details class="{kind}"{state}><summary>{summary}</summary>{content}</details>'


class Section(NamedTuple):
    """A part of the page; identity and title are our own words, and not escaped."""

    identity: str
    title: str
    content: str

    def html(self) -> str:
        """Return the section as HTML."""
        heading = f'<h2 id="{self.identity}-title">{self.title}</h2>'
        return (
            f'<section id="{self.identity}" aria-labelledby="{self.identity}-title">{heading}{self.content}</section>'
        )


def json_block(content: Any) -> str:
    """Return JSON for a script element: nothing in it can end that element or begin another."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
