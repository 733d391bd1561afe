"""The data sets that ``hingeline data`` knows by name, and where they are kept on this computer."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

ARCHIVES = (".tar.xz", ".tar.gz", ".tar.bz2", ".zip")


@dataclass(frozen=True)
class Entry:
    """A data set as published; None if a figure is not known."""

    name: str
    file: str  # below the address of the site, or of a mirror
    rows: int
    columns: int
    nonzeros: int | None
    sha256: str | None
    licence: str
    about: str

    @property
    def is_archive(self) -> bool:
        """Whether the file holds other files rather than text."""
        return self.file.endswith(ARCHIVES)

    def url(self, base: str | None = None) -> str:
        """Return the address of the file, on the site that publishes it or on a mirror."""
        return f"{(base or _catalogue()[0]).rstrip('/')}/{self.file}"


def note() -> str:
    """Return the note on all figures and licences."""
    return _catalogue()[2]


def entries() -> list[Entry]:
    """Return all known data sets, the paper's six first."""
    return list(_catalogue()[1].values())


def find_entry(name: str) -> Entry:
    """Return the data set of that name."""
    known = _catalogue()[1]
    if name not in known:
        raise ValueError(f"Unknown data set {name!r}: choose one that `hingeline data list` shows.")
    return known[name]


def data_folder() -> Path:
    """Return the folder of fetched data sets: HINGELINE_DATA if that is set, else a folder in the user's cache."""
    if named := os.environ.get("HINGELINE_DATA"):
        return Path(named)
    if sys.platform == "win32":
        cache_folder = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        cache_folder = Path.home() / "Library" / "Caches"
    else:
        cache_folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache_folder / "hingeline"


@cache
def _catalogue() -> tuple[str, dict[str, Entry], str]:
    text = (files(__package__) / "catalogue.json").read_text(encoding="utf-8")
    fields = json.loads(text)
    return fields["base"], {entry["name"]: Entry(**entry) for entry in fields["datasets"]}, fields["note"]
