import pytest
from bench.files import install_fake_peers, write_data

from hingeline.bench.datasets import Dataset


@pytest.fixture
def tiny(tmp_path):
    """Return a data set of a few rows."""
    write_data(tmp_path / "tiny.xz")
    return Dataset("tiny", tmp_path / "tiny.xz")


@pytest.fixture
def three(tmp_path):
    """Return a data set of three classes: 60, 20 and 40 rows."""
    write_data(tmp_path / "three", classes=3)
    return Dataset("three", tmp_path / "three")


@pytest.fixture
def fake_peers(tmp_path, monkeypatch):
    install_fake_peers(tmp_path / "peers", monkeypatch)
