"""Bytes from a path or a file object, plain or compressed, in blocks of whole lines.

Compression is recognised by the first bytes, not by the name: gzip, bzip2, xz and, with the package ``zstandard``,
zstd. Files are read rather than mapped: if another program shortens a mapped file, this process dies; mapped pages
count as memory; and reading costs little beside parsing.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from selectors import EVENT_READ, DefaultSelector
from typing import Any

from .zstd import ZstdReader, zstd_writer

Stream = io.RawIOBase | io.BufferedIOBase
Progress = Callable[[int, "int | None"], None]  # bytes of the file read so far, and its size if known

LONGEST_MAGIC = 6  # bytes by which a compression is recognised
READ_BYTES = 1 << 16  # compressed bytes that are read at once


class DamagedFile(ValueError):
    """A file whose bytes cannot be read as text, or cannot be decompressed."""


def _wait_for(file: Any) -> None:
    """Return when a file that does not block has something to give, or has ended."""
    try:
        with DefaultSelector() as selector:
            selector.register(file, EVENT_READ)
            selector.select()
    except (ValueError, OSError) as error:
        what = f"the file gives nothing yet, and cannot be waited for ({error}): open it in blocking mode."
        raise DamagedFile(what) from error


class Source(io.RawIOBase):
    """The bytes of a file as they are on disk: counted, and with the first ones known before they are read."""

    def __init__(self, file: Any, size: int | None) -> None:
        self.file = file
        self.size = size
        self.done = 0
        self.start = b""
        while len(self.start) < LONGEST_MAGIC and (piece := self._given(file.read, LONGEST_MAGIC - len(self.start))):
            if not isinstance(piece, bytes):
                raise DamagedFile(f"the file gives {type(piece).__name__}, not bytes: open it in binary mode ('rb').")
            self.start += piece

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read up to ``len(buffer)`` bytes into ``buffer``."""
        view = memoryview(buffer)
        if self.start:
            piece, self.start = self.start[: len(view)], self.start[len(view) :]
            view[: len(piece)] = piece
            count = len(piece)
        elif hasattr(self.file, "readinto"):
            count = self._given(self.file.readinto, view)
        else:
            piece = self._given(self.file.read, len(view))
            view[: len(piece)] = piece
            count = len(piece)
        self.done += count
        return count

    def _given(self, take: Callable[[Any], Any], what: Any) -> Any:
        """Return what the file gives. One that does not block gives None if it has to be waited for."""
        while (given := take(what)) is None:
            _wait_for(self.file)
        return given


# How to open a compressed file: by its first bytes for reading, by the end of its name for writing.
DECOMPRESSORS: dict[bytes, Callable[[Any], Stream]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file, mode="rb"),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
    b"\x28\xb5\x2f\xfd": ZstdReader,
}
COMPRESSORS: dict[str, Callable[[Any], Any]] = {
    ".gz": lambda file: gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0),
    ".bz2": lambda file: bz2.BZ2File(file, "wb"),
    ".xz": lambda file: lzma.LZMAFile(file, "wb"),  # noqa: SIM115 (its caller's with statement closes it)
    ".zst": zstd_writer,
}


def name_of(source: Any) -> str:
    """Return the name of a path or file object in error messages."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else f"<{type(source).__name__}>"


@contextmanager
def open_source(source: Any) -> Iterator[tuple[Source, Stream, bool]]:
    """Open a path, or take a file object as it is; yield the bytes on disk, the text, and whether it is compressed."""
    own = isinstance(source, str | bytes | os.PathLike)
    if not own and not hasattr(source, "read"):
        raise TypeError(f"expected a path or a file object opened in binary mode, got {type(source).__name__}.")
    file = open(source, "rb", buffering=0) if own else source  # noqa: SIM115 (closed below, if it is ours)
    try:
        raw = Source(file, _size(file))
        for magic, decompressor in DECOMPRESSORS.items():
            if raw.start.startswith(magic):
                buffered = io.BufferedReader(raw, READ_BYTES)
                yield raw, decompressor(buffered), True
                return
        yield raw, raw, False
    finally:
        if own:
            file.close()


def _size(file: Any) -> int | None:
    """Return the number of bytes from here to the end of a file; None if it is unknown."""
    if not isinstance(getattr(file, "raw", file), io.FileIO):  # GzipFile and its like report another file's size
        return None
    try:
        return os.fstat(file.fileno()).st_size - file.tell() or None
    except OSError:  # a pipe
        return None


def line_blocks(stream: Stream, block_bytes: int, spare: int) -> Generator[tuple[bytearray, int]]:
    """Yield buffers, and how many bytes of whole lines each of them begins with; ``spare`` bytes or more follow.

    If the last line of a file has no line feed, one is added. A line longer than a block makes its block longer.
    """
    rest, size = b"", block_bytes
    while True:
        buffer = bytearray(size + spare + 1)
        buffer[: len(rest)] = rest
        filled, ended = len(rest), False
        with memoryview(buffer) as view:
            while filled < size and not ended:
                count = _read(stream, view[filled:size])
                filled += count
                ended = count == 0
        if ended:
            if filled and buffer[filled - 1] != 10:
                buffer[filled] = 10
                filled += 1
            if filled:
                yield buffer, filled
            return
        end = buffer.rfind(b"\n", len(rest), filled) + 1
        rest = bytes(memoryview(buffer)[end:filled])
        size = max(block_bytes, 2 * len(rest))
        if end:
            yield buffer, end


def _read(stream: Stream, view: memoryview) -> int:
    try:
        return stream.readinto(view) or 0
    except (EOFError, lzma.LZMAError, zlib.error) as error:
        raise DamagedFile(f"the compressed data is damaged or cut short ({error}): get the file again.") from error
    except OSError as error:
        if error.errno is not None:
            raise
        raise DamagedFile(f"the compressed data is damaged ({error}): get the file again.") from error
