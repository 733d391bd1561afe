"""What is drawn, and where nothing is."""

import io
import os
import subprocess
import sys
from math import nan
from time import perf_counter, sleep
from types import SimpleNamespace

import pytest

from hingeline import Progress
from hingeline.progress import CountBar, FitBar, StepsBar, counting, fitting, open_screen, screen
from hingeline.progress.bars import Bar, Line
from hingeline.progress.drawing import PlainLines
from hingeline.progress.notebook import NotebookLines
from hingeline.runtime.training_clock import begin_compiling, standing_still
from hingeline.solution import Traffic


class Terminal(io.StringIO):
    def isatty(self):
        return True


def make_terminal(monkeypatch):
    """A terminal that is drawn on at once. (No fixture: pytest sets the streams anew before a test is called.)"""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(screen, "QUIET_SECONDS", 0.0)
    monkeypatch.setattr(screen, "REDRAW_SECONDS", 0.001)
    monkeypatch.setenv("COLUMNS", "110")
    return stream


def wait_for(text, stream):
    until = perf_counter() + 20.0
    while text not in stream.getvalue():
        sleep(0.005)
        assert perf_counter() < until, stream.getvalue()


def test_compiling_is_said_while_someone_looks(monkeypatch):
    stream = make_terminal(monkeypatch)
    with open_screen() as shown, shown.showing(FitBar("LinearSVC", tol=1e-3)), standing_still():
        begin_compiling()
        wait_for("compiling, once", stream)


def progress(**change):
    return Progress(7, 700, 0.1, 0.25, nan, 250.0)._replace(**change)


def test_a_fit_tells_sweep_violation_and_gap_towards_their_goals():
    bar = FitBar("solve", tol=1e-3)
    assert bar.line().fraction is None
    bar(progress())
    title, fraction, text = bar.line()
    assert (title, fraction) == ("solve", 0.0)
    assert text.startswith("iteration 7 · violation 2.5e-01 → 1e-03 · ")
    bar(progress(n_iter=8, gap=0.5, times_tol=250.0**0.5))
    bar(progress(n_iter=9, times_tol=250.0**0.5))  # the gap that was computed last is kept
    title, fraction, text = bar.line()
    assert fraction == pytest.approx(0.5)
    assert text.startswith("iteration 9 · violation 2.5e-01 → 1e-03 · gap 5.0e-01 · ")
    bar = FitBar("solve", tol=1e-3, gap_tol=1e-2)
    bar(progress())
    assert bar.line().text.startswith("iteration 7 · violation 2.5e-01 · gap → 1e-02 · ")


def test_a_fit_on_a_cluster_tells_what_its_rounds_cost():
    bar = FitBar("LinearSVC", tol=1e-3)
    bar(progress(traffic=Traffic(0.25, 0.125, 1_500_000)))
    assert bar.line().text.startswith(
        "round 7 · violation 2.5e-01 → 1e-03 · computing 0.25 s, communicating 0.125 s, 1.5 MB · "
    )


def test_a_path_is_one_fit_after_the_other():
    bar = FitBar("path", n_problems=6)
    for _ in range(2):
        bar(progress(n_iter=8, gap=0.1, times_tol=1e6))
        assert bar.line().fraction == 0.0  # a new problem begins
        bar(progress(n_iter=9, times_tol=1.0))
        assert bar.line().fraction == 1.0
    assert bar.line().text.startswith("2 of 6 · iteration 9 · violation 2.5e-01 · gap 1.0e-01 · ")


def test_counts_and_steps():
    bar = CountBar("reading")
    assert bar.line() is None  # what has not begun is not shown
    bar(1500, 3000)
    bar.started -= 10.0
    assert bar.line()[:2] == ("reading", 0.5)
    assert bar.line().text == "1.5 kB of 3 kB · 150 B/s · 10 s, 10 s left"
    bar(1500, None)
    assert bar.line() == ("reading", None, "1.5 kB · 150 B/s · 10 s")
    steps = StepsBar("folds", 5, "folds")
    assert steps.line().text.startswith("0 of 5 folds · 0 s")
    steps.started -= 10.0
    steps.advance(2)
    assert steps.line() == ("folds", 0.4, "2 of 5 folds · 10 s, 15 s left")


def test_bars_are_drawn_and_taken_away(monkeypatch):
    terminal = make_terminal(monkeypatch)
    pytest.importorskip("rich")
    with fitting("solve", tol=1e-3) as bar:
        bar(progress())
        wait_for("iteration 7 · violation 2.5e-01 → 1e-03", terminal)
        print("said meanwhile", file=sys.stderr)
        wait_for("said meanwhile", terminal)
    after = terminal.getvalue().rpartition("\x1b[2K")[2]  # the line is erased
    assert after.replace("\x1b[?25h", "").strip() == ""  # and the cursor may be shown again
    assert screen._current is None


