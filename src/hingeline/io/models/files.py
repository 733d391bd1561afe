"""Models to files and back, in hingeline's own format or in LIBLINEAR's: ``save_model`` and ``load_model``.

hingeline's own format keeps everything that a model has learned, including its certificate and parameters, and labels
of any type. LIBLINEAR's keeps the weights, for LIBLINEAR and programs that read its files; labels must be whole
numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from os import PathLike
from typing import Any, BinaryIO

from ...version import __version__
from .kinds import ModelKind, model_kinds
from .liblinear_file import LinearModel, ModelFileError, read_model_file, write_model
from .native_file import is_native, read_native_file, write_native

FORMATS = ("native", "liblinear")


def save_model(estimator: Any, path: str | PathLike[str], *, format: str = "native", compact: bool = False) -> None:
    """Write a fitted estimator to a file, completely or not at all.

    Parameters
    ----------
    estimator : fitted estimator
        One of hingeline's, including those that search for C. Its ``cv`` is saved as None if it is a splitter or a
        list.
    path : str or path
    format : {"native", "liblinear"}
        "native": hingeline's own file (JSON and arrays, no pickle) with everything that was learned, including the
        certificate.
        "liblinear": LIBLINEAR's text file, for programs that read it; labels must be whole numbers.
    compact : bool
        Leave out ``dual_coef_`` and ``support_``, which grow with the number of rows: 160 MB for a million rows and 20
        classes. Predictions and the certificate are kept; a warm start then begins at the weights.
    """
    if format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(map(repr, FORMATS))}; got {format!r}.")
    kind = _kind_of(estimator)
    if format == "liblinear":
        write_model(kind.to_liblinear(estimator), path)
        return
    content = {"estimator": kind.model_class.__name__, "hingeline": __version__, **kind.to_record(estimator, compact)}
    write_native(content, path)


def load_model(path: str | PathLike[str]) -> Any:
    """Return the fitted estimator in a file, which has hingeline's format or LIBLINEAR's.

    Loading runs no code from the file and takes no more memory than the file fills. A damaged file raises
    ``ValueError``.
    """
    with open_model(path) as file:
        content = read_content(file, str(path))
    return from_liblinear(content) if isinstance(content, LinearModel) else from_content(content, str(path))


def from_content(content: dict[str, Any], name: str) -> Any:
    """Return the estimator that the content of hingeline's own file called ``name`` stands for."""
    try:
        return _named(content).from_record(content)
    except ModelFileError as error:
        raise ModelFileError(f"{name}: {error}") from None


@contextmanager
def open_model(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a model file, so that it can be read again from the beginning: all of a pipe is read first."""
    with open(path, "rb") as file:
        yield file if file.seekable() else BytesIO(file.read())


def read_content(file: BinaryIO, name: str) -> LinearModel | dict[str, Any]:
    """Return what a model file called ``name`` says, in whichever of the two formats it is."""
    return read_native_file(file, name) if is_native(file) else read_model_file(file, name)


def to_liblinear(estimator: Any) -> LinearModel:
    """Return a fitted estimator in LIBLINEAR's terms; raises ``ValueError`` if LIBLINEAR has none for it."""
    return _kind_of(estimator).to_liblinear(estimator)


def from_liblinear(model: LinearModel) -> Any:
    """Return the estimator that stands for a model of LIBLINEAR's; what the model does not say keeps its default."""
    return next(kind for kind in model_kinds().values() if model.type in kind.solver_types).from_liblinear(model)


def _kind_of(estimator: Any) -> ModelKind:
    name, kinds = type(estimator).__name__, model_kinds()
    if hasattr(estimator, "to_local"):
        raise ValueError(f"This {name} lives on a Dask cluster: save what its to_local() returns.")
    if name not in kinds or kinds[name].model_class is not type(estimator):
        raise ValueError(f"{name} is not one of hingeline's estimators: only {', '.join(kinds)} can be saved.")
    return kinds[name]


def _named(content: dict[str, Any]) -> ModelKind:
    """Return the kind that a file names."""
    name = content.get("estimator")
    if not isinstance(name, str):
        raise ModelFileError("this file does not hold an estimator.")
    if name not in model_kinds():
        version = str(content.get("hingeline"))[:20]
        raise ModelFileError(f"unknown estimator {name[:40]!r}; hingeline {version} wrote it.")
    return model_kinds()[name]
