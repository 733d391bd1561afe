"""Scripts that make shells complete commands, options and files."""

import shutil
import subprocess
import sys

import pytest

from hingeline.cli import COMMANDS, main
from hingeline.cli.completion import SHELLS

pytest.importorskip("shtab")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_knows_commands_and_options(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for word in (*COMMANDS, "--solver", "--gap", "--scores", "--label", "--c-min", "newton_cg"):
        assert word.lstrip("-") in script, word


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes(tmp_path, capsys):
    assert main(["completion", "bash"]) == 0
    (tmp_path / "script.sh").write_text(capsys.readouterr().out)
    (tmp_path / "data.svm").touch()

    def completions(*words):
        words = " ".join(("hingeline", *words))
        code = f"source ./script.sh; COMP_WORDS=({words}); COMP_CWORD={words.count(' ')}; _shtab_hingeline"
        code += "; printf '%s\\n' \"${COMPREPLY[@]}\""
        done = subprocess.run(["bash", "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        return {line.strip() for line in done.stdout.splitlines()}

    assert "train" in completions("tr")
    assert {"--solver", "--seed"} <= completions("train", "--s")
    assert "--scores" in completions("predict", "--sc")
    assert "data.svm" in completions("train", "da")


def test_without_shtab_the_error_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 1
    assert "pip install shtab" in capsys.readouterr().err


def test_wrong_usage():
    with pytest.raises(SystemExit) as exit:
        main(["completion", "fish"])
    assert exit.value.code == 2
