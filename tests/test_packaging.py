"""What a release says in several places, it says alike: versions, dependencies, Pythons."""

import re
from pathlib import Path

import pytest

from hingeline import __version__

ROOT = Path(__file__).resolve().parent.parent


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture
def project():
    tomllib = pytest.importorskip("tomllib", reason="Python 3.10 reads no TOML")
    return tomllib.loads(text_of("pyproject.toml"))["project"]


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("CITATION.cff", r"^version: (\S+)$"),
        ("packaging/conda/recipe.yaml", r'^  version: "(\S+)"$'),
        ("CHANGELOG.md", r"^## \[(\d\S*)\]"),
    ],
)
def test_every_file_names_this_version(name, pattern):
    assert re.search(pattern, text_of(name), re.MULTILINE)[1] == __version__


def test_the_conda_recipe_has_the_dependencies_of_the_package(project):
    run = text_of("packaging/conda/recipe.yaml").partition("  run:\n")[2].partition("tests:")[0]
    needed = {line.strip("- ").replace(" ", "") for line in run.splitlines()}
    assert needed == {*project["dependencies"], "python>=${{python_min}}"}


def test_every_python_that_is_promised_is_tested(project):
    promised = [line.rpartition(" ")[2] for line in project["classifiers"] if re.search(r"Python :: 3\.\d+$", line)]
    workflow = re.search(r"python: \[(.*)\]", text_of(".github/workflows/tests.yml"))[1]
    assert re.findall(r"[\d.]+", workflow) == promised
    assert project["requires-python"] == f">={promised[0]}"
