"""A cluster of two worker processes, which all tests of this folder share."""

from pathlib import Path

import pytest

distributed = pytest.importorskip("distributed")
PRELOAD = str(Path(__file__).resolve().parent / "taking_turns.py")


@pytest.fixture(scope="session")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", preload=[PRELOAD]
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    """A client that is the current one."""
    with distributed.Client(cluster) as client:
        yield client
