"""The documentation is true: its code runs, its commands parse, its links lead somewhere, its site builds."""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from hingeline import cli
from hingeline.cli.predict_options import parse_predict
from hingeline.cli.train_options import parse_train
from site_reference import expand

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SHELL = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
COMMAND = re.compile(r"^(?:\$ )?(hingeline .*)$", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
DIRECTIVE = re.compile(r"^\.\. auto(?:class|function):: (\S+)\.(\w+)$", re.MULTILINE)


NEEDED = {"exporting-models.md": ("skl2onnx", "onnxruntime")}  # packages that a page needs and tests can do without


def name_of(path):
    return path.name


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_python_blocks_run(page):
    """The blocks of a page share one namespace."""
    text = page.read_text(encoding="utf-8")
    for package in NEEDED.get(page.name, ()):
        pytest.importorskip(package, reason=f"{page.name} shows how to use {package}, which is not installed")
    namespace = {"__name__": "__main__"}
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start(1))
        code = compile("\n" * line + match.group(1), str(page), "exec")  # tracebacks show the page's own lines
        exec(code, namespace)


def test_there_are_blocks_to_run():
    assert all(BLOCK.search((ROOT / name).read_text(encoding="utf-8")) for name in ("README.md", "docs/algorithm.md"))


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_examples_run(example, capsys, monkeypatch):
    from matplotlib import pyplot

    if example.name == "on_gpu.py":
        pytest.importorskip("torch", reason="the example needs PyTorch")
        monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    try:
        runpy.run_path(str(example), run_name="__main__")
    finally:
        drawn = pyplot.get_fignums()
        pyplot.close("all")
    assert capsys.readouterr().out or drawn, "nothing to show on its page"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_parse(page):
    for block in SHELL.findall(page.read_text(encoding="utf-8")):
        for line in COMMAND.findall(block):
            words = shlex.split(line, comments=True)[1:]
            args = cli.parser_of().parse_args(words)
            if words[0] in ("train", "predict"):
                {"train": parse_train, "predict": parse_predict}[words[0]](args.parser, args.words)


def anchors(page):
    """Return what GitHub and MyST make of the headings of a page."""
    headings = HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    for target, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        path = page.parent / target if target else page
        assert path.exists(), target
        assert not anchor or anchor in anchors(path), f"{target}#{anchor}"


def documented():
    """Return the names in the reference, as (module, name)."""
    pages = sorted((ROOT / "docs" / "reference").glob("*.md"))
    return {name for page in pages for name in DIRECTIVE.findall(expand(page.read_text(encoding="utf-8")))}


@pytest.mark.parametrize(
    "module", ["hingeline", "hingeline.dask", "hingeline.io", "hingeline.progress", "hingeline.viz"]
)
def test_every_public_name_is_in_the_reference(module):
    public = {(module, name) for name in import_module(module).__all__ if name != "__version__"}
    assert public <= documented(), f"missing in docs/reference: {sorted(public - documented())}"


def test_the_reference_names_what_is_there():
    for module, name in documented():
        assert getattr(import_module(module), name).__doc__, f"{module}.{name}"


FROM_ELSEWHERE = re.compile(r'<(?:script|link|img)\b[^>]*(?:src|href)="(?:https?:)?//[^"]*"')


def test_the_site_builds_without_a_warning(tmp_path):
    """The examples are not run for it: they have a test of their own."""
    pytest.importorskip("sphinx")  # not among the oldest versions that are tested
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("gallery"))
    for folder in ("examples", "src", "tools"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    site = tmp_path / "site"
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "docs", str(site)]
    done = subprocess.run(command, cwd=tmp_path, env=os.environ | {"RUN_EXAMPLES": "0"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = {path.relative_to(site).as_posix(): path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    assert {f"gallery/{example.stem}.html" for example in EXAMPLES} < pages.keys()
    assert "<math" in pages["algorithm.html"]
    assert "$" not in re.sub(r"<pre>.*?</pre>|<script.*?</script>", "", pages["derivations.html"], flags=re.DOTALL)
    for name in cli.COMMANDS:
        assert f"<h2>{name}<" in pages["command-line.html"]
    reference = "".join(text for name, text in pages.items() if name.startswith("reference/"))
    for module, name in documented():
        assert f'id="{module}.{name}"' in reference
    wrong = {name: FROM_ELSEWHERE.findall(text) for name, text in pages.items() if FROM_ELSEWHERE.search(text)}
    assert not wrong, "pages fetch something from elsewhere"
