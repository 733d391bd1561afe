"""Displays in scikit-learn's convention. They need matplotlib: ``pip install "hingeline[viz]"``."""

from __future__ import annotations

from .c_grid import CGridDisplay

__all__ = ["CGridDisplay"]
