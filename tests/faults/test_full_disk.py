"""A disk that is full while something is written: an error, what was there stays, and no parts are left behind."""

import shutil
from contextlib import contextmanager

import numpy as np
import pytest
from fault_rows import rows_of
from problems import csr

from hingeline import LinearSVC
from hingeline.cli import main
from hingeline.io import dump_svmlight, save_model, write_dataset

resource = pytest.importorskip("resource", reason="the size of files cannot be limited on this system")

ROOM = 8_192  # bytes for a file; each of the files below is larger
RNG = np.random.default_rng(0)
X, Y = csr(RNG.normal(size=(40, 1500)) * (RNG.random((40, 1500)) < 0.5)), np.arange(40) % 2


@contextmanager
def little_room(room=ROOM):
    """Let no file grow beyond some size: to the writer it looks like a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture(scope="module")
def model():
    return LinearSVC(max_iter=1, tol=1e9).fit(X, Y)


WRITERS = {
    "model: native": lambda model, path: save_model(model, path),
    "model: liblinear": lambda model, path: save_model(model, path, format="liblinear"),
    "text: plain": lambda model, path: dump_svmlight(X, Y, path),
    "text: compressed": lambda model, path: dump_svmlight(X, Y, path.with_suffix(".gz")),
    "dataset": lambda model, path: write_dataset(path, X, Y, force=True),
    "dataset: labels": lambda model, path: write_dataset(path, np.eye(2000, 1), np.arange(2000.0), force=True),
}


@rows_of("disk", WRITERS)
@pytest.mark.parametrize("name", WRITERS)
def test_functions(name, model, tmp_path):
    write, target = WRITERS[name], tmp_path / "target"
    (tmp_path / "before").mkdir()
    write(model, tmp_path / "before" / "target")  # compiles what it needs
    shutil.rmtree(tmp_path / "before")
    for room in (ROOM, 64, 0):
        with little_room(room), pytest.raises(OSError, match="File too large"):
            write(model, target)
        assert list(tmp_path.iterdir()) == []
    write(model, target)
    before = contents(tmp_path)
    with little_room(), pytest.raises(OSError, match="File too large"):
        write(model, target)
    assert contents(tmp_path) == before


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


COMMANDS = {
    "train": ["train", "-s", "1", "-q", "data.svm", "target"],
    "checkpoint": ["train", "-s", "3", "-q", "--checkpoint", "target", "data.svm", "model"],
    "convert": ["convert", "data.svm", "target"],
    "predict": ["predict", "-q", "long.svm", "a.model", "target"],
}


@rows_of("disk", COMMANDS)
@pytest.mark.parametrize("name", COMMANDS)
def test_commands(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    dump_svmlight(X, Y, "data.svm")
    if name == "predict":
        (tmp_path / "long.svm").write_bytes(b"1 1:1\n" * 10_000)
        (tmp_path / "a.model").write_bytes(b"solver_type L2R_LR\nnr_class 2\nlabel 1 2\nnr_feature 1\nbias -1\nw\n1\n")
    if name == "checkpoint":  # one variable per row
        (tmp_path / "data.svm").write_bytes(b"1 1:1\n-1 1:0.5 2:1\n" * 2000)
    before = sorted(path.name for path in tmp_path.iterdir())
    assert main(COMMANDS[name]) == 0  # all is compiled now
    for path in tmp_path.iterdir():
        if path.name not in before:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for room in (ROOM, 0):
        with little_room(room):
            assert main(COMMANDS[name]) == 1
        assert "File too large" in capsys.readouterr().err
        left = {path.name for path in tmp_path.iterdir()} - set(before)
        assert left == ({"model"} if name == "checkpoint" and room else set())  # a small model has room enough
        (tmp_path / "model").unlink(missing_ok=True)
