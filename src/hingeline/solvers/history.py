"""The history of a run: one record per sweep, thinned as it grows, and the best bounds on the optimum so far."""

from __future__ import annotations

from math import isfinite, nan

import numpy as np

from ..solution import HISTORY, Certificate

MOST_RECORDS = 4096  # a run may take millions of sweeps: then records of every second, fourth, ... sweep are kept

BOUNDS = ("objective", "lower_bound", "gap")  # the fields that come from a certificate, in its order

Record = tuple[int, float, int, float, float, float, float, int]  # as HISTORY names its fields


class Bounds:
    """The smallest objective and the largest lower bound so far; NaN until they are known.

    They come from what the engine knows anyway. Sweeps only estimate the objective, since they see each of its terms at
    a different w.
    """

    def __init__(self) -> None:
        self.objective = self.lower = nan

    def see(self, objective: float, lower: float) -> None:
        """Take what a sweep has seen; values that are not finite are ignored."""
        if isfinite(lower) and not self.lower >= lower:
            self.lower = lower
        if isfinite(objective) and not (self.lower <= self.objective <= objective):  # else an estimate was too low
            self.objective = objective


def scaled(history: np.ndarray, factor: float) -> np.ndarray:
    """Return the history of the same problem with its objective multiplied by ``factor``."""
    history = history.copy()
    history["objective"] *= factor
    history["lower_bound"] *= factor
    return history


def concluded(history: np.ndarray, certificate: Certificate) -> np.ndarray:
    """Return the history with the certificate of the returned model in its last record."""
    history = history.copy()
    for name, value in zip(BOUNDS, certificate[1:], strict=True):
        history[name][-1:] = value  # there is no record if no sweep was needed
    return history


class History:
    """Records of a run, evenly spaced: at most ``MOST_RECORDS`` and the last one."""

    def __init__(self) -> None:
        self._kept: list[Record] = []
        self._last: Record | None = None
        self._every = 1

    def add(self, record: Record) -> None:
        """Take the record of the next sweep; sweeps are numbered from 1."""
        self._last = record
        if (record[0] - 1) % self._every == 0:
            self._kept.append(record)
            if len(self._kept) > MOST_RECORDS:
                self._kept = self._kept[::2]
                self._every *= 2

    def conclude(self, certificate: Certificate) -> None:
        """Put the model's exact gap, objective and lower bound into the last record."""
        if self._last is not None:
            is_kept = self._kept[-1] is self._last
            exact = (certificate.gap, certificate.primal, certificate.dual)
            self._last = (*self._last[:4], *exact, self._last[-1])
            if is_kept:
                self._kept[-1] = self._last

    def as_array(self) -> np.ndarray:
        """Return the records that are kept, the last one among them."""
        records = self._kept
        if self._last is not None and records[-1] is not self._last:
            records = [*records, self._last]
        return np.array(records, dtype=HISTORY)
