"""svmlight text to a dataset, in one pass and in bounded memory."""

from __future__ import annotations

import os
from os import PathLike
from typing import Literal

import numpy as np

from ..text.streams import Progress
from ..text.svmlight import BLOCK_BYTES, iter_svmlight
from ..threads import usable_cores
from .folder import Description
from .writer import DatasetWriter

DEFAULT_MEMORY = 1 << 30
BYTES_PER_BYTE_OF_TEXT = 16  # at the most, while text is parsed and rows are written
SMALLEST_BLOCK = 1 << 14


def convert(
    source: str | PathLike[str],
    path: str | PathLike[str],
    *,
    memory: int = DEFAULT_MEMORY,
    zero_based: bool | Literal["auto"] = "auto",
    columns: int | None = None,
    force: bool = False,
    n_threads: int | None = None,
    progress: Progress | None = None,
) -> Description:
    """Convert a file in svmlight form into a dataset.

    Parameters
    ----------
    source : str or path
        Text, plain or compressed.
    path : str or path
        The folder to create; it appears when it is complete.
    memory : int
        Bytes that the data may take in memory at a time, whatever its size.
    zero_based : bool or "auto"
        Whether the text counts columns from 0; "auto": it does if a column 0 occurs.
    columns : int, optional
        Number of columns; default: the largest that occurs.
    force : bool
        Replace an existing dataset.
    n_threads : int, optional
        Threads that parse; default: one per core.
    progress : callable, optional
        Called with the bytes read and their total, None if that is not known.
    """
    base = 0 if zero_based is True else 1
    n_threads = n_threads or usable_cores()
    blocks_in_memory = 2 * n_threads + 4  # read ahead, parsed, waiting, being written
    block_bytes = min(max(memory // (blocks_in_memory * BYTES_PER_BYTE_OF_TEXT), SMALLEST_BLOCK), BLOCK_BYTES)
    with DatasetWriter(path, force=force, source=os.path.basename(source)) as writer:
        for block in iter_svmlight(
            source,
            dtype=np.float64,
            zero_based=zero_based,
            block_bytes=block_bytes,
            n_threads=n_threads,
            progress=progress,
        ):
            if base and block.indices.size and block.min_index == 0:
                base = 0
                writer.shift_columns(1)
            writer.append(block.labels, block.indptr, block.indices - base, block.values)
        return writer.commit(columns=columns, index_base=base)
