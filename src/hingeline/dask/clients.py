"""Which cluster does the work: that of the given client, the current one, or a new local one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from distributed import Client, Future, LocalCluster, wait

from ..io.threads import usable_cores


def current_client(client: Client | None = None) -> Client | None:
    """Return ``client``, or the current client if it is None; None if there is none."""
    if client is not None:
        return client
    try:
        return Client.current()
    except ValueError:
        return None


@contextmanager
def some_client(client: Client | None = None) -> Iterator[tuple[Client, bool]]:
    """Yield a client, made the current one, and whether its cluster was started here and will be closed again.

    Such a cluster has one worker per core, all in this process: they share its memory, so nothing is copied, and
    kernels do not hold the GIL.
    """
    found = current_client(client)
    if found is not None:
        with found.as_current():
            yield found, False
        return
    with (
        LocalCluster(
            n_workers=usable_cores(), threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster, set_as_default=False) as own,
        own.as_current(),
    ):
        yield own, True


def submit(client: Client, name: str, function: Callable[..., Any], *args: Any) -> Future[Any]:
    """Return the future of ``function(*args)``; Dask's dashboard shows it as ``hingeline-<name>``."""
    return client.submit(function, *args, key=f"hingeline-{name}-{uuid4().hex}", pure=False)


def raise_first_error(client: Client, tasks: Sequence[Future[Any]], last: Sequence[Future[Any]]) -> None:
    """Wait for ``last``, which depend on ``tasks``; if any of these has failed, raise the error of the first."""
    with client.as_current():
        wait(last)
    for task in tasks:
        if task.status == "error":
            task.result()
