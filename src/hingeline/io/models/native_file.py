"""hingeline's own model file: a line that names the format, a line of JSON, and the bytes of the arrays. No pickle.

::

    hingeline model 1
    {"content": ..., "arrays": [{"dtype": "<f8", "shape": [1, 123]}, ...], "crc32": 305419896}
    bytes of the arrays, little-endian, one after the other

The content is made of JSON's own values and of objects with a single key, for what JSON does not have:
``{"array": 0}``, ``{"strings": [...]}``, ``{"objects": [...]}`` (an array of Python strings), ``{"record": [[field,
column], ...]}`` (an array with named fields), ``{"list": [...]}``, ``{"float": "nan"}`` and ``{"pairs": [[key, value],
...]}`` (a dict whose keys need not be strings). Nothing else can be built from a file, whoever wrote it; types, shapes
and lengths are compared with the file's size before memory is taken.
"""

from __future__ import annotations

import json
import os
import zlib
from math import isfinite, prod
from os import PathLike
from typing import Any, BinaryIO

import numpy as np

from ..atomic import atomic_write
from .liblinear_file import ModelFileError

MAGIC = b"hingeline model "
VERSION = 1
MOST_BYTES_OF_JSON = 1 << 28
MOST_NESTED = 32
MOST_FIELDS = 16
NUMBERS = "biuf"  # kinds of dtype that are stored as bytes


def write_native(content: dict[str, Any], path: str | PathLike[str]) -> None:
    """Write ``content`` (dicts, lists, numbers, strings, arrays of numbers or strings) atomically."""
    arrays: list[np.ndarray] = []
    encoded = {key: _encode(value, arrays, key) for key, value in content.items()}
    crc32 = 0
    for array in arrays:
        crc32 = zlib.crc32(array.reshape(-1).view(np.uint8).data, crc32)
    header = {
        "content": encoded,
        "arrays": [{"dtype": array.dtype.str, "shape": array.shape} for array in arrays],
        "crc32": crc32,
    }
    with atomic_write(path) as file:
        file.write(MAGIC + f"{VERSION}\n".encode() + json.dumps(header, allow_nan=False).encode() + b"\n")
        for array in arrays:
            file.write(array.reshape(-1).view(np.uint8).data)


def is_native(file: BinaryIO) -> bool:
    """Tell whether a file, which can be read again, is in this format, by its first bytes."""
    begin = file.tell()
    first = file.read(len(MAGIC))
    file.seek(begin)
    return first == MAGIC


