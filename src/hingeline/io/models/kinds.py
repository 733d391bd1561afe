"""The registry of model kinds: classes whose fitted models can be saved to files and loaded from them.

This package knows nothing of estimators. A module that defines a class of models registers a ``ModelKind`` for it when
it is imported. ``hingeline``, which knows all of its parts, names the modules that do so (``register_on_demand``), so
that they are imported as soon as a kind is looked up, and no earlier.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .liblinear_file import LinearModel


class ModelKind(NamedTuple):
    """A class of models, and how one of them becomes what a file holds, and back.

    Attributes
    ----------
    model_class : type
        Its name stands in hingeline's own files.
    to_record : callable
        Takes a fitted model, and whether to leave out what grows with its training data; returns a dict of what
        ``native_file`` can write.
    from_record : callable
        Takes such a dict, which may come from a damaged file, returns the model; raises ``ModelFileError``.
    solver_types : tuple of int
        The numbers of LIBLINEAR's types that ``from_liblinear`` takes.
    to_liblinear, from_liblinear : callable
        The same in LIBLINEAR's terms, as a ``LinearModel``.
    """

    model_class: type
    to_record: Callable[[Any, bool], dict[str, Any]]
    from_record: Callable[[dict[str, Any]], Any]
    solver_types: tuple[int, ...]
    to_liblinear: Callable[[Any], LinearModel]
    from_liblinear: Callable[[LinearModel], Any]


_kinds: dict[str, ModelKind] = {}
_imports: list[Callable[[], object]] = []


def register(kind: ModelKind) -> None:
    """Make a kind known by the name of its class."""
    _kinds[kind.model_class.__name__] = kind


def register_on_demand(import_kinds: Callable[[], object]) -> None:
    """Have ``import_kinds`` called before a kind is looked up; it is called each time, and must be cheap to repeat."""
    _imports.append(import_kinds)


def model_kinds() -> dict[str, ModelKind]:
    """Return all kinds by name."""
    for import_kinds in _imports:
        import_kinds()
    return _kinds
