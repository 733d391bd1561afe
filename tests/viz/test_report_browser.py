"""The report in a real browser: it draws, answers to pointer and keys, fits a phone, and asks nobody for anything."""

import json

import pytest
from browser import Browser, find_browser
from problems import classification
from runs import change, make_run, make_search

from hingeline import LinearSVC
from hingeline.estimators.per_class import PerClass
from hingeline.io.records.run_folder import read_run
from hingeline.viz import write_report

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">"
BOUNDS = "[data-chart=convergence] [data-part=bounds]"
PLOT = "[data-chart=convergence] [data-part=distance]"
SCORE, SECONDS = "[data-part=score]", "[data-part=seconds]"


@pytest.fixture(scope="module")
def browser():
    program = find_browser()
    if program is None:
        pytest.skip("no browser here: install chromium, or name one by HINGELINE_BROWSER")
    browser = Browser(program)
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run of three classes and a search, with names that would do harm as markup."""
    folder = make_search(make_run(tmp_path_factory.mktemp("report"), "many", "-s", "3", "--solver", "hybrid"))
    change(folder / "run.json", lambda run: run["machines"][0].update(label=HOSTILE))
    write_report(folder, folder / "report.html", feature_names=[f"{HOSTILE} {k}" for k in range(12)])
    return folder


@pytest.fixture
def page(browser, folder):
    browser.prefer("light")
    browser.open(folder / "report.html")
    yield browser
    assert not browser.complaints
    assert browser.requests == [(folder / "report.html").as_uri()]


def lines(page, plot=PLOT):
    return page.run(f"document.querySelectorAll('{plot} path.line').length")


def tip(page, plot=PLOT):
    """Return what is told of the point under the pointer, None where nothing is."""
    return page.run(f"(t => t.hidden ? null : t.textContent)(document.querySelector('{plot} .tip'))")


def axis(page, plot=PLOT):
    """Return the names of the axes: of x, then of y."""
    return page.run(f"[...document.querySelectorAll('{plot} svg > text')].slice(-2).map(t => t.textContent)")


def test_it_renders_all_it_was_given(page, folder):
    machines = read_run(folder)["machines"]
    assert lines(page, BOUNDS) == 2 * len(machines)
    assert page.run(f"document.querySelectorAll('{BOUNDS} path.dashed').length") == len(machines)
    assert lines(page) == len(machines)
    assert lines(page, SCORE) == 1 + 3  # the line, and the bars of three values of C
    assert page.run("document.title").startswith("Hinge, L2-regularised")
    shown = page.run("[...document.querySelectorAll('#certificate td:nth-of-type(3) data')].map(d => d.value)")
    assert sorted(map(float, shown)) == sorted(m["gap"] for m in machines)
    counts = page.run("[...document.querySelectorAll('.matrix td:not(.edge) data')].map(d => Number(d.value))")
    assert sum(counts) == 80


def test_pointing_at_a_line_tells_its_values(page, folder):
    assert tip(page) is None
    x, y = page.middle(PLOT)
    page.move(x, y)
    name, sweep, steps, *_ = tip(page).split("\n")
    machine = next(m for m in read_run(folder)["machines"] if f"class {m['label']}" == name)
    k = int(sweep.partition(",")[0].removeprefix("iteration ").replace(",", "")) - 1
    assert int(steps.removesuffix(" steps").replace(",", "")) == machine["history"]["steps"][k]
    assert page.run(f"document.querySelectorAll('{PLOT} circle.spot').length") == 1
    page.move(1, 1)
    assert tip(page) is None


def test_the_toggles_change_the_chart(page):
    assert axis(page, BOUNDS) == ["seconds", "objective, lower bound"]
    assert axis(page) == ["seconds", "relative gap"]
    page.click("[name=violation]")
    assert axis(page) == ["seconds", "relative gap, violation"]
    before = lines(page)
    page.click("[name=gap]")
    assert axis(page) == ["seconds", "violation"]
    assert lines(page) == before / 2
    page.click("[value=steps]")
    assert axis(page) == ["steps", "violation"]
    assert axis(page, BOUNDS)[0] == "steps"
    ticks = f"[...document.querySelectorAll('{PLOT} svg > text')].map(t => t.textContent).join()"
    logarithmic = page.run(ticks)
    page.click("[data-chart=convergence] [name=ylog]")
    assert page.run(ticks) != logarithmic
    page.run(
        "(s => { s.value = '1'; s.dispatchEvent(new Event('change', {bubbles: true})); })"
        "(document.querySelector('[name=problem]'))"
    )
    assert lines(page) == 1
    assert lines(page, BOUNDS) == 2
    page.click("[name=violation]")
    assert page.run(f"getComputedStyle(document.querySelector('{PLOT}')).display") == "none"
    page.click("[name=bounds]")
    assert page.run(f"getComputedStyle(document.querySelector('{BOUNDS}')).display") == "none"


def test_keys_walk_along_the_lines(page, folder):
    live = "document.querySelector('[data-chart=convergence] .live').textContent"
    page.run(f"document.querySelector('{PLOT}').focus()")
    page.press("Home")
    assert "iteration 1," in page.run(live)
    page.press("ArrowRight")
    assert "iteration 2," in page.run(live)
    first = page.run(live)
    page.press("ArrowDown")
    assert page.run(live).partition(",")[0] != first.partition(",")[0]
    page.press("End")
    page.press("Escape")
    assert tip(page) is None


def test_the_path_of_c_is_linked_and_marked(page, folder):
    x, y = page.middle(SCORE)
    page.move(x, y)
    told = tip(page, SCORE)
    assert told.startswith("C ")
    cells = {f"C {c['C']:g}": c for c in json.loads((folder / "path.json").read_text())["cells"]}
    assert f"accuracy {cells[told.splitlines()[0]]['mean']:g}" in told
    assert page.run(f"document.querySelectorAll('{SECONDS} circle.spot').length") == 1
    marks = page.run(f"[...document.querySelectorAll('{SCORE} text.mark-name')].map(t => t.textContent)")
    assert marks == ["best 1", "one SE 10"]
    page.click("[data-chart=c-path] [name=seconds]")
    assert page.run(f"getComputedStyle(document.querySelector('{SECONDS}')).display") == "none"
    page.click("[data-chart=c-path] [name=seconds]")
    assert lines(page, SECONDS) == 1


def test_light_and_dark(page):
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.run(ground)
    page.prefer("dark")
    dark = page.run(ground)
    assert dark != light
    page.click("#theme")
    assert page.run("document.documentElement.dataset.theme") == "light"
    assert page.run(ground) == light
    page.click("#theme")
    page.prefer("light")
    assert page.run(ground) == dark
    page.click("#theme")
    assert page.run(ground) == light


@pytest.mark.parametrize("width", [320, 390, 768])
def test_nothing_is_wider_than_a_phone(page, folder, width):
    page.open(folder / "report.html", width, 844, phone=True)
    assert page.run("document.documentElement.scrollWidth") <= width
    assert page.run("visualViewport.width") == width
    page.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert page.run("document.documentElement.scrollWidth") <= width
    overhang = "Math.max(...[...document.querySelectorAll('.plot text')].map(t => t.getBoundingClientRect().right))"
    assert page.run(overhang) <= width


def test_it_prints(page):
    assert page.pdf().startswith(b"%PDF")
    assert lines(page) > 0


def test_everything_has_a_name_for_those_who_do_not_see(page):
    unnamed = """[...document.querySelectorAll('.plot, [role=region], section, nav')]
        .filter(e => !(e.getAttribute('aria-label') || e.getAttribute('aria-labelledby'))).length"""
    assert page.run(unnamed) == 0
    assert page.run("document.querySelectorAll('figure details table').length") == 4
    assert page.run("[...document.querySelectorAll('input, select')].every(e => e.closest('label'))")


def test_ten_classes_fit_a_screen(browser, tmp_path):
    """The table of certificates is not clipped, and the engines stay whole words."""
    X, y = classification(300, 12, n_classes=10)
    model = LinearSVC(solver="hybrid", tol=1e-7).fit(X, y)
    model.per_class_ = PerClass({**model.per_class_, "solver": ["hybrid+newton"] * 10})
    write_report(model, tmp_path / "report.html")
    browser.open(tmp_path / "report.html", 1280, 900)
    table = "document.querySelector('#certificate .scroll')"
    assert browser.run(f"{table}.scrollWidth <= {table}.clientWidth")
    tile = "[...document.querySelectorAll('.glance div')].find(d => d.textContent.startsWith('engine'))"
    assert browser.run(f"{tile}.scrollWidth <= {tile}.clientWidth")
    assert browser.run(f"{tile}.querySelector('bdi').innerText") == "hybrid + newton"
