"""A Sphinx extension: pictures of the pages, drawn when the site is built, so that they show what this version draws.

A page says ``<!-- picture: NAME: caption -->``, with NAME a function below, or ``<!-- report: caption -->``
for an example of the HTML report. Pictures are kept in docs/pictures while the site is built.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import render_benchmarks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARK = re.compile(r"<!-- (picture|report): (?:(\w+): )?(.*?) -->")
FRAME = '<iframe class="report" src="_static/report.html" title="{}" loading="lazy"></iframe>'
WORDS = ("good", "bad", "film", "dull", "fine", "slow", "great", "plot", "cast", "music", "scene", "end")


def bench_hinge() -> Figure:
    """Seconds against C, the hinge loss."""
    return render_benchmarks.draw(render_benchmarks.load()["hinge"])


def bench_default() -> Figure:
    """Seconds against C, the default call."""
    return render_benchmarks.draw(render_benchmarks.load()["default"])


def convergence() -> Figure:
    """ConvergenceDisplay of three engines."""
    from hingeline import LinearSVC
    from hingeline.synthetic import make_text
    from hingeline.viz import ConvergenceDisplay

    X, y = make_text(2000, 4000, seed=0)
    engines = ("baseline", "avsf", "hybrid")
    fits = {name: LinearSVC(loss="hinge", solver=name, gap_tol=1e-3, random_state=0).fit(X, y) for name in engines}
    return ConvergenceDisplay.from_estimators(fits, x="steps").figure_


def frequencies() -> Figure:
    """FrequencyDisplay of avsf."""
    from hingeline.synthetic import make_text
    from hingeline.viz import FrequencyDisplay

    X, y = make_text(400, 1000, seed=0)
    return FrequencyDisplay.from_data(X, y, C=1.0, solver="avsf", tol=0.01, random_state=0).figure_


def weights() -> Figure:
    """WeightsDisplay of the medical data that scikit-learn brings along."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import StandardScaler

    from hingeline import LinearSVC
    from hingeline.viz import WeightsDisplay

    data = load_breast_cancer()
    model = LinearSVC(C=0.1).fit(StandardScaler().fit_transform(data.data), data.target)
    return WeightsDisplay.from_estimator(model, feature_names=list(data.feature_names), top=10).figure_


def path() -> Figure:
    """CPathDisplay of a search."""
    from sklearn.datasets import make_classification

    from hingeline import LinearSVCCV
    from hingeline.viz import CPathDisplay

    X, y = make_classification(600, 40, n_informative=5, flip_y=0.1, random_state=0)
    search = LinearSVCCV(Cs=12, cv=5, loss="hinge", early_stopping=False, random_state=0).fit(X, y)
    return CPathDisplay.from_estimator(search).figure_


PICTURES: dict[str, Callable[[], Figure]] = {
    "bench_hinge": bench_hinge,
    "bench_default": bench_default,
    "convergence": convergence,
    "frequencies": frequencies,
    "path": path,
    "weights": weights,
}


def write_report(target: Path) -> None:
    """Write the example of a report: film reviews that were made up."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    from hingeline import LinearSVC
    from hingeline.viz import write_report

    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, size=6)) for _ in range(400)]
    score = [text.count("good") + text.count("fine") - text.count("dull") - text.count("slow") for text in texts]
    labels = np.where(np.array(score) + rng.normal(0.0, 0.7, 400) > 0.0, "praise", "blame")
    model = make_pipeline(TfidfVectorizer(), LinearSVC(loss="hinge", gap_tol=1e-4, random_state=0)).fit(texts, labels)
    write_report(model, target, data=(texts, labels), title="Film reviews")


def draw_all(app: Any) -> None:
    """Draw what the pages ask for, before they are read."""
    if not app.config.draw_pictures:
        return
    from matplotlib import pyplot

    folder = Path(app.srcdir) / "pictures"
    pyplot.switch_backend("agg")
    for name, draw in PICTURES.items():
        draw().savefig(folder / f"{name}.png", dpi=130)
        pyplot.close("all")
    write_report(folder / "report.html")


def show(app: Any, docname: str, source: list[str]) -> None:
    """Put the pictures where a page asks for them."""

    def shown(mark: re.Match[str]) -> str:
        if not app.config.draw_pictures:
            return ""
        return FRAME.format(mark[3]) if mark[1] == "report" else f"![{mark[3]}](pictures/{mark[2]}.png)"

    source[0] = MARK.sub(shown, source[0])


def setup(app: Any) -> dict[str, Any]:
    """Draw first, then fill in."""
    app.add_config_value("draw_pictures", os.environ.get("RUN_EXAMPLES", "1") != "0", "env")
    app.connect("builder-inited", draw_all, priority=100)
    app.connect("source-read", show)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
