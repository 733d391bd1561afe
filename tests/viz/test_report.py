"""The report from Python: what it tells of estimators, and that nothing from outside becomes markup."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from runs import change, make_run, make_search
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from svmlight_files import make_rows

from hingeline import LinearSVC, LinearSVCCV, LinearSVR, LogisticRegression, OneClassSVM
from hingeline.io import load_model, save_model
from hingeline.viz import WeightsDisplay, write_report
from hingeline.viz.report.convergence import thinned
from hingeline.viz.report.features import top
from hingeline.viz.report.markup import json_block, short

HOSTILE = [
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "\"'><b>&amp;</b>",
    "]]><!--",
    "\u202egnirts \u2028 \x00 \x1b[31m",
    "${title} $main {0}",
    "x" * 5000,
]
ELEMENTS = set(
    [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "a",
        "header",
        "div",
        "p",
        "button",
        "h1",
        "time",
        "strong",
        "span",
        "dl",
        "dt",
        "dd",
        "nav",
        "main",
        "noscript",
        "section",
        "h2",
        "form",
        "fieldset",
        "legend",
        "label",
        "input",
        "i",
        "select",
        "option",
        "figure",
        "figcaption",
        "details",
        "summary",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "small",
        "bdi",
        "data",
        "svg",
        "rect",
        "pre",
        "code",
        "footer",
        "script",
    ]
)


class Page(HTMLParser):
    """The elements, the text and the JSON of a page."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.source = path.read_text(encoding="utf-8")
        self.elements, self.text, self.open = [], [], None
        self.feed(self.source)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.open = (tag, dict(attributes).get("id"))

    def handle_data(self, data):
        if self.open == ("script", "report-data"):
            self.json = json.loads(data)
            self.open = None
        else:
            self.text.append(data)

    def named(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def written(tmp_path, source, **options):
    write_report(source, tmp_path / "report.html", **options)
    return Page(tmp_path / "report.html")


def check_harmless(page):
    """No element, attribute or address is there that the program does not write itself."""
    assert {name for name, _ in page.elements} <= ELEMENTS
    assert len(page.named("script")) == 2
    assert not any(key.startswith("on") or key in ("src", "style") for _, a in page.elements for key in a)
    assert all(a["href"].startswith("#") for a in page.named("a"))
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", page.source)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_names_from_outside_stay_text(tmp_path, text):
    folder = make_search(make_run(tmp_path / text[:3].strip("<>/\"'$]\u202e{"), "many", "-s", "3"))

    def edit(run):
        run.update(command=text, title=text, created=text)
        run["settings"][text] = text
        run["data"].update(name=text, values=text, labels=[{"label": text, "rows": 3}])
        run["machines"][0].update(label=text, solver=text, stop_reason=text)
        run["evaluation"].update(data=text, labels=[text, "b", "c"])
        run["environment"][text] = text

    change(folder / "run.json", edit)
    change(
        folder / "path.json", lambda d: d.update(dict.fromkeys(("command", "data", "loss", "solver", "scoring"), text))
    )
    page = written(tmp_path, folder, feature_names=[text] * 12, title=text)
    check_harmless(page)
    shown = text.replace("\x00", "\ufffd").replace("\x1b", "\ufffd")
    assert shown in "".join(page.text)  # the command, which is never cut
    assert (
        page.json["convergence"]["problems"][-1]["name"] == text
        or page.json["convergence"]["problems"][0]["name"] == text
    )
    assert page.json["path"]["scoring"] == text
    assert "<" not in page.source.partition('id="report-data">')[2].partition("</script>")[0]


def test_undecodable_paths_are_written(tmp_path):
    folder = make_run(tmp_path)
    change(folder / "run.json", lambda run: run["data"].update(name="caf\udce9"))
    assert "caf\ufffd" in "".join(written(tmp_path, folder).text)


def test_the_policy_allows_this_script_alone(tmp_path):
    page = written(tmp_path, make_search(tmp_path / "s"))
    policy = next(a["content"] for a in page.named("meta") if a.get("http-equiv"))
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy


def test_an_estimator_is_told_of_with_its_own_values(tmp_path):
    X, y = make_rows("many")
    labels = np.array(["red", "green", "<blue>"])[np.unique(y, return_inverse=True)[1]]
    svc = LinearSVC(loss="hinge", C=3.0, gap_tol=1e-4, solver="hybrid").fit(X, labels)
    page = written(tmp_path, svc, data=(X, labels))
    check_harmless(page)
    values = {a["value"] for a in page.named("data")}
    for column in ("objective", "dual_objective", "duality_gap", "kkt_violation", "fit_time"):
        assert {repr(v) for v in svc.per_class_[column].tolist()} <= values, column
    assert repr(svc.score(X, labels)) in values
    assert repr(float(svc.coef_.max())) in values
    text = "".join(page.text)
    assert "from hingeline import LinearSVC\n\nLinearSVC(C=3.0, " in text
    assert "<blue>" in text
    assert [m["name"] for m in page.json["convergence"]["problems"]] == sorted(svc.classes_)
    for problem, label in zip(page.json["convergence"]["problems"], sorted(svc.classes_), strict=True):
        history = svc.history_[svc.history_["problem"] == list(svc.classes_).index(label)]
        assert problem["violation"] == history["violation"].tolist()


def test_saved_models_are_told_of_as_the_estimator(tmp_path):
    svc = LogisticRegression().fit(*make_rows("two"))
    save_model(svc, tmp_path / "model")
    assert load_model(tmp_path / "model").duality_gap_ == svc.duality_gap_
    of_file, of_estimator = written(tmp_path, tmp_path / "model"), written(tmp_path, svc)
    assert of_file.json == of_estimator.json


@pytest.mark.parametrize("estimator", [LinearSVR(), OneClassSVM(), LinearSVC(multi_class="crammer_singer")], ids=repr)
def test_the_other_estimators(tmp_path, estimator):
    X, y = make_rows("targets" if isinstance(estimator, LinearSVR) else "many")
    text = "".join(written(tmp_path, estimator.fit(X, y), data=(X, y)).text)
    word = {"LinearSVR": "mean squared error", "OneClassSVM": "rows outside"}.get(type(estimator).__name__, "recall")
    assert word in text
    assert "Features that weigh most" in text


def test_a_pipeline_gives_its_names(tmp_path):
    words = ["good film", "bad film", "good plot", "bad plot"] * 5
    labels = [1, 0, 1, 0] * 5
    pipeline = make_pipeline(CountVectorizer(), LinearSVC()).fit(words, labels)
    page = written(tmp_path, pipeline, data=(words, labels))
    text = "".join(page.text)
    assert "good" in text
    assert "bad" in text
    assert "feature 0" not in text
    assert "Pipeline(steps=" in text


def test_a_search_within_an_estimator(tmp_path):
    svc = LinearSVC().fit(*make_rows("signs"))
    svc.Cs_ = np.array([0.1, 1.0, 10.0])
    svc.scores_ = np.array([[0.5, 0.7], [0.8, 0.9], [0.85, np.nan]])
    svc.fit_times_ = svc.fit_gaps_ = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, np.nan]])
    svc.C_, svc.C_1se_ = 1.0, 0.1
    cells = written(tmp_path, svc).json["path"]["cells"]
    assert [cell["mean"] for cell in cells] == [pytest.approx(0.6), pytest.approx(0.85), None]
    assert cells[1]["error"] == pytest.approx(0.05)
    assert cells[0]["seconds"] == pytest.approx(0.3)
    del svc.coef_
    page = written(tmp_path, svc)
    assert page.json["path"]["cells"] == cells
    assert page.json["convergence"] is None


