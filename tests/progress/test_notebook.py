"""Progress and representations in a notebook with a real kernel."""

import pytest

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel")

CELLS = (
    """
import warnings
warnings.simplefilter("ignore")
from hingeline import LinearSVC, LinearSVCCV, solve
from hingeline.progress import screen
from hingeline.synthetic import make_text
screen.QUIET_SECONDS = 0.0
X, y = make_text(3000, 500, seed=0)
""",
    'LinearSVC(loss="hinge", solver="avsf", C=10.0, tol=1e-4, random_state=0, verbose=1).fit(X, y)',
    'LinearSVC(loss="hinge", solver="avsf", tol=1e-9, max_iter=2, random_state=0, verbose=1).fit(X, y)',
    "LinearSVCCV(Cs=[0.1, 1.0], cv=2, random_state=0).fit(X, y)",
    "solve(X, y)",
)


@pytest.fixture(scope="module")
def outputs():
    """What each cell shows."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    return [cell.outputs for cell in notebook.cells]


def text_of(outputs, name):
    return "".join(each.text for each in outputs if each.output_type == "stream" and each.name == name)


def shown(outputs, kind):
    (result,) = (each for each in outputs if each.output_type == "execute_result")
    return result.data[kind]


def test_a_fit_that_has_converged(outputs):
    told = text_of(outputs[1], "stdout")
    assert "[LinearSVC] converged, avsf: " in told
    html = shown(outputs[1], "text/html")
    assert "converged, objective " in html
    assert "\u26a0" not in html


def test_progress_is_shown_while_it_runs_and_then_goes(outputs):
    """As text that changes in place, or as bars if there are widgets; nothing is left on standard error."""
    assert text_of(outputs[1], "stderr") == ""
    (progress,) = (each for each in outputs[1] if each.output_type == "display_data")
    if "application/vnd.jupyter.widget-view+json" not in progress.data:
        assert progress.data["text/html"] == ""


def test_one_that_has_not_looks_different(outputs):
    assert "[LinearSVC] NOT CONVERGED, avsf: " in text_of(outputs[2], "stdout")
    assert "\u26a0 not converged (max_iter)" in shown(outputs[2], "text/html")


def test_a_search_shows_its_choice_and_a_solution_one_line(outputs):
    assert "C = " in shown(outputs[3], "text/html")
    assert shown(outputs[4], "text/plain").startswith("Solution(converged: ")
