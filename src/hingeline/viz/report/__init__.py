"""A report of a run in one HTML file, which needs nothing but a browser."""

from .write import write_report

__all__ = ["write_report"]
