"""Files: svmlight text, datasets on disk, models. Names are imported when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .dataset.catalogue import data_folder
    from .dataset.folder import open_dataset
    from .dataset.generate import make_dataset
    from .dataset.writer import write_dataset
    from .models.files import load_model, save_model
    from .text.dump import dump_svmlight
    from .text.load import load_svmlight
    from .text.svmlight import iter_svmlight

__all__ = [
    "data_folder",
    "dump_svmlight",
    "iter_svmlight",
    "load_model",
    "load_svmlight",
    "make_dataset",
    "open_dataset",
    "save_model",
    "write_dataset",
]

_HOMES = {
    "data_folder": ".dataset.catalogue",
    "dump_svmlight": ".text.dump",
    "iter_svmlight": ".text.svmlight",
    "load_model": ".models.files",
    "load_svmlight": ".text.load",
    "make_dataset": ".dataset.generate",
    "open_dataset": ".dataset.folder",
    "save_model": ".models.files",
    "write_dataset": ".dataset.writer",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