def test_what_cannot_be_told_of_is_refused(tmp_path):
    X, y = make_rows("signs")
    with pytest.raises(ValueError, match="not fitted"):
        write_report(LinearSVC(), tmp_path / "a.html")
    with pytest.raises(ValueError, match="CountVectorizer is not a linear estimator"):
        write_report(CountVectorizer().fit(["a word"]), tmp_path / "a.html")
    with pytest.raises(ValueError, match="y has shape"):
        write_report(LinearSVC().fit(X, y), tmp_path / "a.html", data=(X, y[:-1]))
    with pytest.raises(ValueError, match="holds no model that could be evaluated"):
        write_report(make_search(tmp_path / "s"), tmp_path / "a.html", data=(X, y))
    assert not (tmp_path / "a.html").exists()


def test_many_classes_keep_the_page_small(tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(220), 3)
    X = rng.normal(size=(y.size, 6))
    page = written(tmp_path, LinearSVC(max_iter=1000).fit(X, y), data=(X, y))
    assert len(page.json["convergence"]["problems"]) == 200
    assert "The commonest confusions among 220 labels" in "".join(page.text)
    assert len(page.source) < 4_000_000


def test_thinning_keeps_both_ends():
    assert thinned(5, 10) == [0, 1, 2, 3, 4]
    kept = thinned(1001, 11)
    assert kept == list(range(0, 1001, 100))


