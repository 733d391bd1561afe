"""Reading svmlight text: hingeline compared with scikit-learn and, if it is installed, LIBLINEAR's reader.

Seconds are the least of several warm runs that take turns, with the file in the page cache; MB are of plain text. Peak
memory is measured in a separate process: the peak of the resident set during the load (VmHWM, reset before) minus the
resident set just before, as a multiple of the bytes of the resulting matrix. The resident set counts mapped pages of
files too; hingeline maps none, so this is the matrix and its own buffers.

    python benchmarks/parsing.py --data debian_paths
    taskset -c 0 python benchmarks/parsing.py --data debian_paths --threads 1
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from datasets import DATA_DIR
from memory import resident
from sklearn.datasets import load_svmlight_file

from hingeline.bench.datasets import OPENERS, find
from hingeline.io import load_svmlight


def liblinear_reader() -> Callable[[str], Any] | None:
    """Return LIBLINEAR's own reader in C, called as its Python package calls it; None if it is not installed."""
    try:
        from liblinear.commonutil import svm_read_problem
    except ImportError:
        return None
    return lambda path: svm_read_problem(path, return_scipy=True)


def readers(path: str, threads: list[int]) -> dict[str, Callable[[], Any]]:
    """Return what is compared, by name."""
    found: dict[str, Callable[[], Any]] = {"scikit-learn": lambda: load_svmlight_file(path)}
    liblinear = liblinear_reader()
    if liblinear is not None:
        found["LIBLINEAR (Python)"] = lambda: liblinear(path)
    for n in threads:
        found[f"hingeline, {n} thread{'s' * (n > 1)}"] = lambda n=n: load_svmlight(path, n_threads=n)
    return found


def peak(library: str, path: str, threads: int) -> dict[str, float]:
    """Load once in this process; return bytes of the matrix and bytes added at the peak."""
    load = load_svmlight_file if library == "scikit-learn" else lambda path: load_svmlight(path, n_threads=threads)
    with tempfile.NamedTemporaryFile() as tiny:
        tiny.write(b"1 1:1\n")
        tiny.flush()
        load(tiny.name)
    Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM
    before = resident("VmRSS")
    X, _ = load(path)
    return {"bytes": X.data.nbytes + X.indices.nbytes + X.indptr.nbytes, "added": resident("VmHWM") - before}


def in_a_process(library: str, path: str, threads: int) -> dict[str, float]:
    """Call ``peak`` in a new process."""
    command = [sys.executable, __file__, "--peak", library, "--file", path, "--threads", str(threads)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def unpacked(name: str, data_dir: Path, folder: str) -> str:
    """Return a plain copy of a data set's file."""
    (dataset,), _ = find(data_dir, [name])
    target = Path(folder) / name
    with OPENERS.get(dataset.path.suffix, open)(dataset.path, "rb") as packed, target.open("wb") as plain:
        while block := packed.read(1 << 24):
            plain.write(block)
    return str(target)


def compare(path: str, threads: list[int], repeat: int) -> None:
    """Print seconds, CPU seconds, MB/s and the ratio to scikit-learn, then peaks."""
    size = Path(path).stat().st_size
    calls = readers(path, threads)
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    expected = None
    for turn in range(repeat + 1):
        for name, call in calls.items():
            started, cpu = perf_counter(), process_time()
            result = call()
            if turn:  # the first one compiles and warms up
                times[name].append((perf_counter() - started, process_time() - cpu))
            elif name == "scikit-learn":
                expected = result
            elif name.startswith("hingeline"):
                X, Z = result[0], expected[0]
                same = all(np.array_equal(getattr(X, part), getattr(Z, part)) for part in ("data", "indices", "indptr"))
                print(f"{name}: {'the same matrix as' if same else 'NOT the matrix of'} scikit-learn")
            del result
        expected = None
    print(f"\n{Path(path).name}, {size / 1e6:.0f} MB of text, {repeat} runs each, taking turns")
    print(f"{'reader':22} {'least s':>8} {'median s':>9} {'CPU s':>7} {'MB/s':>6} {'x scikit-learn':>15} {'by CPU':>7}")
    base, base_cpu = (min(column) for column in zip(*times["scikit-learn"], strict=True))
    for name, pairs in times.items():
        wall, cpu = zip(*pairs, strict=True)
        print(
            f"{name:22} {min(wall):8.3f} {np.median(wall):9.3f} {min(cpu):7.3f} {size / 1e6 / min(wall):6.0f} "
            f"{base / min(wall):15.1f} {base_cpu / min(cpu):7.1f}"
        )
    for library, n in (("scikit-learn", 1), *(("hingeline", n) for n in threads)):
        found = in_a_process(library, path, n)
        print(
            f"peak memory, {library}, {n} thread(s): {found['added'] / 1e6:.0f} MB added for a matrix of "
            f"{found['bytes'] / 1e6:.0f} MB: {found['added'] / found['bytes']:.2f}x"
        )


def main() -> None:
    """Compare the readers on a data set or a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="debian_paths")
    parser.add_argument("--data-dir", type=Path, default=DATA_DIR)
    parser.add_argument("--file", help="a plain file, instead of --data")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--peak", metavar="LIBRARY", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peak:
        print(json.dumps(peak(args.peak, args.file, args.threads[0])))
    elif args.file:
        compare(args.file, args.threads, args.repeat)
    else:
        with tempfile.TemporaryDirectory() as folder:
            compare(unpacked(args.data, args.data_dir, folder), args.threads, args.repeat)


if __name__ == "__main__":
    main()
