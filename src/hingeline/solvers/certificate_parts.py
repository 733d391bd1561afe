"""Partial certificates over some of the rows; those of one problem at the same w add up."""

from __future__ import annotations

from collections.abc import Iterable
from math import fsum, isnan, nan
from typing import NamedTuple

from ..solution import Certificate


class CertificateParts(NamedTuple):
    """Sums over some rows at a fixed w, as ``kernels.passes.certify_rows`` returns them.

    Attributes
    ----------
    violation : float
        Largest violation of any row.
    losses : float
        Sum of the losses.
    gap : float
        Sum of the gap terms, each of them >= 0.
    """

    violation: float = 0.0
    losses: float = 0.0
    gap: float = 0.0

    def certificate(self, regulariser: float, regulariser_gap: float = 0.0) -> Certificate:
        """Return the certificate of all rows together.

        ``regulariser`` is |w|^2/2, or whatever replaces it. ``regulariser_gap`` is what it adds to P - D: |apart|^2/2
        if w is ``apart`` from the weights of the dual variables.
        """
        return Certificate.of(self.violation, regulariser + self.losses, self.gap + regulariser_gap)


def sum_parts(parts: Iterable[tuple[float, float, float]]) -> CertificateParts:
    """Add up parts over different rows, rounding only once; a NaN in any part stays NaN."""
    violations, losses, gaps = zip(*(CertificateParts(), *parts), strict=True)
    largest = nan if any(map(isnan, violations)) else max(violations)
    return CertificateParts(largest, fsum(losses), fsum(gaps))