def test_top_features():
    up, down = top(np.array([0.0, 3.0, -1.0, 2.0, 0.0, -4.0]), 2)
    assert (up.tolist(), down.tolist()) == ([1, 3], [5, 2])
    up, down = top(np.array([1.0]), 5)
    assert (up.tolist(), down.tolist()) == ([0], [])


@pytest.mark.parametrize(
    ("x", "text"),
    [
        (0.0, "0"),
        (1234567, "1,234,567"),
        (1e-7, "1.00e-07"),
        (0.25, "0.25"),
        (1e20, "1.00e+20"),
        (-12.34567, "-12.346"),
    ],
)
def test_numbers_are_short(x, text):
    assert short(x) == text


def test_json_cannot_end_its_element():
    text = json_block({"</script>": "<!-- & -->"})
    assert json.loads(text) == {"</script>": "<!-- & -->"}
    assert not set("<>&") & set(text)


def page_of(source, tmp_path, **how):
    write_report(source, tmp_path / "page.html", **how)
    return (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_large_gap_is_not_green(tmp_path):
    model = LinearSVC(tol=1e-6).fit(*make_rows("two"))
    assert 'class="verdict good"><span>Converged<' in page_of(model, tmp_path)
    model.per_class_["duality_gap"][0] = model.duality_gap_ = 0.1
    page = page_of(model, tmp_path)
    assert 'class="verdict warn"><span>Converged, with a large gap</span>' in page
    assert "<code>gap_tol=1e-3</code>" in page
    with pytest.warns(match="max_iter ended training"):
        model = LinearSVC(solver="baseline", tol=1e-9, max_iter=1).fit(*make_rows("signs"))
    page = page_of(model, tmp_path)
    assert 'class="verdict warn"><span>Not converged</span> Training was ended by max_iter' in page
    assert "Allow more time or iterations" in page


def test_accuracy_says_on_which_rows(tmp_path):
    X, y = make_rows("two")
    model = LinearSVC().fit(X, y)
    assert "<dt>accuracy on given data</dt>" in page_of(model, tmp_path, data=(X, y))
    assert "<dt>accuracy on the given data</dt>" in page_of(model, tmp_path, data=(X, y), data_name="march.svm")
    assert "Confusion matrix, march.svm" in page_of(model, tmp_path, data=(X, y), data_name="march.svm")
    run = make_run(tmp_path, "two", "-s", "3")
    assert "<dt>accuracy on training data</dt>" in page_of(run, tmp_path)


def test_a_search_tells_when_where_and_how(tmp_path):
    X, y = make_rows("two")
    search = LinearSVCCV(Cs=[0.1, 1.0], cv=2, random_state=7, tol=0.02, refit=False).fit(X, y)
    page = page_of(search, tmp_path)
    for fact in ('<dt>seed</dt><dd><data value="7">', '<dt>tolerance</dt><dd><data value="0.02">'):
        assert fact in page
    assert "<dt>written</dt><dd><time>" in page
    assert 'id="environment"' in page
    assert "<dt>numpy</dt>" in page


def test_features_are_called_as_in_the_display(tmp_path):
    X, y = make_rows("two")
    page = page_of(LinearSVC().fit(X, y), tmp_path)
    display = WeightsDisplay(weights=np.ones(3))
    assert f"<bdi>{display.feature_names[0]}</bdi>" in page
    assert "feature 1<" not in page
