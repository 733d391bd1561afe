"""Refuses workers with another version of this package, since their results might differ."""

from __future__ import annotations

from distributed import Client

from ..version import __version__


def version_here() -> str:
    """Return the version of this package in the process that calls."""
    return __version__


def check_version(worker: str, version: object) -> None:
    """Raise if a worker has another version."""
    if version != __version__:
        raise RuntimeError(
            f"Worker {worker} has hingeline {version}, but the client has {__version__}: install the same version on "
            "all workers and restart them."
        )


def check_workers(client: Client) -> None:
    """Raise unless all workers have this version of the package; one that is just lost has none to compare."""
    found = client.run(version_here, on_error="return")
    for worker, version in found.items():
        if isinstance(version, OSError):  # its connection has broken
            continue
        check_version(worker, f"none ({version})" if isinstance(version, BaseException) else version)
