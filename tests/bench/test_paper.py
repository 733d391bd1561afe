import csv

import pytest

from hingeline.bench.paper import CS, EPS, SIZES, SOLVERS, Cell, PaperBench, paper_cells
from hingeline.bench.tables import paper_panels, paper_rows, write_csv


def test_the_papers_tables_are_complete():
    cells = paper_cells()
    assert set(cells) == {(name, eps, s, C) for name in SIZES for eps in EPS for s in SOLVERS[:2] for C in CS}
    assert cells["covtype", 0.01, "avsf", 1000.0].seconds == 6670.0
    assert cells["url", 0.001, "baseline", 0.01].steps == 8.27e7
    assert not cells["kdda", 0.01, "avsf", 1000.0].finished


def test_a_finished_cell_is_not_run_again(tiny, tmp_path, monkeypatch):
    bench = PaperBench(60.0, tmp_path / "out")
    assert bench.size(tiny) == (120, 15)
    first = [bench.cell(tiny, 0.01, solver, 1.0) for solver in SOLVERS]
    assert all(cell.finished and cell.seconds > 0.0 for cell in first)
    assert first[0].steps >= 120
    monkeypatch.setattr("hingeline.bench.training.Trainer.train", lambda *args: pytest.fail("ran again"))
    again = PaperBench(120.0, tmp_path / "out")
    assert [again.cell(tiny, 0.01, solver, 1.0) for solver in SOLVERS] == first
    assert again.store.n_kept == len(SOLVERS)


def test_the_deadline_ends_a_cell_and_more_time_runs_it_again(tiny, tmp_path):
    cell = PaperBench(1e-9, tmp_path).cell(tiny, 1e-3, "baseline", 1000.0)
    assert not cell.finished
    assert PaperBench(1e-9, tmp_path).cell(tiny, 1e-3, "baseline", 1000.0) == cell
    assert PaperBench(60.0, tmp_path).cell(tiny, 1e-3, "baseline", 1000.0).finished


def test_kernels_are_compiled_before_the_clock_starts(tiny, tmp_path, monkeypatch):
    warmed = []
    monkeypatch.setattr("hingeline.bench.solvers.Hingeline.warm_up", lambda self, task: warmed.append(self.engine))
    bench = PaperBench(60.0, tmp_path)
    for C in (0.1, 1.0):
        bench.cell(tiny, 0.1, "avsf", C)
    assert warmed == ["avsf"]


def test_means_over_seeds(tiny, tmp_path, monkeypatch):
    asked = []

    def train(self, dataset, solver, C, deadline, seed, **stop):
        asked.append(seed)
        late = {"finished": seed != 3, "gap": 0.01 * (4 - seed)}
        return {"seconds": 1.0 + seed, "steps": 100 * seed, **late}

    monkeypatch.setattr("hingeline.bench.training.Trainer.train", train)
    PaperBench(60.0, tmp_path).cell(tiny, 0.01, "avsf", 1.0)
    cell = PaperBench(60.0, tmp_path, seeds=3).cell(tiny, 0.01, "avsf", 1.0)
    assert (cell.seconds, cell.steps, cell.gap, cell.finished, cell.seeds) == (2.0, 100.0, 0.04, True, 3)
    assert asked == [0, 1, 2]  # the first one was there
    cell = PaperBench(60.0, tmp_path, seeds=10).cell(tiny, 0.01, "avsf", 1.0)
    assert (cell.seconds, cell.finished, cell.seeds) == (2.5, False, 4)
    assert asked == [0, 1, 2, 3]  # nothing is gained by the others


def make(solver, C, seconds, finished=True, name="covtype", eps=0.01):
    return Cell(name, eps, solver, C, seconds, 1e6, finished)


def test_rows_are_marked_as_in_the_paper():
    cells = [
        *(make("baseline", 1.0, 1234.5), make("baseline", 10.0, 60.0, False), make("baseline", 100.0, 60.0, False)),
        *(make("avsf", 1.0, 0.01234), make("avsf", 10.0, 5.0), make("avsf", 100.0, 60.0, False)),
    ]
    rows = paper_rows("covtype", {(cell.solver, cell.C): cell for cell in cells}, [1.0, 10.0, 100.0], 0.01)
    assert rows == [
        ["covtype", "baseline", "s", "1,234", "60*", "---"],
        ["", "", "steps", "1.00e+06", "", ""],
        ["", "avsf", "s", "0.0123", "5", "---"],
        ["", "", "steps", "1.00e+06", "1.00e+06", ""],
        ["", "paper's baseline", "s", "12.5", "69.5", "533"],
        ["", "", "steps", "3.38e+07", "1.80e+08", "1.37e+09"],
        ["", "paper's avsf", "s", "18.1", "98.4", "724"],
        ["", "", "steps", "3.43e+07", "1.88e+08", "1.50e+09"],
    ]


def test_the_papers_own_marks():
    rows = paper_rows("kddb", {}, [100.0, 1000.0], 0.01)
    assert rows[0] == ["kddb", "paper's baseline", "s", "932,000*", "---"]
    assert rows[2] == ["", "paper's avsf", "s", "166,000", "---"]


def test_stand_ins_have_no_row_of_the_paper():
    rows = paper_rows("nycflights", {("auto", 1.0): make("auto", 1.0, 2.0)}, [1.0], 0.01)
    assert [row[1] for row in rows] == ["auto", ""]


def test_csv_and_figure(tmp_path):
    cells = [make("avsf", C, C, eps=eps, finished=C < 10.0) for eps in EPS for C in (10.0, 1.0)]
    write_csv(tmp_path / "paper.csv", Cell, cells)
    with (tmp_path / "paper.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["eps"], row["C"], row["finished"]) for row in rows[:2]] == [
        ("0.01", "10.0", "False"),
        ("0.01", "1.0", "True"),
    ]
    (display,) = paper_panels(cells).values()
    assert display.C == [1.0, 10.0]
    assert display.capped == {"avsf, eps 0.01": [False, True], "avsf, eps 0.001": [False, True]}
    assert [style["linestyle"] for style in display.styles.values()] == ["-", "--"]
    assert {style["color"] for style in display.styles.values()} == {"tab:blue"}  # as in the paper
