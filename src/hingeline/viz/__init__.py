"""Displays in scikit-learn's convention. They need matplotlib (``pip install matplotlib``)."""

from __future__ import annotations

from .c_grid import CGridDisplay
from .c_panels import CPanelsDisplay
from .c_path import CPathDisplay
from .convergence import ConvergenceDisplay
from .frequency import FrequencyDisplay
from .frequency_record import FrequencyRecord
from .report import write_report
from .weights import WeightsDisplay

__all__ = [
    "CGridDisplay",
    "CPanelsDisplay",
    "CPathDisplay",
    "ConvergenceDisplay",
    "FrequencyDisplay",
    "FrequencyRecord",
    "WeightsDisplay",
    "write_report",
]
