"""Seconds of ``hingeline train`` and ``predict`` on a small file, from start to finish, with warm caches.

python benchmarks/train_startup.py
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

TYPES = (1, 2, 3, 0, 7, 11, 12, 13)


def write_small_file(path: Path, rows: int = 500, columns: int = 100) -> None:
    """Write sparse rows with labels -1 and +1."""
    rng = np.random.default_rng(0)
    w = rng.normal(size=columns)
    with open(path, "w", encoding="ascii") as file:
        for _ in range(rows):
            at = np.flatnonzero(rng.random(columns) < 0.15)
            x = rng.normal(size=at.size)
            pairs = " ".join(f"{j + 1}:{v:.6g}" for j, v in zip(at, x, strict=True))
            file.write(f"{'+1' if x @ w[at] > 0.0 else '-1'} {pairs}\n")


def seconds(words: list[str], folder: str) -> float:
    """Run the command in a separate process."""
    started = perf_counter()
    command = [sys.executable, "-m", "hingeline", *words]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - started


def main() -> None:
    """Print a line for each command: the median, and the fastest."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        write_small_file(Path(folder) / "small")
        commands = [["train", "-s", str(s), "small", "model"] for s in TYPES]
        commands += [["predict", "small", "model", "out"], ["--version"]]
        for words in commands:
            seconds(words, folder)  # compiles if nothing is cached yet
            found = [seconds(words, folder) for _ in range(args.repeat)]
            print(f"hingeline {' '.join(words):32} {np.median(found):.2f} s, fastest {min(found):.2f} s", flush=True)
        bare = [seconds_of_python() for _ in range(args.repeat)]
        print(f"import numpy, scipy.sparse, numba alone    {np.median(bare):.2f} s, fastest {min(bare):.2f} s")


def seconds_of_python() -> float:
    """Seconds of what every training has to import."""
    started = perf_counter()
    subprocess.run([sys.executable, "-c", "import numpy, scipy.sparse, numba"], check=True)
    return perf_counter() - started


if __name__ == "__main__":
    main()
