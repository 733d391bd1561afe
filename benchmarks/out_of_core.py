"""Out of core compared with in memory: a dataset four times the memory that training may take, to a gap of 1e-3.

The limit is a control group's if one can be created (root), else ``HINGELINE_MEMORY`` and the peak of the resident set
with mapped pages counted. Files are dropped from the page cache before the bandwidth of the disk is measured and before
training from it. The bytes read are those that the system fetched from the disk for the process.

    python benchmarks/out_of_core.py [--data FOLDER] [--rows N --cols D --nnz K] [--C C] [--gap G]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import numpy as np
from memory import resident

from hingeline.io import make_dataset, open_dataset

TIMES_THE_MEMORY = 4
CONTROL_GROUPS = Path("/sys/fs/cgroup")


def forget(folder: Path) -> None:
    """Drop the files of ``folder`` from the page cache."""
    for path in folder.glob("*.npy"):
        file = os.open(path, os.O_RDONLY)
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


def bandwidth(folder: Path, most_bytes: int = 2**30) -> float:
    """Return bytes per second of a sequential read that no cache helps."""
    forget(folder)
    with (folder / "indices.npy").open("rb", buffering=0) as file:
        started, n = perf_counter(), 0
        while n < most_bytes and (piece := file.read(2**23)):
            n += len(piece)
        return n / (perf_counter() - started)


@contextmanager
def limited(limit: int) -> Iterator[Path | None]:
    """Create a control group that allows ``limit`` bytes; None if that is not possible."""
    version_1 = (CONTROL_GROUPS / "memory").is_dir()
    group = (CONTROL_GROUPS / "memory" if version_1 else CONTROL_GROUPS) / f"hingeline-{os.getpid()}"
    try:
        group.mkdir()
        (group / ("memory.limit_in_bytes" if version_1 else "memory.max")).write_text(str(limit))
    except OSError:
        yield None
        return
    try:
        yield group
    finally:
        group.rmdir()


def measure(folder: Path, C: float, gap: float, group: Path | None) -> dict[str, float | str]:
    """Fit in this process, which joins ``group`` first."""
    if group is not None:
        (group / "cgroup.procs").write_text(str(os.getpid()))
    from hingeline import LinearSVC

    warnings.simplefilter("ignore")
    model = LinearSVC(loss="hinge", C=C, gap_tol=gap, fit_intercept=False, random_state=0)
    X, y = open_dataset(folder)
    model.fit(X[:64], np.resize([-1, 1], 64))  # compiled
    before = read_bytes()
    started = perf_counter()
    model.fit(X, y)
    wall = perf_counter() - started
    peak = resident("VmHWM")
    return {
        "solver": model.solver_,
        "wall": wall,
        "sweeps": int(model.n_iter_),
        "steps": int(model.n_steps_),
        "gap": model.duality_gap_,
        "objective": model.objective_,
        "peak": peak,
        "read": read_bytes() - before,
    }


def read_bytes() -> int:
    """Return the bytes that were fetched from disks for this process so far."""
    fields = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(fields["read_bytes"])


def run(folder: Path, args: argparse.Namespace, group: Path | None, memory: float | None) -> dict[str, float | str]:
    """Measure in a separate process."""
    command = [sys.executable, __file__, "--data", folder, "--C", str(args.C), "--gap", str(args.gap), "--measure"]
    environment = dict(os.environ) | ({} if memory is None else {"HINGELINE_MEMORY": str(memory)})
    command.append("" if group is None else str(group))
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"exit status {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def compare(folder: Path, args: argparse.Namespace) -> None:
    """Train in memory and out of core, and compare both with the target."""
    size = sum(path.stat().st_size for path in folder.glob("*.npy"))
    limit = size // TIMES_THE_MEMORY
    inside = run(folder, args, None, 2.0**50)
    speed = bandwidth(folder)
    forget(folder)
    with limited(limit) as group:
        outside = run(folder, args, group, None if group else limit)
        how = "control group" if group else "HINGELINE_MEMORY"
    reading = outside["read"] / speed
    print(f"{size / 1e9:.2f} GB of data, {limit / 1e6:.0f} MB allowed ({how}), disk {speed / 1e6:.0f} MB/s")
    for name, found in (("in memory", inside), ("out of core", outside)):
        print(
            f"{name:>11}: {found['wall']:.1f} s, gap {found['gap']:.1e}, objective {found['objective']:.6g}, "
            f"{found['sweeps']} sweeps, {found['steps']:.3g} steps, peak {found['peak'] / 1e6:.0f} MB, "
            f"{found['read'] / 1e9:.2f} GB read ({found['solver']})"
        )
    target = max(4.0 * inside["wall"], 1.3 * reading)
    print(f"reading what it read takes {reading:.1f} s; target {target:.1f} s: {outside['wall'] / target:.2f} of it")


def main() -> None:
    """Make the data unless it is given, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="a dataset, see hingeline convert")
    parser.add_argument("--rows", type=int, default=1_200_000)
    parser.add_argument("--cols", type=int, default=500_000)
    parser.add_argument("--nnz", type=int, default=250)
    parser.add_argument("--C", type=float, default=0.01)
    parser.add_argument("--gap", type=float, default=1e-3)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure is not None:
        print(json.dumps(measure(args.data, args.C, args.gap, Path(args.measure) if args.measure else None)))
        return
    with tempfile.TemporaryDirectory() as folder:
        if args.data is None:
            make_dataset(Path(folder) / "made", args.rows, args.cols, args.nnz, values=True)
        compare(args.data or Path(folder) / "made", args)


if __name__ == "__main__":
    main()
