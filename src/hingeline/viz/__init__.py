"""Displays in scikit-learn's convention. They need matplotlib: ``pip install "hingeline[viz]"``."""

from __future__ import annotations

from .c_grid import CGridDisplay
from .c_panels import CPanelsDisplay
from .report import write_report

__all__ = ["CGridDisplay", "CPanelsDisplay", "write_report"]
