"""zstd by the optional package ``zstandard``.

A file that is cut short is an error, as with the other compressions. (The package's own file objects take the end of
the bytes for the end of the data, even in the middle of a frame.)
"""

from __future__ import annotations

import io
from typing import Any

PIECE_BYTES = 1 << 12  # decompressed at once: a piece may become 32,000 times as long


def zstandard() -> Any:
    """Import the package."""
    try:
        import zstandard
    except ImportError:
        raise ValueError("zstd needs the package zstandard, which is not installed: pip install zstandard") from None
    return zstandard


class ZstdReader(io.RawIOBase):
    """The decompressed bytes of a file of one or more frames."""

    def __init__(self, file: Any) -> None:
        self.package = zstandard()
        self.file = file
        self.frame: Any = None  # the current one
        self.rest = b""  # compressed, behind the last frame
        self.ready = b""  # decompressed

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read up to ``len(buffer)`` bytes into ``buffer``; 0 at the end."""
        while not self.ready:
            piece = self.rest or self.file.read(PIECE_BYTES)
            if not piece:
                if self.frame is not None:
                    raise EOFError("the last frame is incomplete")
                return 0
            self.frame = self.frame or self.package.ZstdDecompressor().decompressobj()
            try:
                self.ready, self.rest = self.frame.decompress(piece), b""
            except self.package.ZstdError as error:
                raise EOFError(str(error)) from error
            if self.frame.eof:
                self.frame, self.rest = None, self.frame.unused_data
        count = min(len(buffer), len(self.ready))
        memoryview(buffer)[:count] = self.ready[:count]
        self.ready = self.ready[count:]
        return count


def zstd_writer(file: Any) -> Any:
    """Return a context manager that writes to ``file`` what is written to it, compressed."""
    return zstandard().ZstdCompressor().stream_writer(file, closefd=False)
