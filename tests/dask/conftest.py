"""A cluster of two worker processes, which all tests of this folder share."""

import pytest

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="session")
def cluster():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    """A client that is the current one."""
    with distributed.Client(cluster) as client:
        yield client
