"""Choosing C: paths and cross-validation."""

from .path import CPath, c_path

__all__ = ["CPath", "c_path"]
