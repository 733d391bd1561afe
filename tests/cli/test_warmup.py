"""``hingeline warmup``: after it nothing of the kind is compiled. ``make test-warmup`` checks all kinds and layouts."""

import sys
from pathlib import Path

import numpy as np
import pytest
from processes import run
from scipy import sparse

from hingeline.cli import main, warmup, warmup_problems
from hingeline.io.models.solver_types import SOLVER_TYPES

TOOL = Path(__file__).parents[2] / "tools" / "check_warmup.py"


def test_layouts_are_what_they_say():
    seen = {}
    for layout in warmup_problems.LAYOUTS:
        X = warmup_problems.in_layout(np.array([[0.5, -1.0], [2.0, 3.0]]), layout)
        if sparse.issparse(X):
            seen[layout] = ("ones" if (X.data == 1.0).all() else "sparse", X.dtype, X.indices.dtype)
            assert X.indices.dtype == X.indptr.dtype
        else:
            assert X.flags.c_contiguous
            seen[layout] = ("dense", X.dtype)
    assert len(set(seen.values())) == len(seen) == 10
    assert seen["ones, float32 values, int64 indices"] == ("ones", np.float32, np.int64)


def test_kinds_and_types_are_complete():
    assert list(warmup.KINDS) == list(warmup_problems.KINDS) == list(warmup_problems.TYPES)
    assert sorted(number for numbers in warmup_problems.TYPES.values() for number in numbers) == sorted(SOLVER_TYPES)


def test_trains_and_tells(capsys):
    assert main(["warmup", "one_class", "--layout", "dense, float64"]) == 0
    output = capsys.readouterr().out
    assert output.startswith("dense, float64")
    assert "ready: one_class; --all adds the other kinds" in output
    assert "kernels ready in" in output


@pytest.mark.parametrize("words", [["svm"], ["--layout", "float16"]])
def test_what_there_is_not(words, capsys):
    with pytest.raises(SystemExit) as end:
        main(["warmup", *words])
    assert end.value.code == 2
    assert "choose among" in capsys.readouterr().err


def test_nothing_is_compiled_afterwards():
    """In a process of its own: here other tests have used kernels. These are loaded from the suite's cache."""
    done = run([sys.executable, TOOL, "--layout", "dense, float64", "linear"], timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 were not ready" in done.stdout


def test_commands_leave_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    warmup_problems.files(("linear",))
    assert list(tmp_path.iterdir()) == []
