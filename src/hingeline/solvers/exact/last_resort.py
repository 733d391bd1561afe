"""Small problems that float64 could not solve: solved in decimals, rounded, and certified.

If rounding has ended an engine at a large gap, there may still be a good model in float64: the optimum to more digits,
rounded. If rounding costs too much (at large C, or if columns cancel each other), margins get room for rounding, and
weights are rounded one after the other, the coarsest first. The others are solved for again each time, so that they
compensate for the rounding. Finally all are rounded together (lattice.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal, localcontext
from math import inf
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...data.matrix import Data
from ...kernels.types import Matrix, Vector
from ...runtime.training_clock import now
from ...solution import Certificate, Solution
from ..clock import Ended
from ..history import concluded
from ..stop import GOOD_GAP, Stop
from .decimals import DIGITS, floats
from .interior import Pieces, Point
from .weights_on_lattice import weights_on_lattice

LARGEST = 3_000  # rows times weights: a second or two
LARGEST_TWICE = 150_000  # rows times squared weights of problems that are solved at most twice: some ten seconds
MOST_ROUNDED = 16  # weights that are rounded one by one: each is a problem of its own
EXACT = "exact"  # what the solution's ``solver`` says then


class Model(NamedTuple):
    """Weights and dual variables in float64, with their certificate; intercepts, not their weights, are last."""

    w: Vector
    alpha: Vector | Matrix
    certificate: Certificate


class Exact(Protocol):
    """A problem in decimals."""

    @property
    def pieces(self) -> Any:
        """The problem, which can be ``solved``, ``tightened``, and solved ``without`` one of its weights."""

    def dual_variables(self, at: Point, check: Callable[[], None]) -> Vector | Matrix:
        """Return the dual variables of the solution, rounded and feasible."""

    def model(self, w: Vector, alpha: Vector | Matrix) -> Model:
        """Return the model with the certificate of these very numbers."""


def finished(
    data: Data,
    n_weights: int,
    solution: Solution,
    stop: Stop,
    make: Callable[[], Exact],
    keep: Callable[[Model], dict[str, Any]],
    cancelled: Callable[[], bool] | None = None,
) -> Solution:
    """Return a better solution if the problem is small and this one has stalled; else this one.

    ``make`` returns the problem in decimals, ``keep`` the attributes that a solution takes from a model.
    """
    if solution.stop_reason not in ("rounding", "stalled") or solution.certificate.gap <= GOOD_GAP:
        return solution
    if not is_small_enough(data, n_weights):
        return solution
    begun, left = now(), stop.after(solution.seconds).max_time

    def check() -> None:
        if (cancelled is not None and cancelled()) or (left is not None and now() - begun > left):
            raise Ended("max_time")

    found = None
    try:
        with localcontext(DIGITS):
            found = best_model(make(), check, is_small=data.n_rows * n_weights <= LARGEST)
    except Ended:
        pass
    if found is None or not found.certificate.gap < solution.certificate.gap:
        return solution
    reason, converged = stop.outcome("rounding", found.certificate)
    return replace(
        solution,
        **keep(found),
        certificate=found.certificate,
        history=concluded(solution.history, found.certificate),
        converged=converged,
        stop_reason=reason,
        solver=f"{solution.solver}+{EXACT}",
        seconds=solution.seconds + now() - begun,
    )


def is_small_enough(data: Data, n_weights: int) -> bool:
    """Tell whether ``finished`` takes on a problem of this size."""
    return data.n_rows * n_weights <= LARGEST or data.n_rows * n_weights**2 <= LARGEST_TWICE


def best_model(exact: Exact, check: Callable[[], None], *, is_small: bool = True) -> Model | None:
    """Return the best model that was found; if the problem is not ``is_small``, it is solved at most twice."""
    pieces = exact.pieces
    point = pieces.solved(check)
    if point is None:
        return None
    alpha = exact.dual_variables(point, check)
    best = exact.model(floats(point.w), alpha)
    for rounded in (_tight, _one_by_one, _on_lattice) if is_small else (_tight, _on_lattice):
        if best.certificate.gap <= GOOD_GAP:
            break
        w = rounded(pieces, point, check)
        best = best if w is None else min(best, exact.model(w, alpha), key=lambda m: m.certificate.primal)
    return best


def _tight(pieces: Any, point: Point, check: Callable[[], None]) -> Vector | None:
    """Return weights in float64 whose margins have room for rounding; None if there are none."""
    tight = pieces.tightened(point)
    found = tight and tight.solved(check)
    return None if found is None else floats(found.w)


def _on_lattice(pieces: Any, point: Point, check: Callable[[], None]) -> Vector | None:
    """Return weights in float64 that are rounded together; None if they are too many."""
    if not isinstance(pieces, Pieces) or point.w.size > MOST_ROUNDED:
        return None
    return weights_on_lattice(pieces, point, check)


def _one_by_one(pieces: Any, point: Point, check: Callable[[], None]) -> Vector | None:
    """Return weights rounded to float64 one by one: first the one whose last digit moves scores most.

    Returns None if there are too many weights, or if the problem cannot be solved without one of them.
    """
    out, left, largest = floats(point.w), list(range(point.w.size)), pieces.largest
    if not 1 < len(left) <= MOST_ROUNDED or not largest.size:
        return None
    while len(left) > 1:
        j = int(np.argmax(np.spacing(np.abs(out[left])) * largest[left]))
        own = left.pop(j)
        values = [float(out[own])]
        if len(left) == out.size - 1:  # nothing compensates for the first one: rounding it the other way may cost less
            values.append(float(np.nextafter(values[0], inf if Decimal(values[0]) < point.w[j] else -inf)))
        given = [pieces.without(j, Decimal(value)) for value in values]
        solved = [(found.value, k, found) for k in range(len(given)) if (found := given[k].solved(check)) is not None]
        if not solved:
            return None
        _, k, found = min(solved)
        pieces, out[own] = given[k], values[k]
        tight = pieces.tightened(found)
        found = (tight and tight.solved(check)) or found
        out[left] = floats(found.w)
    return out
