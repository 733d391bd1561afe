"""What fits into the memory of a device."""

from __future__ import annotations

from .namespace import Place

SHARE = 0.6  # fraction of the free memory that may be taken
UNKNOWN = 1 << 31  # bytes that are assumed to be free if the library cannot tell


def free_bytes(place: Place) -> int:
    """Return the free memory of a device; a guess if its library cannot tell."""
    if place.is_torch_cuda:
        import torch

        held = torch.cuda.memory_reserved(place.device) - torch.cuda.memory_allocated(place.device)
        return int(torch.cuda.mem_get_info(place.device)[0] + held)
    if place.xp.__name__.endswith("cupy"):
        import cupy

        return int(cupy.cuda.Device(place.device).mem_info[0])
    return UNKNOWN


def largest_batch(place: Place, n_rows: int, vectors: int, others: int = 0) -> int:
    """Return how many problems of ``n_rows`` fit; raises if none does.

    Each has this many ``vectors`` with one entry per row, and ``others`` more numbers, all of float64.
    """
    room, each = SHARE * free_bytes(place), 8 * (n_rows * vectors + others)
    if room < each:
        raise MemoryError(
            f"{n_rows:,} rows need {each / 1e9:.1f} GB on {place.name} besides X, but only {room / 1e9:.1f} GB are "
            f"available: train on at most {max(0, int((room / 8 - others) / vectors)):,} rows, or on the CPU."
        )
    return int(room // each)
