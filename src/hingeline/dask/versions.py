"""Workers of another version of this package are refused: they might compute something else."""

from __future__ import annotations

from distributed import Client

from ..version import __version__


def version_here() -> str:
    """Return the version of this package in the process that calls."""
    return __version__


def check_version(worker: str, version: object) -> None:
    """Raise if a worker's version is another one."""
    if version != __version__:
        raise RuntimeError(
            f"The worker {worker} has hingeline {version}, the client has {__version__}: install the same version on "
            "all workers, and restart them."
        )


def check_workers(client: Client) -> None:
    """Raise unless all workers have this version of the package."""
    found = client.run(version_here, on_error="return")
    for worker, version in found.items():
        check_version(worker, f"none ({version})" if isinstance(version, BaseException) else version)
