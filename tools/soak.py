"""Try random problems until time is up: every estimator and setting, Ctrl-C, warm starts, threads.

Each problem is a number (tests/random_cases.py), each fitted model goes through the checker (tests/truth.py). Prints
what was tried and every failure with its number; ``--only NUMBER`` tries one again. The status is 1 if there was any.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import queue
import signal
import sys
import threading
import traceback
import warnings
from collections import Counter
from copy import copy
from math import inf
from pathlib import Path
from time import monotonic, perf_counter, process_time
from typing import Any

from source_hash import ROOT, numba_cache_dir

SLOW = 5.0  # seconds that no fit of a problem as small as these may take
ENDLESS = 60.0  # seconds after which a fit is interrupted; compiling included
HANGS = 180.0  # seconds after which a process is killed, since it does not react to that
SLOW_TO_STOP = 0.2  # seconds from Ctrl-C to the end
NOT_CONVERGED = 1e-4  # share of the problems that may end above a gap of GOOD_GAP
GOOD_GAP = 1e-3
MEMORY = 0.02  # share by which resident memory may grow after the first tenth of the problems


GOOD, OPEN, BEYOND = "good", "not converged", "beyond float64"  # the last: proven to have no good model


def try_case(case: Any) -> tuple[list[str], str, float]:
    """Fit and check a case; returns what was wrong, what came of it, and the CPU seconds of its slowest fit."""
    from float_lattice import are_beyond_float64, watched
    from truth import complaints

    found: list[str] = []
    seconds = 0.0
    for C in (None, case.then_C):
        if C is not None:
            case.model.set_params(C=C)
        elif seconds:
            break
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            begun = process_time()  # other work on the computer does not count
            with watched() as in_decimals:
                has_model = _fit(case, found)
            if not has_model:
                return found, GOOD, 0.0
            seconds = max(seconds, process_time() - begun)
        found += complaints(case.model, case.X, case.y, case.sample_weight)
        converged = bool(case.model.converged_)
        if not converged and not any("ConvergenceWarning" in w.category.__name__ for w in caught):
            found.append("not converged, and no warning")
        found += [f"warning: {w.message}" for w in caught if not issubclass(w.category, UserWarning)]
    asked = max(GOOD_GAP, case.model.gap_tol or 0.0) if case.model.solver == "auto" else inf  # others obey tol alone
    if case.capped or (converged and case.model.duality_gap_ <= asked):
        return found, GOOD, seconds
    reason = case.model.stop_reason_
    if reason == "stalled" and case.model.duality_gap_ <= GOOD_GAP:  # an engine that was named, short of its tol
        return found, GOOD, seconds
    if reason not in ("rounding", "stalled"):
        found.append(f"gap {case.model.duality_gap_:.1e}, but the reason is {reason!r}")
    return found, BEYOND if are_beyond_float64(in_decimals) else OPEN, seconds


def _fit(case: Any, found: list[str]) -> bool:
    """Fit, with Ctrl-C if the case asks for it; tells whether there is a model."""
    sent: list[float] = []

    def send() -> None:
        sent.append(perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = None
    if case.interrupt_after is not None:  # a Ctrl-C waits for a kernel that is being compiled: that is not the engine's
        copy(case.model).fit(case.X, case.y, sample_weight=case.sample_weight)
        timer = threading.Timer(case.interrupt_after, send)
    try:
        if timer is not None:
            timer.start()
        case.model.fit(case.X, case.y, sample_weight=case.sample_weight)
        if timer is not None:
            timer.cancel()
            timer.join()
    except KeyboardInterrupt:
        if not sent:
            raise TimeoutError(f"no end after {ENDLESS:g} s") from None
        if perf_counter() - sent[0] > SLOW_TO_STOP:
            found.append(f"Ctrl-C took {perf_counter() - sent[0]:.2f} s")
        return False
    return True


def worker(number: int, first: int, step: int, current: Any, ends_at: float, most: int, answers: Any) -> None:
    """Try every ``step``-th problem from ``first`` on until time is up, or ``most`` of them were tried."""
    sys.path[:0] = [str(ROOT / "tests")]
    from random_cases import draw

    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGALRM, _give_up)
    tried: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    memory: list[int] = []
    parent = multiprocessing.parent_process()
    for k in range(most):
        if monotonic() >= ends_at or (parent is not None and not parent.is_alive()):
            break
        seed = first + k * step
        current[2 * number], current[2 * number + 1] = seed, monotonic()
        case = draw(seed)
        signal.setitimer(signal.ITIMER_REAL, ENDLESS)
        try:
            found, outcome, seconds = try_case(case)
        except Exception:
            found, outcome, seconds = [traceback.format_exc(limit=-3)], GOOD, 0.0
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        if seconds > SLOW or any("Ctrl-C" in text for text in found):  # the first of its kind compiles
            found, outcome, seconds = try_case(draw(seed))
            if seconds > SLOW:
                found.append(f"took {seconds:.1f} s")
        tried[type(case.model).__name__] += 1
        kinds[case.kind] += 1
        if outcome != GOOD:
            kinds[f"{case.kind}: {outcome}"] += 1
            text = f"{case.model.stop_reason_}, gap {case.model.duality_gap_:.1e}, {case.model.solver_}"
            answers.put((outcome, str(case), text))
        for text in found:
            answers.put(("failure", str(case), text))
        if k % 500 == 499:
            gc.collect()
            memory.append(resident())
    current[2 * number] = -1
    answers.put(("done", tried, (kinds, memory, threading.active_count())))


def _give_up(number: int, frame: Any) -> None:
    """Interrupt an endless fit as a user would: an exception of our own might hit numba while it compiles."""
    signal.raise_signal(signal.SIGINT)


def resident() -> int:
    """Return the bytes of memory that the process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1]) if Path("/proc/self/statm").exists() else 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def soak(minutes: float, n_processes: int, first: int, most: int, show: int) -> int:
    """Run the workers, and print what they find; returns the exit status."""
    spawn = multiprocessing.get_context("spawn")
    answers, current = spawn.Queue(), spawn.Array("d", 2 * n_processes)
    ends_at = monotonic() + 60.0 * minutes
    shares = [most // n_processes + (k < most % n_processes) for k in range(n_processes)]

    def start(k: int, seed: int) -> Any:
        most_left = shares[k] - (seed - first) // n_processes
        args = (k, seed, n_processes, current, ends_at, most_left, answers)
        process = spawn.Process(target=worker, args=args, daemon=True)
        current[2 * k], current[2 * k + 1] = seed, 0.0
        process.start()
        return process

    processes = [start(k, first + k) for k in range(n_processes)]
    tried: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    grown, left, begun = 0.0, set(range(n_processes)), monotonic()
    while left:
        try:
            kind, what, text = answers.get(timeout=5.0)
        except queue.Empty:
            for k in tuple(left):
                seed, since = int(current[2 * k]), current[2 * k + 1]
                dead = not processes[k].is_alive()
                if dead or (since and monotonic() - since > HANGS):
                    failures["failure"] += 1
                    print(f"FAILURE {'the process died' if dead else 'does not end'}: --only {seed}", flush=True)
                    processes[k].kill()
                    processes[k] = start(k, seed + n_processes)
            continue
        if kind == "done":
            tried += what
            of_worker, memory, threads = text
            kinds += of_worker
            left.discard(next(k for k in left if int(current[2 * k]) == -1))
            if len(memory) > 10:
                early = memory[len(memory) // 10]
                grown = max(grown, memory[-1] / early - 1.0)
            print(f"memory after each 500 fits, MB: {[m >> 20 for m in memory]}; threads: {threads}", flush=True)
        else:
            failures[kind] += 1
            if failures[kind] <= show:
                print(f"{kind.upper()} {what}\n    {text}", flush=True)
    n, seconds = sum(tried.values()), monotonic() - begun
    print(f"{n} problems in {seconds / 60.0:.1f} minutes: {dict(tried)}")
    still_open = 0
    for outcome in (OPEN, BEYOND):
        among = {kind: kinds[f"{kind}: {outcome}"] for kind in tuple(kinds) if kinds.get(f"{kind}: {outcome}")}
        still_open += sum(among.values()) if outcome == OPEN else 0
        listed = ", ".join(f"{kind} {count} of {kinds[kind]}" for kind, count in among.items())
        print(f"{outcome}: {sum(among.values())}" + (f" ({listed})" if listed else ""))
    above = still_open + sum(kinds[f"{kind}: {BEYOND}"] for kind in tuple(kinds))
    print(f"a gap above {GOOD_GAP:g}: {above}, that is {10_000 * above / max(n, 1):.2f} of 10,000")
    print(f"failures: {failures['failure']}; memory grew by {100 * grown:.1f}%")
    too_many = still_open > max(1.0, NOT_CONVERGED * n)
    return int(failures["failure"] > 0 or too_many or grown > MEMORY)


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--problems", type=int, default=10**9, help="end after so many, if that is sooner")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=None, help="number of the first problem; default: a random one")
    parser.add_argument("--show", type=int, default=50, help="failures of each kind that are printed")
    parser.add_argument("--only", type=int, nargs="+", metavar="NUMBER", help="try these problems alone")
    options = parser.parse_args()
    os.environ.setdefault("NUMBA_CACHE_DIR", str(numba_cache_dir()))
    if options.only is not None:
        sys.path[:0] = [str(ROOT / "tests")]
        from random_cases import draw

        wrong = False
        for number in options.only:
            case = draw(number)
            print(case)
            found, outcome, seconds = try_case(case)
            print("\n".join(found) or "nothing to complain about", f"({outcome}, {seconds:.3f} s)", flush=True)
            wrong |= bool(found)
        return int(wrong)
    seed = int.from_bytes(os.urandom(4), "big") if options.seed is None else options.seed
    print(f"problems from {seed} on, {options.processes} processes", flush=True)
    return soak(options.minutes, options.processes, seed, options.problems, options.show)


if __name__ == "__main__":
    sys.exit(main())
