import io

import pytest

from hingeline.cli import table
from hingeline.cli.table import LiveTable, PlainTable, make_table

HEADER, WIDTHS = ("C", "seconds"), (5, 9)


def test_plain_lines_are_aligned_and_rows_at_work_are_not_printed(capsys):
    with PlainTable(HEADER, WIDTHS) as t:
        t.show(["1", "..."])
        t.add(["1", "0.5"])
    assert capsys.readouterr().out.splitlines() == ["    C    seconds", "-----  ---------", "    1        0.5"]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_piped_output_is_plain():
    assert type(make_table(HEADER, WIDTHS)) is PlainTable


def test_a_terminal_gets_a_live_table(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with make_table(HEADER, WIDTHS) as t:
        assert type(t) is LiveTable
        t.show(["1", "..."])
        t.add(["1", "0.5"])
    drawn = terminal.getvalue()
    assert "..." in drawn
    assert "0.5" in drawn.split("seconds")[-1]
    assert "..." not in drawn.split("seconds")[-1]


def test_without_rich_a_terminal_gets_a_plain_table_and_advice(monkeypatch, capsys):
    def missing(*args):
        raise ModuleNotFoundError("rich")

    monkeypatch.setattr(table, "LiveTable", missing)
    monkeypatch.setattr("sys.stdout", Terminal())
    assert type(make_table(HEADER, WIDTHS)) is PlainTable
    assert "pip install rich" in capsys.readouterr().err


def test_a_row_must_fit_the_header():
    with pytest.raises(ValueError, match="zip"), PlainTable(HEADER, WIDTHS) as t:
        t.add(["1"])


def test_beside_json_there_is_no_table_in_a_pipe(capsys):
    with make_table(HEADER, WIDTHS, json=True) as shown:
        shown.add(["1", "2"])
    assert capsys.readouterr() == ("", "")
