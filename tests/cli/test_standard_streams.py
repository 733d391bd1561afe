"""``-`` and the names that shells give to pipes, for data, models and output."""

import io
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from fault_rows import row

from hingeline.cli import main
from hingeline.io.models.liblinear_file import LinearModel, read_model, write_model

MODEL = LinearModel(0, (1, -1), 2, 1.0, np.array([[1.0], [-2.0], [0.5]]))
ROWS = "1 1:1 2:1\n-1 2:1 7:5\n1 1:3\n"
PREDICTED = "-1\n-1\n1\n"
ACCURACY = "Accuracy = 66.6667% (2/3)\n"

needs_bash = pytest.mark.skipif(not (os.path.exists("/dev/fd") and shutil.which("bash")), reason="no such shell")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_model(MODEL, "model")
    (tmp_path / "rows").write_text(ROWS)
    return tmp_path


def feed(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


def test_a_model_from_standard_input(files, monkeypatch, capsys):
    feed(monkeypatch, (files / "model").read_bytes())
    assert main(["predict", "rows", "-", "out"]) == 0
    assert capsys.readouterr().out == ACCURACY
    assert (files / "out").read_text() == PREDICTED


def test_standard_input_is_read_once(files, capsys):
    with pytest.raises(SystemExit) as exit:
        main(["predict", "-", "-", "out"])
    assert exit.value.code == 2
    assert "only one of DATA and MODEL" in capsys.readouterr().err


def test_a_model_to_standard_output(files, capfdbinary):
    assert main(["train", "-s", "0", "rows", "-"]) == 0
    captured = capfdbinary.readouterr()
    (files / "from-stdout").write_bytes(captured.out)
    assert read_model("from-stdout").labels == (1, -1)
    assert b"gap" in captured.err
    assert not (files / "-").exists()


@needs_bash
@row("output-append")
def test_appending_keeps_what_is_there(files):
    """/dev/stdout is the file behind ``>> log``: it is neither replaced nor emptied, and the accuracy comes last."""
    run = f"{sys.executable} -m hingeline predict rows model /dev/stdout"
    subprocess.run(["bash", "-c", f"echo before > log; {run} >> log; {run} > fresh"], check=True)
    assert (files / "log").read_text() == f"before\n{PREDICTED}{ACCURACY}"
    assert (files / "fresh").read_text() == PREDICTED + ACCURACY


@needs_bash
def test_process_substitution(files):
    script = (
        f"{sys.executable} -m hingeline predict <(cat rows) <(cat model) >(cat > out) && while ! [ -s out ]; do :; done"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == ACCURACY
    assert (files / "out").read_text() == PREDICTED
