"""The state of Crammer and Singer's classifier: dual variables of all examples, their weights, their certificate."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, sqrt

import numpy as np

from ...data.matrix import Data
from ...data.problem import Problem
from ...kernels.passes import squared_length, weighted_lengths
from ...kernels.types import Matrix, Vector
from ...runtime.pace import Pace
from ...solution import Certificate, Snapshot
from ..certificate import UNIT_ROUNDOFF
from ..certificate_parts import sum_parts
from ..precise_certificate import NEGLIGIBLE
from .example_passes import (
    Examples,
    add_class_weights,
    certify_examples,
    certify_examples_precisely,
    make_feasible,
)
from .twin_steps import settle_twins
from .twins import Twins

STRETCHES = (1.0 + 2.0**-40, 1.0 + 2.0**-36, 1.0 + 2.0**-32, 1.0 + 2.0**-28)
SMALL_GAP, NO_GAP = 1e-6, 1e-10  # relative gaps: good enough; too small to be worth stretching for


@dataclass
class DualState:
    """The dual variables of all examples, and weights: summed up from them, or an engine's own, close to that sum."""

    data: Data
    examples: Examples
    has_own_weights: bool = False

    def refresh(self, pace: Pace) -> Certificate:
        """Make the variables feasible, compute their weights, and return the exact certificate.

        An engine's own weights are kept, and their distance from the weights of the variables is part of the gap.
        """
        n, own = self.data.n_rows, self.examples.w.copy()
        examples = self.examples
        examples.w[:] = 0.0
        for begin, end in pace.slices(n):
            make_feasible(examples.alpha, examples.C, examples.y, begin, end)
            add_class_weights(examples, begin, end)
        apart = 0.0
        if self.has_own_weights:
            apart = 0.5 * squared_length(own - examples.w)
            examples.w[:] = own
        certificate = self._certificate(apart, pace)
        if self.has_own_weights and certificate.gap > 1.0:  # zeros certify a smaller gap
            examples.alpha[:] = 0.0
            certificate = self._certificate(0.5 * squared_length(own), pace)
        return certificate

    def _certificate(self, apart: float, pace: Pace) -> Certificate:
        """Return the certificate of weights whose distance adds ``apart`` to the gap.

        If rounding of the margins may be worth a visible share of the objective, they are computed more precisely.
        """
        examples, slices = self.examples, pace.slices(self.data.n_rows)
        half_square = 0.5 * squared_length(examples.w)
        parts = sum_parts(certify_examples(examples, begin, end) for begin, end in slices)
        error = UNIT_ROUNDOFF * (1.0 + sqrt(2.0 * self.data.largest_q * half_square))
        if float(examples.C.sum()) * error > NEGLIGIBLE * (half_square + parts.losses):
            W = np.ascontiguousarray(examples.w.reshape(-1, examples.alpha.shape[1]).T)
            slices = pace.slices(self.data.n_rows)
            parts = sum_parts(certify_examples_precisely(examples, W, begin, end) for begin, end in slices)
        return parts.certificate(half_square, apart)

    def take(self, alpha: Matrix, w: Vector) -> None:
        """Continue from these variables, and from weights that are not summed up from them."""
        self.examples.alpha[:], self.examples.w[:] = alpha, w
        self.has_own_weights = True

    def stretch(self, pace: Pace) -> None:
        """Lengthen an engine's own weights a little, if the gap does not become worse.

        At large C, margins that rounding makes one unit in the last place too short may be most of the gap, whether it
        shows or not. A factor slightly larger than rounding removes them and costs almost nothing.
        """
        if not self.has_own_weights:
            return
        w, gap = self.examples.w, self.refresh(pace).gap
        own = best = w.copy()
        for factor in STRETCHES:
            w[:] = factor * own
            stretched = self.refresh(pace).gap
            if stretched <= max(gap, NO_GAP):
                best, gap = w.copy(), stretched
            if gap <= SMALL_GAP:
                break
        w[:] = best

    def settle(self, twins: Twins, pace: Pace) -> tuple[int, float]:
        """Solve the sub-problems of the twins; returns steps and gain."""
        parts = [settle_twins(self.examples, twins, begin, end) for begin, end in pace.slices(twins.n_groups)]
        return sum(steps for steps, _ in parts), fsum(gain for _, gain in parts)

    def snapshot(self) -> Snapshot:
        """Return the model so far: weights of shape (n_classes, n_features), intercepts of shape (n_classes,)."""
        alpha = self.examples.alpha
        W = self.examples.w.reshape(-1, alpha.shape[1]).T
        return Snapshot(np.ascontiguousarray(W[:, :-1]), self.data.rows.bias * W[:, -1], alpha.copy())

    def floor(self) -> float:
        """Estimate the violation that rounding leaves at the optimum."""
        lengths = 2.0 * weighted_lengths(np.abs(self.examples.alpha).max(axis=1), self.data.q)
        return UNIT_ROUNDOFF * (1.0 + sqrt(self.data.largest_q) * lengths)


def dual_state(problem: Problem, k: int, alpha0: Matrix | None) -> DualState:
    """Return the state at ``alpha0`` (moved into the box) or zero; rows of zeros get one of their optima."""
    data, y = problem.data, problem.y
    C = np.broadcast_to(np.asarray(problem.C, dtype=np.float64), data.n_rows).copy()
    alpha = np.zeros((data.n_rows, k))
    if alpha0 is not None:
        alpha[:] = alpha0
        make_feasible(alpha, C, y, 0, data.n_rows)
    solved = (data.q == 0.0) | (C == 0.0)
    alpha[solved] = 0.0
    alpha[solved, y[solved]] = C[solved]
    alpha[solved, (y[solved] + 1) % k] = -C[solved]
    w, live = np.zeros((data.n_features + 1) * k), np.zeros((data.n_rows, k), dtype=np.uint32)
    n_live = np.full(data.n_rows, k, dtype=np.uint32)
    return DualState(data, Examples(data.rows, data.q, C, y, alpha, w, live, n_live))
