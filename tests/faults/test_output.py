"""Output that nobody takes: a command ends with its status and at most a line, never with a traceback."""

import os
import sys

import pytest
from fault_rows import row

from hingeline.cli import main


@pytest.fixture
def words(tmp_path):
    """Return a command that prints, and that leaves a model."""
    (tmp_path / "data.svm").write_text("+1 1:1\n-1 2:1\n" * 5)
    return ["train", str(tmp_path / "data.svm"), str(tmp_path / "model")]


@row("output-closed")
def test_no_standard_output_at_all(words, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", None)  # as Python has it after `hingeline ... >&-`
    assert main(words) == 0
    assert os.path.exists(words[-1])


@row("text-huge")
def test_data_that_would_need_more_memory_than_there_is(tmp_path, capsys):
    (tmp_path / "data.svm").write_text("+1 1:1\n-1 999999999999999999:1\n")
    assert main(["train", str(tmp_path / "data.svm"), str(tmp_path / "model")]) == 1
    error = capsys.readouterr().err
    assert "out of memory" in error
    assert len(error.splitlines()) == 1


@row("output-pipe")
@pytest.mark.skipif(sys.platform == "win32", reason="pipes break in another way there")
def test_a_reader_that_is_gone(words, monkeypatch, capsys):
    reader, writer = os.pipe()
    os.close(reader)  # as `hingeline ... | head -0`
    with os.fdopen(writer, "w") as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        assert main(words) == 1
    assert capsys.readouterr().err == ""
    assert os.path.exists(words[-1])


@row("output-full")
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
def test_standard_output_on_a_full_disk(words, monkeypatch, capsys):
    device = open("/dev/full", "w")  # noqa: SIM115 (closing it fails)
    monkeypatch.setattr(sys, "stdout", device)
    assert main(words) == 1
    assert "No space left" in capsys.readouterr().err
    assert os.path.exists(words[-1])
    with pytest.raises(OSError, match="No space left"):
        device.close()


@row("output-device")
@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="there are no such names")
def test_a_pipe_by_the_name_of_a_device(words, tmp_path, capfdbinary):
    read, write = os.pipe()
    assert main(["train", "-q", words[1], f"/dev/fd/{write}"]) == 0
    os.close(write)
    with os.fdopen(read, "rb") as file:
        assert file.read().startswith(b"solver_type")
