"""Compiled kernels on disk: one file per kernel and signature, named by a hash of everything it depends on.

numba's own cache keeps an index of the signatures of each kernel. Two processes that compile at the same time may give
one file to two signatures; a damaged file raises an exception or crashes the process; a folder that is full or
read-only ends a fit; and a source file that has not changed keeps its old kernels even if an update changes what they
inline. Here a file's name is a hash of the package's version, numba's version, the source and the signature. A checksum
and the full key in the file are compared before anything is loaded. Whatever goes wrong, the kernel is compiled
instead.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import tempfile
import warnings
import zlib
from collections.abc import Iterator
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import numba
from numba.core import config
from numba.core.caching import FunctionCache
from numba.core.compiler import CompileResult
from numba.core.runtime import rtsys
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from ..runtime.training_clock import begin_compiling
from ..version import __version__

CHECKSUM_BYTES = 4
_told = False  # one warning per process is enough
needed: list[tuple[str, Any]] = []  # kernels of this process by name and signature, in the order of their first calls


class KernelCache(FunctionCache):
    """The cache that numba asks for the compiled code of a function, instead of the one that ``cache=True`` makes."""

    def __init__(self, function: Any) -> None:
        self._py_func = function
        code = function.__code__
        self._source = Path(code.co_filename)
        self.name = f"{self._source.stem}.{function.__qualname__}".replace("<", "").replace(">", "")
        # The suffix tells a Python without the GIL, whose objects have another layout, from one with it.
        python = (sys.version_info[:2], EXTENSION_SUFFIXES[0])
        self._stamp = (__version__, numba.__version__, python, code.co_firstlineno)

    @property
    def cache_path(self) -> str:
        """The folder that is tried first."""
        return str(next(_folders(self._source)))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code compiled for ``sig``, None if there is none or it is damaged."""
        needed.append((self.name, sig))
        rtsys.initialize(target_context)
        key = self._index_key(sig, target_context.codegen())
        for folder in _folders(self._source):
            try:
                payload = _checked((folder / self._file_name(key)).read_bytes(), key)
                return CompileResult._rebuild(target_context, *payload)
            except Exception:  # missing, or damaged in whatever way: it is compiled and saved again
                continue
        begin_compiling()
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save compiled code in the first folder that takes it; a warning, once, if none does."""
        if data.lifted or data.library.has_dynamic_globals:
            return
        key = self._index_key(sig, data.codegen)
        text = dumps((key, data._reduce()))
        content = zlib.crc32(text).to_bytes(CHECKSUM_BYTES, "little") + text
        errors = []
        for folder in _folders(self._source):
            try:
                _write(folder, self._file_name(key), content)
                return
            except OSError as error:
                errors.append(error)
        _tell(errors[0])

    def flush(self) -> None:
        """Nothing to do: files of other sources have other names."""

    enable = disable = flush

    def _file_name(self, key: Any) -> str:
        everything = repr((self._stamp, _hash_of_file(self._source), key))
        return f"{self.name}-{hashlib.sha256(everything.encode()).hexdigest()[:32]}.nbc"


def _folders(source: Path) -> Iterator[Path]:
    """Yield the folders for the kernels of a source file, like numba's.

    Only the one that ``NUMBA_CACHE_DIR`` names; without it, the one beside the source, then the user's own.
    """
    parent = source.parent.absolute()
    name = f"{parent.name}_{hashlib.sha1(str(parent).encode()).hexdigest()}"
    if config.CACHE_DIR:
        yield Path(config.CACHE_DIR, name)
    else:
        yield parent / "__pycache__"
        yield Path(AppDirs(appname="numba", appauthor=False).user_cache_dir, name)


@cache
def _hash_of_file(source: Path) -> str:
    try:
        return hashlib.sha256(source.read_bytes()).hexdigest()
    except OSError:  # in an archive: the package's version must suffice
        return ""


def _checked(content: bytes, key: Any) -> Any:
    """Return what was saved for ``key``; raises ``ValueError`` if it is damaged or belongs to something else."""
    text = memoryview(content)[CHECKSUM_BYTES:]
    if zlib.crc32(text) != int.from_bytes(content[:CHECKSUM_BYTES], "little"):
        raise ValueError("the checksum is wrong")
    saved, payload = pickle.loads(text)
    if saved != key:
        raise ValueError("these are the kernels of another signature")
    return payload


def _write(folder: Path, name: str, content: bytes) -> None:
    """Write a file as a whole or not at all: another process may be reading or writing the same one."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor, part = tempfile.mkstemp(prefix=f"{name}.", suffix=".part", dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.chmod(part, 0o644)  # others may use what root compiled
        os.replace(part, folder / name)
    except BaseException:
        os.unlink(part)
        raise


def _tell(error: OSError) -> None:
    global _told
    if not _told:
        _told = True
        warnings.warn(
            f"Compiled kernels cannot be saved ({error}), so every process compiles them again. Free disk space, or "
            "set NUMBA_CACHE_DIR to a writable folder.",
            RuntimeWarning,
            stacklevel=2,
        )
