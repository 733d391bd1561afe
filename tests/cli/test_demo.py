import re
import signal
import sys
import time

import processes
import pytest

from hingeline.cli import demo, main

TINY = ["demo", "--rows", "200", "--cols", "400", "--c", "0.1", "10"]
NUMBER = r">?\d\S*"


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def table_rows(output):
    return [line.split() for line in output.splitlines() if re.match(r"\s*[\d.]+\s", line)]


def test_prints_a_table_and_saves_a_plot(capsys, tmp_path):
    assert main([*TINY, "--out", "plot.png"]) == 0
    output = capsys.readouterr().out
    rows = table_rows(output)
    assert [row[0] for row in rows] == ["0.1", "10"]
    for row in rows:
        assert len(row) == len(demo.HEADER)
        assert all(re.fullmatch(NUMBER, cell) for cell in row)
        assert float(row[2]) <= 1.05e-3  # hingeline's gap, printed with two digits
        assert 0.0 <= float(row[6]) < 1.0  # scikit-learn's
    assert "plot saved to plot.png" in output
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_eps_is_the_papers_criterion(capsys):
    assert main([*TINY, "--no-plot", "--eps", "0.5"]) == 0
    assert "eps 0.5" in capsys.readouterr().out


def test_no_plot_writes_nothing(tmp_path):
    assert main([*TINY, "--no-plot"]) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_capped_training_is_marked(capsys):
    arguments = ["demo", "--rows", "2000", "--cols", "4000", "--c", "1000", "--gap", "1e-9", "--max-time", "0.001"]
    assert main([*arguments, "--no-plot"]) == 0
    output = capsys.readouterr().out
    (row,) = table_rows(output)
    assert row[1].startswith(">")
    assert row[3].startswith(">")
    assert "stopped after 0.001 s" in output


def test_scikit_learn_is_judged_by_the_certified_bound(capsys):
    """At a large C its limit of iterations ends it far from the optimum; hingeline is where it was told to go."""
    assert main(["demo", "--rows", "1000", "--cols", "300", "--c", "1000", "--no-plot"]) == 0
    output = capsys.readouterr().out
    (row,) = table_rows(output)
    assert row[5].startswith(">")
    assert float(row[6]) > float(row[2])
    assert "stopped by its default max_iter" in output


def test_without_matplotlib_there_is_a_table_and_advice(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("hingeline.cli.plots.find_spec", lambda name: None)
    assert main(TINY) == 0
    captured = capsys.readouterr()
    assert len(table_rows(captured.out)) == 2
    assert "pip install matplotlib" in captured.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("out", "complaint"), [("plot.xyz", "unknown kind of picture"), ("missing/plot.png", "does not exist")]
)
def test_a_plot_that_cannot_be_saved_is_told_before_training(out, complaint, capsys):
    assert main([*TINY, "--out", out]) == 1
    captured = capsys.readouterr()
    assert complaint in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


@pytest.mark.parametrize(
    "wrong",
    [
        ["--rows", "0"],
        ["--rows", "many"],
        ["--c", "-1"],
        ["--c", "nan"],
        ["--seed", "-1"],
        ["--gap", "0"],
        ["--gap", "1", "--eps", "1"],
    ],
)
def test_wrong_usage(wrong, capsys):
    with pytest.raises(SystemExit) as exit:
        main(["demo", *wrong])
    assert exit.value.code == 2
    assert "usage: hingeline demo" in capsys.readouterr().err


def test_in_a_process_of_its_own(tmp_path):
    command = [sys.executable, "-m", "hingeline", *TINY]
    done = processes.run(command)
    assert done.returncode == 0
    assert len(table_rows(done.stdout)) == 2
    assert done.stdout.isascii()  # plain text when piped
    assert done.stderr == ""
    assert (tmp_path / "hingeline-demo.png").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for a single process")
def test_ctrl_c_during_training_ends_it_with_130():
    arguments = ["demo", "--no-plot", "--rows", "5000", "--cols", "15000", "--c", "1000", "--gap", "1e-15"]
    command = [sys.executable, "-m", "hingeline", *arguments]
    with processes.started(command) as process:
        while not process.stdout.readline().startswith("---"):
            assert process.poll() is None
        time.sleep(0.3)  # well into the first training
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=10)
    assert error == "interrupted\n"
    assert process.returncode == 130
