"""What each part of the rows adds to a certificate: parts of one problem at one w add up."""

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
        Largest violation of a row.
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

        ``regulariser`` is |w|^2/2, or whatever stands in its place; ``regulariser_gap`` is what it adds to P - D:
        |apart|^2/2 if w is ``apart`` from what the dual variables give.
        """
        return Certificate.of(self.violation, regulariser + self.losses, self.gap + regulariser_gap)


def sum_parts(parts: Iterable[tuple[float, float, float]]) -> CertificateParts:
    """Add up parts over different rows, without rounding in between; a NaN anywhere stays."""
    violations, losses, gaps = zip(*(CertificateParts(), *parts), strict=True)
    largest = nan if any(map(isnan, violations)) else max(violations)
    return CertificateParts(largest, fsum(losses), fsum(gaps))
