import re

import numpy as np
from scipy import sparse

from hingeline.cli import main, warmup


def test_layouts_are_what_they_say():
    seen = {}
    for name, X, y in warmup._layouts():
        assert set(y) == {-1.0, 1.0}
        if sparse.issparse(X):
            seen[name] = ("ones" if (X.data == 1.0).all() else "sparse", X.dtype, X.indices.dtype, X.indptr.dtype)
            assert X.indices.dtype == X.indptr.dtype
        else:
            assert X.flags.c_contiguous
            seen[name] = ("dense", X.dtype)
    assert len(set(seen.values())) == len(seen) == 10
    assert seen["ones, float32 values, int64 indices"] == ("ones", np.float32, np.int64, np.int64)


def test_fits_and_tells(monkeypatch, capsys):
    layouts = list(warmup._layouts())
    monkeypatch.setattr(warmup, "_layouts", lambda: layouts[5:6])  # what other tests compile too
    assert main(["warmup"]) == 0
    output = capsys.readouterr().out
    assert output.startswith("dense, float64")
    assert "--all adds the other problems" in output
    assert "combinations ready" in output


def test_every_problem(monkeypatch, capsys):
    layouts = list(warmup._layouts())
    monkeypatch.setattr(warmup, "_layouts", lambda: layouts[5:6])
    assert main(["warmup", "--all"]) == 0
    output = capsys.readouterr().out
    assert output.startswith("dense, float64")
    assert int(re.search(r"(\d+) combinations ready", output)[1]) >= 31
