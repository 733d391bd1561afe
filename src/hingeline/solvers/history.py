"""The history of a run: one record per sweep, thinned as it grows."""

from __future__ import annotations

import numpy as np

from ..solution import HISTORY

MOST_RECORDS = 4096  # a run may take millions of sweeps: then records of every second, fourth, ... sweep are kept

Record = tuple[int, float, int, float, float]  # as HISTORY names its fields


class History:
    """Records of a run, evenly spaced: at most ``MOST_RECORDS`` and the last one."""

    def __init__(self) -> None:
        self._kept: list[Record] = []
        self._last: Record | None = None
        self._every = 1

    def add(self, record: Record) -> None:
        """Take the record of the next sweep; sweeps are numbered from 1 on."""
        self._last = record
        if (record[0] - 1) % self._every == 0:
            self._kept.append(record)
            if len(self._kept) > MOST_RECORDS:
                self._kept = self._kept[::2]
                self._every *= 2

    def set_last_gap(self, gap: float) -> None:
        """Set the gap of the last record."""
        if self._last is not None:
            is_kept = self._kept[-1] is self._last
            self._last = (*self._last[:-1], gap)
            if is_kept:
                self._kept[-1] = self._last

    def as_array(self) -> np.ndarray:
        """Return the records that are kept, the last one among them."""
        records = self._kept
        if self._last is not None and records[-1] is not self._last:
            records = [*records, self._last]
        return np.array(records, dtype=HISTORY)
