"""What watching a fit costs: the same fits with and without the progress display, taking turns.

The display is drawn to a separate pseudo-terminal, which a thread reads, as a user would see it.

python benchmarks/progress_cost.py
"""

from __future__ import annotations

import argparse
import os
import pty
import sys
from pathlib import Path
from threading import Thread
from time import perf_counter, process_time
from typing import TextIO

import numpy as np
from datasets import DATA_DIR, load

from hingeline import Hinge, Progress, solve
from hingeline.progress import FitBar, fitting
from hingeline.progress.screen import EVERY


def read_away(terminal: int, drawn: list[int]) -> None:
    """Read what is drawn, and count its bytes."""
    while True:
        try:
            drawn[0] += len(os.read(terminal, 65536))
        except OSError:
            return


def print_parts(terminal: TextIO) -> None:
    """Print the CPU seconds of what a display consists of."""
    from hingeline.progress.rich_drawing import RichBars

    bar, stderr = FitBar("solve", tol=1e-3), sys.stderr
    notes = [Progress(n, n, 0.1 * n, 1.0, np.nan, 1e6 / n) for n in range(1, 100_001)]
    cpu = process_time()
    for note in notes:
        bar(note)
    print(f"a note: {1e6 * (process_time() - cpu) / len(notes):.2f} us, ", end="")
    sys.stderr = terminal
    try:
        with RichBars() as bars:
            cpu = process_time()
            for note in notes[:300]:
                bar(note)
                bars.draw([bar.line()])
            cpu = (process_time() - cpu) / 300
    finally:
        sys.stderr = stderr
    print(f"a drawing: {1e3 * cpu:.2f} ms, which every {EVERY:g} s is {cpu / EVERY:.2%} of a core")


def main() -> None:
    """Print the seconds of each pair, and the median of their ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-dir", type=Path, default=DATA_DIR)
    parser.add_argument("--dataset", default="debian_paths")
    parser.add_argument("--solver", default="hybrid")
    parser.add_argument("--c", type=float, default=1.0)
    parser.add_argument("--tol", type=float, default=0.1)
    parser.add_argument("--repeat", type=int, default=7)
    args = parser.parse_args()

    X, y = load(args.dataset, args.data_dir, np.float32)
    y = np.where(y > 0, 1, -1)
    ours, theirs = pty.openpty()
    drawn = [0]
    Thread(target=read_away, args=(ours, drawn), daemon=True).start()
    terminal = os.fdopen(theirs, "w", buffering=1)

    def fit(callback: object = None) -> tuple[float, float]:
        wall, cpu = perf_counter(), process_time()
        solve(X, y, Hinge(args.c), solver=args.solver, tol=args.tol, random_state=0, callback=callback)
        return perf_counter() - wall, process_time() - cpu

    def watched() -> tuple[float, float]:
        wall, cpu, stderr = perf_counter(), process_time(), sys.stderr
        sys.stderr = terminal
        try:
            with fitting("solve", tol=args.tol) as bar:
                fit(bar)
        finally:
            sys.stderr = stderr
        return perf_counter() - wall, process_time() - cpu

    fit(), watched()  # compiles, and imports rich
    print_parts(terminal)
    pairs = []
    for turn in range(args.repeat):
        first, second = (fit, watched) if turn % 2 else (watched, fit)
        found = {first: first(), second: second()}
        pairs.append([*found[fit], *found[watched]])
        bare, bare_cpu, shown, shown_cpu = pairs[-1]
        print(f"without {bare:.2f} s (CPU {bare_cpu:.2f}), with {shown:.2f} s (CPU {shown_cpu:.2f})", flush=True)
    bare, bare_cpu, shown, shown_cpu = np.array(pairs).T
    print(f"{args.dataset}, {args.solver}, C={args.c:g}, tol={args.tol:g}: {drawn[0]:,} bytes were drawn")
    print(f"ratio of seconds: median {np.median(shown / bare):.4f}, of the fastest {shown.min() / bare.min():.4f}")
    print(f"ratio of CPU seconds: median {np.median(shown_cpu / bare_cpu):.4f}, ", end="")
    print(f"of the fastest {shown_cpu.min() / bare_cpu.min():.4f}")


if __name__ == "__main__":
    main()