def read_native(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the content that was written; raises ``ModelFileError`` if the file is damaged."""
    with open(path, "rb") as file:
        return read_native_file(file, str(path))


def read_native_file(file: BinaryIO, name: str) -> dict[str, Any]:
    """Return the content of a file called ``name`` that is open, and can be read again."""
    try:
        return _read(file)
    except ModelFileError as error:
        raise ModelFileError(f"{name}: {error}") from None


def _encode(value: Any, arrays: list[np.ndarray], name: str) -> Any:
    """Return ``value`` in JSON's terms; arrays of numbers are appended to ``arrays``."""
    if isinstance(value, np.ndarray):
        return _encode_array(value, arrays, name)
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if isfinite(value) else {"float": repr(value)}
    if isinstance(value, dict):
        return {"pairs": [[_encode(key, arrays, name), _encode(item, arrays, name)] for key, item in value.items()]}
    if isinstance(value, (list, tuple)):
        return {"list": [_encode(item, arrays, name) for item in value]}
    raise ValueError(f"{name} is a {type(value).__name__}, which a model file cannot hold: use plain values.")


def _encode_array(array: np.ndarray, arrays: list[np.ndarray], name: str) -> dict[str, Any]:
    if array.dtype.kind == "U" and array.ndim == 1:
        return {"strings": array.tolist()}
    if array.dtype.kind == "O" and array.ndim == 1 and all(isinstance(item, str) for item in array):
        return {"objects": array.tolist()}
    if array.dtype.names is not None and array.ndim == 1:
        return {"record": [[field, _encode(array[field], arrays, name)] for field in array.dtype.names]}
    if array.dtype.kind not in NUMBERS or array.dtype.itemsize > 8:
        raise ValueError(f"{name} is an array of {array.dtype}, which a model file cannot hold.")
    arrays.append(np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")))
    return {"array": len(arrays) - 1}


def _read(file: BinaryIO) -> dict[str, Any]:
    first = file.readline(64)
    if not first.startswith(MAGIC):
        raise ModelFileError("this is not a model file of hingeline's.")
    version = first[len(MAGIC) :].strip()
    if version != str(VERSION).encode():
        found = version.decode("ascii", "replace")
        raise ModelFileError(f"it has format {found!r}, this version reads {VERSION}: install a newer one.")
    header = _header(file)
    arrays = _arrays(file, header)
    content = header["content"]
    return {key: _decode(value, arrays, 0) for key, value in content.items()}


def _header(file: BinaryIO) -> dict[str, Any]:
    line = file.readline(MOST_BYTES_OF_JSON)
    try:
        header = json.loads(line) if line.endswith(b"\n") else None
    except (ValueError, RecursionError):
        header = None
    if not (
        isinstance(header, dict)
        and isinstance(header.get("content"), dict)
        and isinstance(header.get("arrays"), list)
        and isinstance(header.get("crc32"), int)
    ):
        raise ModelFileError("line 2 is not valid JSON, or lacks a part: the file is damaged.")
    return header


def _arrays(file: BinaryIO, header: dict[str, Any]) -> list[np.ndarray]:
    """Read the arrays; together they must fill the rest of the file exactly."""
    specs = [_spec(item) for item in header["arrays"]]
    announced = sum(dtype.itemsize * prod(shape) for dtype, shape in specs)
    begin = file.tell()
    there = file.seek(0, os.SEEK_END) - begin
    file.seek(begin)
    if announced != there:
        raise ModelFileError(f"its arrays need {announced} bytes, but {there} follow: the file is damaged.")
    arrays, crc32 = [], 0
    for dtype, shape in specs:
        raw = file.read(dtype.itemsize * prod(shape))
        crc32 = zlib.crc32(raw, crc32)
        arrays.append(np.frombuffer(bytearray(raw), dtype).reshape(shape).astype(dtype.newbyteorder("="), copy=False))
    if crc32 != header["crc32"]:
        raise ModelFileError("the checksum of its arrays is wrong: the file is damaged.")
    return arrays


def _spec(item: Any) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """Return dtype and shape of an announced array."""
    text, shape = (item.get("dtype"), item.get("shape")) if isinstance(item, dict) else (None, None)
    plain = isinstance(text, str) and len(text) == 3 and text[0] in "<|" and text[1] in NUMBERS and text[2] in "1248"
    shape = shape if isinstance(shape, list) else [None]
    try:
        if plain and len(shape) <= 2 and all(type(size) is int and 0 <= size for size in shape):
            return np.dtype(text), tuple(shape)
    except TypeError:
        pass
    raise ModelFileError(f"{str(item)[:80]!r} is not an array of numbers: the file is damaged.")


def _decode(value: Any, arrays: list[np.ndarray], depth: int) -> Any:
    """Return what ``_encode`` was given."""
    if not isinstance(value, (dict, list)):
        return value
    if isinstance(value, dict) and len(value) == 1 and depth < MOST_NESTED:
        (kind, body), below = next(iter(value.items())), depth + 1
        try:
            return _DECODERS[kind](body, arrays, below)
        except (KeyError, TypeError, ValueError, IndexError):
            pass
    raise ModelFileError(f"{str(value)[:80]!r} does not belong in a model file: the file is damaged.")


def _decode_array(body: Any, arrays: list[np.ndarray], depth: int) -> np.ndarray:
    if type(body) is not int or body < 0:
        raise ValueError
    return arrays[body]


def _decode_strings(body: Any, arrays: list[np.ndarray], depth: int) -> np.ndarray:
    if not (isinstance(body, list) and all(isinstance(item, str) for item in body)):
        raise ValueError
    if body and len(body) * max(map(len, body)) > 100 * sum(map(len, body)) + 10**6:
        raise ValueError  # NumPy gives every string the space of the longest
    return np.array(body, dtype=np.str_)


def _decode_objects(body: Any, arrays: list[np.ndarray], depth: int) -> np.ndarray:
    return np.array(_decode_strings(body, arrays, depth).tolist(), dtype=object)


def _decode_list(body: Any, arrays: list[np.ndarray], depth: int) -> list[Any]:
    return [_decode(item, arrays, depth) for item in _as_list(body)]


def _decode_pairs(body: Any, arrays: list[np.ndarray], depth: int) -> dict[Any, Any]:
    return {_decode(key, arrays, depth): _decode(item, arrays, depth) for key, item in _as_list(body)}


def _decode_float(body: Any, arrays: list[np.ndarray], depth: int) -> float:
    return {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}[body]


def _decode_record(body: Any, arrays: list[np.ndarray], depth: int) -> np.ndarray:
    columns = [(str(field), _decode(item, arrays, depth)) for field, item in _as_list(body)[:MOST_FIELDS]]
    if not (columns and all(isinstance(column, np.ndarray) and column.ndim == 1 for _, column in columns)):
        raise ValueError
    out = np.empty(columns[0][1].size, dtype=[(field, column.dtype) for field, column in columns])
    for field, column in columns:
        if column.shape != out.shape:
            raise ValueError
        out[field] = column
    return out


def _as_list(body: Any) -> list[Any]:
    if not isinstance(body, list):
        raise ValueError
    return body


_DECODERS = {
    "array": _decode_array,
    "strings": _decode_strings,
    "objects": _decode_objects,
    "list": _decode_list,
    "pairs": _decode_pairs,
    "float": _decode_float,
    "record": _decode_record,
}