def test_screens_within_screens_share_one(monkeypatch):
    terminal = make_terminal(monkeypatch)
    with open_screen() as outer, counting("reading") as count:
        count(1, 2)
        with open_screen() as inner, fitting("inner") as bar:
            assert inner is outer
            bar(progress())
            wait_for("inner", terminal)
        assert outer.shows
        assert not outer._over.is_set()
    assert outer._over.is_set()


def test_short_work_stays_quiet(monkeypatch):
    terminal = make_terminal(monkeypatch)
    monkeypatch.setattr(screen, "QUIET_SECONDS", 1000.0)
    with fitting("solve") as bar:
        bar(progress())
    assert terminal.getvalue() == ""


def test_silent_when_piped_or_not_wanted(monkeypatch):
    make_terminal(monkeypatch)
    with open_screen(wanted=0) as nothing:
        assert not nothing.shows
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with open_screen() as nothing:
        assert not nothing.shows
    monkeypatch.setattr(sys, "stderr", None)
    with open_screen() as nothing:
        assert not nothing.shows


def test_silent_in_worker_processes(monkeypatch):
    make_terminal(monkeypatch)

    class Worker:
        name = "LokyProcess-1"

    monkeypatch.setattr(screen, "current_process", Worker)
    assert screen.drawing() is None


def test_without_rich_lines_are_printed_now_and_then(monkeypatch):
    terminal = make_terminal(monkeypatch)
    monkeypatch.setattr(screen, "find_spec", lambda name: None)
    with fitting("solve", tol=1e-3) as bar:
        bar(progress())
        wait_for("\n", terminal)
    assert terminal.getvalue().count("\n") == 1  # though there were many drawings
    assert terminal.getvalue().startswith("solve:   0% iteration 7 · violation 2.5e-01 to 1e-03")


def test_plain_lines_become_rarer(capsys, monkeypatch):
    now = 0.0
    monkeypatch.setattr("hingeline.progress.drawing.perf_counter", lambda: now)
    printed = []
    with PlainLines() as lines:
        while now < 1000.0:
            lines.draw([Line("a", None, "b")])
            printed.append(capsys.readouterr().err != "")
            now += 0.25
    assert printed[:9] == [True, *[False] * 7, True]
    assert 30 < sum(printed) < 60


def test_notebooks(monkeypatch):
    make_terminal(monkeypatch)

    class ZMQInteractiveShell:
        pass

    class IPython:
        get_ipython = staticmethod(ZMQInteractiveShell)

    assert not screen.in_notebook()
    monkeypatch.setitem(sys.modules, "IPython", IPython)
    assert screen.in_notebook()
    monkeypatch.setattr(sys, "stderr", io.StringIO())  # no terminal, but somebody looks
    assert screen.drawing() is not None
    missing = {"ipywidgets"}
    monkeypatch.setattr(screen, "find_spec", lambda name: None if name in missing else object())
    assert isinstance(screen.drawing(), NotebookLines)  # rich could not draw there


def test_a_notebook_shows_one_text_that_changes_and_goes(monkeypatch):
    shown = []

    class Output:
        def update(self, data, raw):
            shown.append(data)

    def display(data, raw, display_id):
        shown.append(data)
        return Output()

    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    with NotebookLines() as lines:
        lines.draw([])
        assert not shown
        lines.draw([Line("a", 0.5, "1 < 2")])
        lines.draw([Line("a", 1.0, "done"), Line("b", None, "c")])
    assert [data["text/plain"] for data in shown] == ["a:  50% 1 < 2", "a: 100% done\nb: c", ""]
    assert "1 &lt; 2" in shown[0]["text/html"]
    assert shown[-1]["text/html"] == ""


def test_a_bar_of_its_own_kind():
    assert Bar("working").line() == ("working", None, "0 s")


PRINTS = """
from threading import Event
from hingeline.progress import fitting, rich_drawing, screen

drawn = Event()

class Bars(rich_drawing.RichBars):
    def draw(self, lines):
        super().draw(lines)
        if lines:
            drawn.set()

rich_drawing.RichBars, screen.QUIET_SECONDS, screen.REDRAW_SECONDS = Bars, 0.0, 0.01
with fitting("solve"):
    assert drawn.wait(20.0)
    print("for the file")
"""


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_what_is_printed_into_a_file_arrives_there():
    pytest.importorskip("rich")
    import pty

    ours, theirs = pty.openpty()
    done = subprocess.run([sys.executable, "-c", PRINTS], stdout=subprocess.PIPE, stderr=theirs, text=True, check=True)
    os.close(theirs)
    assert done.stdout == "for the file\n"
    assert b"solve" in os.read(ours, 10_000)
    os.close(ours)
