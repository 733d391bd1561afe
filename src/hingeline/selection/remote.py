"""The fits of a search on the workers of a Dask cluster, if joblib's backend is Dask's.

``with joblib.parallel_config("dask")`` says so. Rows are sent to each worker once, and a task is one fit of a fold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from joblib.parallel import get_active_backend

from ..solvers.stop import Stop
from .start import Reached
from .study import Part, Study, part_of, walk_of


@dataclass(frozen=True)
class Fit:
    """One fit of a fold: which problem of which fold, for which C, and where it starts from."""

    chain: int
    C: float
    stop: Stop
    reached: Reached | None


class Remote:
    """Does the fits of a study on a cluster.

    Parameters
    ----------
    client : distributed.Client
    study : Study
    """

    def __init__(self, client: Any, study: Study) -> None:
        self._client, self._tasks = client, set[Any]()
        # What scores a fold stays here, with X as it was given.
        self._study = client.scatter(replace(study, score=_no_score), broadcast=True, hash=False)

    def part(self, fit: Fit) -> Part:
        """Return what a fit gives to its cell; waits for it."""
        name = f"hingeline-fit-{fit.chain}-C-{fit.C:g}-{uuid4().hex[:8]}"
        task = self._client.submit(do_fit, self._study, fit, key=name, pure=False)
        self._tasks.add(task)
        try:
            part: Part = task.result()
            return part
        finally:
            self._tasks.discard(task)

    def cancel(self) -> None:
        """Give up all fits that are not done."""
        self._client.cancel(list(self._tasks))


def do_fit(study: Study, fit: Fit) -> Part:
    """Do a fit, on a worker."""
    return part_of(study, fit.chain, walk_of(study, fit.chain, stop=fit.stop, reached=fit.reached), fit.C)


def remote_of(study: Study) -> Remote | None:
    """Return where the fits of a study run, if that is a cluster; None if they run here."""
    backend = get_active_backend()[0]
    if type(backend).__name__ != "DaskDistributedBackend" or study.data.blocks is not None:
        return None
    return Remote(backend.client, study)


def _no_score(*args: Any) -> float:
    raise RuntimeError("folds are scored where the search runs.")
