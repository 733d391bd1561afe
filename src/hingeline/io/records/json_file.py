"""hingeline's JSON files, which are checked against a schema before anything in them is used.

A schema is made of Python's own types: ``str``, ``bool``, ``float`` (any finite number), ``int`` (a whole number, not
negative), ``None``; a tuple (any of these), ``[schema]`` (a list), ``{"*": schema}`` (any keys), and ``{"key":
schema, ...}`` (all of these keys; others are not checked).
"""

from __future__ import annotations

import json
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from ..atomic import atomic_write

MOST_BYTES = 1 << 28
MOST_INT = 2**53  # other languages read whole numbers up to here exactly
NAMES = {str: "text", bool: "true or false", float: "a finite number", int: "a whole number, 0 or more", None: "null"}


class JsonFileError(ValueError):
    """A file that is not what it should be."""


def write_json(
    path: str | PathLike[str], format: str, version: int, document: dict[str, Any], *, indent: int | None = None
) -> None:
    """Write ``document`` with the name of its format, as a whole or not at all."""
    separators = (",", ":") if indent is None else None
    content = {"format": format, "version": version, **document}
    text = json.dumps(content, allow_nan=False, separators=separators, indent=indent)
    with atomic_write(path) as file:
        file.write(text.encode("ascii") + b"\n")


def read_json(path: str | PathLike[str], format: str, version: int, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the content of a file; raises ``JsonFileError``, which names the place, if it does not fit the schema."""
    try:
        document = _parse(Path(path))
        if not isinstance(document, dict) or document.get("format") != format:
            raise JsonFileError(f"its format is not {format!r}.")
        if document.get("version") != version:
            found = str(document.get("version"))[:20]
            raise JsonFileError(f"its version is {found}; this hingeline reads version {version}.")
        check(document, schema, "")
    except JsonFileError as error:
        raise JsonFileError(f"{path}: {error}") from None
    return document


def _parse(path: Path) -> Any:
    with open(path, "rb") as file:
        text = file.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise JsonFileError(f"it is longer than {MOST_BYTES} bytes.")
    try:
        return json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise JsonFileError(f"it is not valid JSON ({str(error)[:80]}): the file is damaged.") from None


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number in JSON")


def check(value: Any, schema: Any, where: str) -> None:
    """Raise ``JsonFileError``, which names the place, if ``value`` does not fit the schema."""
    if isinstance(schema, tuple):
        for choice in schema:
            if _is_plain(value, choice) or (isinstance(choice, (list, dict)) and isinstance(value, type(choice))):
                return check(value, choice, where)
        _refuse(value, " or ".join(map(_name, schema)), where)
    elif isinstance(schema, list):
        if not isinstance(value, list):
            _refuse(value, "a list", where)
        for k, item in enumerate(value):
            check(item, schema[0], f"{where}[{k}]")
    elif isinstance(schema, dict):
        if not isinstance(value, dict):
            _refuse(value, "an object", where)
        for key, inner in ({key: schema["*"] for key in value} if "*" in schema else schema).items():
            place = f"{where}.{key[:40]}" if where else key[:40]
            if key not in value:
                raise JsonFileError(f"{place} is missing.")
            check(value[key], inner, place)
    elif not _is_plain(value, schema):
        _refuse(value, _name(schema), where)


def _is_plain(value: Any, kind: Any) -> bool:
    """Tell whether ``value`` has the plain type ``kind`` of a schema."""
    if kind is None:
        return value is None
    if kind is float:
        return isfinite(value) if type(value) is float else type(value) is int and abs(value) <= MOST_INT
    if kind is int:
        return type(value) is int and 0 <= value <= MOST_INT
    return isinstance(kind, type) and type(value) is kind


def _name(schema: Any) -> str:
    return "a list" if isinstance(schema, list) else "an object" if isinstance(schema, dict) else NAMES[schema]


def _refuse(value: Any, wanted: str, where: str) -> NoReturn:
    raise JsonFileError(f"{where} should be {wanted}, but is {str(value)[:40]!r}: the file is damaged.")
