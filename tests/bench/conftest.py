import pytest
from bench.files import install_fake_peers, write_data

from hingeline.bench.datasets import Dataset


@pytest.fixture
def tiny(tmp_path):
    """Return a data set of a few rows."""
    write_data(tmp_path / "tiny.xz")
    return Dataset("tiny", tmp_path / "tiny.xz")


@pytest.fixture
def fake_peers(tmp_path, monkeypatch):
    install_fake_peers(tmp_path / "peers", monkeypatch)
