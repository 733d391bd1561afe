"""Tables and pictures of benchmarks are made from result files."""

from dataclasses import replace
from math import nan

import pytest

import render_benchmarks as render
from hingeline.bench.peers import Cell
from hingeline.bench.results import Results, Size


@pytest.fixture
def results():
    def cell(solver, status="ok", seconds=nan, C=1.0):
        return Cell("d", C, "hinge", solver, 1e-3, status, seconds, nan, nan, 15.0, 0.0, version="1.0")

    cells = [
        cell("auto", seconds=0.5),
        cell("sklearn", seconds=1.0),
        cell("liblinear", "capped"),
        cell("auto", seconds=20.4, C=100.0),
        cell("sklearn", "deadline", C=100.0),
        cell("liblinear", "skipped", C=100.0),
    ]
    where = {"processor": "abacus", "cores": 1, "python": "3.12", "numpy": "2"}
    found = Results(
        "hinge", False, "2026-01-31", where, ("hingeline bench peers",), {"d": Size(7, 2000, 3)}, tuple(cells)
    )
    return {"hinge": found, "default": replace(found, cells=tuple(c for c in cells if c.C == 1.0))}


@pytest.mark.parametrize("page", render.PAGES)
def test_the_pages_show_what_the_result_files_hold(page):
    text = (render.ROOT / page).read_text(encoding="utf-8")
    assert render.BLOCK.search(text)
    assert render.fill_in(text, render.load()) == text, "run tools/render_benchmarks.py"


def test_a_summary_names_the_best_of_the_others(results):
    row = render.summary_table(results).splitlines()[-1]
    assert (
        row
        == "| d | 7 x 2,000, 3 classes | **0.5** / 1 (scikit-learn) | - | **0.5** / 1 (scikit-learn) | **20** / > 15 |"
    )


def test_a_faster_peer_is_the_one_in_bold(results):
    slower = replace(
        results["hinge"],
        cells=tuple(replace(c, seconds=2.0) if c.solver == "auto" else c for c in results["hinge"].cells),
    )
    assert render.versus(slower, "d", 1.0) == "2 / **1** (scikit-learn)"


def test_of_those_that_were_late_the_one_that_ran_least_counts(results):
    *before, skipped = results["hinge"].cells
    late = replace(skipped, status="deadline", deadline=2.0)
    assert render.versus(replace(results["hinge"], cells=(*before, late)), "d", 100.0) == "**20** / > 2"


def test_nothing_is_in_bold_if_nobody_reaches_the_target(results):
    late = tuple(replace(c, status="deadline", deadline=15.0) for c in results["hinge"].cells)
    assert render.versus(replace(results["hinge"], cells=late), "d", 1.0) == "> 15 / > 15"


def test_the_full_table_has_every_cell(results):
    rows = render.full_table(results["hinge"]).splitlines()
    assert rows[0].split(" | ")[2:5] == ["hingeline", "scikit-learn", "LIBLINEAR"]
    assert rows[2].endswith("| 1 | **0.5** | 1 | capped | 2 |")
    assert rows[3].startswith("|  | 100 | **20** | > 15 | not run | > 0.74 |")


def test_the_setup_says_when_and_where(results):
    text = render.setup_text(results.values())
    assert "2026-01-31 (abacus, 1 cores, Python 3.12, NumPy 2)" in text
    assert "hingeline 1.0" in text


def test_pictures_are_drawn_with_and_without_late_cells(results):
    pytest.importorskip("matplotlib")
    figure = render.draw(results["hinge"])
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["hingeline", "scikit-learn", "LIBLINEAR"]
    figure.canvas.draw()
