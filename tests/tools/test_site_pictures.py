"""The site shows pictures where pages ask for them."""

import re
from types import SimpleNamespace

import pytest

import site_pictures as pictures
from render_benchmarks import ROOT

PAGES = sorted((ROOT / "docs").glob("*.md"))


def marks():
    return [mark for page in PAGES for mark in pictures.MARK.finditer(page.read_text(encoding="utf-8"))]


def test_pages_ask_for_pictures_that_exist_and_every_one_is_shown():
    wanted = {mark[2] for mark in marks() if mark[1] == "picture"}
    assert wanted == pictures.PICTURES.keys()
    assert all(mark[3] for mark in marks()), "every picture is described, for those who do not see it"


@pytest.mark.parametrize("name", ["bench_hinge", "bench_default", "weights", "path"])
def test_pictures_are_drawn(name, tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    pictures.PICTURES[name]().savefig(tmp_path / "x.png")
    pyplot.close("all")
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("drawn", "shown"),
    [(True, r"!\[A path\]\(pictures/path\.png\)\n<iframe .*report\.html.*An example.*"), (False, r"\n")],
)
def test_marks_become_pictures(drawn, shown):
    app = SimpleNamespace(config=SimpleNamespace(draw_pictures=drawn))
    source = ["<!-- picture: path: A path -->\n<!-- report: An example -->"]
    pictures.show(app, "page", source)
    assert re.fullmatch(shown, source[0])


def test_the_report_is_written(tmp_path):
    pictures.write_report(tmp_path / "report.html")
    assert "Film reviews" in (tmp_path / "report.html").read_text(encoding="utf-8")
