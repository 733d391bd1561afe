"""One HTML file that tells all about a run: it needs no network, and nothing but a browser."""

from .write import write_report

__all__ = ["write_report"]
