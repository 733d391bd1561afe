"""How many times faster: seconds of some solvers over those of others, per cell and over all cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import exp, inf, isnan, log, nan
from typing import NamedTuple

from ..solvers.engines import AUTO, NAMES, SOLVERS
from .peers import Cell

Group = Mapping[str, Cell]  # by solver: one data set, C and target
LARGE_C = 10.0  # from here on, dual coordinate descent as LIBLINEAR does it is slow


class Ratio(NamedTuple):
    """A ratio of seconds, NaN if unknown; with ``bound`` it is a lower bound, since the numerator was late."""

    value: float
    bound: bool


def ratio(group: Group, above: Iterable[str], below: Iterable[str]) -> Ratio:
    """Return the best seconds of the solvers ``above`` over the best of those ``below``."""
    top, bottom = ([group[name] for name in names if name in group] for names in (above, below))
    best = _best(bottom)
    late = min((cell.deadline for cell in top if cell.status == "deadline"), default=inf)
    if best == inf or min(_best(top), late) == inf:
        return Ratio(nan, False)
    return Ratio(_best(top) / best, False) if _best(top) < inf else Ratio(late / best, True)


def _best(cells: Iterable[Cell]) -> float:
    return min((cell.seconds for cell in cells if cell.status == "ok"), default=inf)


def speed_up(group: Group) -> Ratio:
    """Return the best peer's seconds over auto's."""
    return ratio(group, [name for name in group if name not in SOLVERS], [AUTO])


def regret(group: Group) -> Ratio:
    """Return auto's seconds over those of the best engine, which is known in hindsight."""
    return ratio(group, [AUTO], NAMES)


def over_liblinear(group: Group) -> Ratio:
    """Return the seconds of scikit-learn, which is LIBLINEAR without its limit of sweeps, over auto's, at large C."""
    large = all(cell.C >= LARGE_C for cell in group.values())
    return ratio(group, ["sklearn"], [AUTO]) if large else Ratio(nan, False)


# Title, ratio, and which of the ratios is the worst.
LINES: tuple[tuple[str, Callable[[Group], Ratio], Callable[..., tuple[Ratio, Group]]], ...] = (
    ("best peer / auto", speed_up, min),
    (f"sklearn (LIBLINEAR, uncapped) / auto, C >= {LARGE_C:g}", over_liblinear, min),
    ("auto / best engine in hindsight", regret, max),
)


def summary(groups: Iterable[Group]) -> list[str]:
    """Return the summary over all cells, one line per kind of ratio and target."""
    groups = [group for group in groups if group]
    targets = dict.fromkeys(cell.target for group in groups for cell in group.values())
    lines = []
    for target in targets:
        there = [group for group in groups if all(cell.target == target for cell in group.values())]
        to = f" to {target:g}" if len(targets) > 1 else ""
        for title, kind, worst in LINES:
            found = [(r, group) for group in there if not isnan((r := kind(group)).value)]
            if found:
                lines.append(f"{title}{to}: {_mean(found)}, {_worst(worst(found, key=lambda pair: pair[0].value))}")
        late = [group for group in there if _is_late(group)]
        if late:
            lines.append(f"auto late{to} although another solver was not: {'; '.join(map(_name, late))}")
    return lines


def _mean(found: list[tuple[Ratio, Group]]) -> str:
    ratios = [r for r, _ in found]
    mean = exp(sum(log(r.value) for r in ratios) / len(ratios))
    bounds = sum(r.bound for r in ratios)
    cells = f"{len(ratios)} cells" + (f" ({bounds} of them lower bounds)" if bounds else "")
    return f"{mean:.3g}x in the geometric mean of {cells}"


def _worst(pair: tuple[Ratio, Group]) -> str:
    return f"{pair[0].value:.3g}x in the worst ({_name(pair[1])})"


def _is_late(group: Group) -> bool:
    auto = group.get(AUTO)
    return auto is not None and auto.status == "deadline" and any(cell.status == "ok" for cell in group.values())


def _name(group: Group) -> str:
    cell = next(iter(group.values()))
    return f"{cell.dataset}, C {cell.C:g}"
