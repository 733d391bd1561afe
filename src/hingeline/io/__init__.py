"""Files: svmlight text, datasets on disk, models. What a name needs is imported when it is first used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "dump_svmlight": ".text.dump",
    "iter_svmlight": ".text.svmlight",
    "load_model": "hingeline.estimators.model_files",  # estimators come after files in the flow of data
    "load_svmlight": ".text.load",
    "open_dataset": ".dataset.folder",
    "save_model": "hingeline.estimators.model_files",
    "write_dataset": ".dataset.writer",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
