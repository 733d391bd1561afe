"""Use an installed hingeline as a new user would: `make smoke` runs this where only core dependencies are installed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

OPTIONAL = ("matplotlib", "pandas", "rich", "dask", "liblinear", "pytest")


def main() -> None:
    """Train, save, predict and inspect, in Python and from the shell, in a folder of its own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chdir(folder)
        os.environ["NUMBA_CACHE_DIR"] = str(Path(folder) / "cache")
        in_python()
        from_the_shell()
    print("smoke test passed")


def in_python() -> None:
    """Fit an estimator, write data and a model, and read the model again."""
    from importlib.metadata import metadata

    import hingeline
    from hingeline import LinearSVC
    from hingeline.io import dump_svmlight, load_model, save_model
    from hingeline.synthetic import make_text

    source = Path(hingeline.__file__).resolve()
    assert "site-packages" in source.parts, f"{source} is not an installed package"
    assert "](docs/" not in str(metadata("hingeline").json["description"]), "PyPI would show links that lead nowhere"
    X, y = make_text(n_rows=300, n_cols=600, seed=0)
    model = LinearSVC().fit(X, y)
    assert model.converged_
    assert model.duality_gap_ < 1e-2
    save_model(model, "saved.model")
    assert (load_model("saved.model").predict(X) == model.predict(X)).all()
    dump_svmlight(X, y, "data.svm")


def from_the_shell() -> None:
    """Run the commands, and ask for what needs an extra: the answer is advice, not a traceback."""
    assert run("--version").startswith("hingeline ")
    run("train", "data.svm", "model")
    assert "Accuracy" in run("predict", "data.svm", "model", "predictions")
    assert "gap" in run("inspect", "saved.model")
    installed = [name for name in OPTIONAL if is_there(name)]
    assert not installed, f"not an environment with core dependencies only: {installed}"
    Path("data.csv").write_text("a,y\n1,0\n2,1\n", encoding="utf-8")
    advice = run("train", "--label", "y", "data.csv", "model", status=1)
    assert "pip install" in advice, advice
    assert "Traceback" not in advice, advice


def is_there(package: str) -> bool:
    """Tell whether a package can be imported."""
    from importlib.util import find_spec

    return find_spec(package) is not None


def run(*words: str, status: int = 0) -> str:
    """Return what a command printed; it has to end with this status."""
    done = subprocess.run([sys.executable, "-m", "hingeline", *words], capture_output=True, text=True, check=False)
    assert done.returncode == status, (
        f"hingeline {' '.join(words)}: status {done.returncode}\n{done.stdout}{done.stderr}"
    )
    return done.stdout + done.stderr


if __name__ == "__main__":
    main()
