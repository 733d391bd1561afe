"""The version of the package, apart from it so that every part may know it."""

__version__ = "0.1.0"
