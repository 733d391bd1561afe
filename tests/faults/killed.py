"""Run by test_killed.py in a separate process: forks children that train, convert and search, and kills them.

Everything is imported and compiled once, before the first fork. A child is killed at a random moment; the next one goes
on with what it has left, until one reaches the end. Prints, one line per case, what came of it as JSON.
"""

import json
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import numpy as np
from killable import CASES, EVERY

from hingeline.io import dump_svmlight

SEED = 1
POLL, LONGEST = 5e-4, 60  # seconds between two looks at a child, and that it may take
ROUNDING = 1e-9


def fork(work):
    """Start a child that does ``work``; return its number."""
    pid = os.fork()
    if pid:
        return pid
    try:
        signal.alarm(LONGEST)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        work()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def reaped(pid, is_time):
    """Kill a child when it is time, unless it has ended; return its status: minus the signal that ended it."""
    ended = status = 0
    try:
        while not (ended or is_time()):
            time.sleep(POLL)
            ended, status = os.waitpid(pid, os.WNOHANG)
    finally:
        if not ended:
            os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def moment(case, seconds, rng):
    """Return a function that tells whether the moment has come: any moment, or shortly after the work was saved."""
    if rng.random() < 0.5:
        end = time.perf_counter() + rng.uniform(0.0, seconds)
        return lambda: time.perf_counter() >= end
    before, saves = case.stamp(), int(rng.integers(1, 4))

    def is_saved():
        nonlocal before, saves
        if case.stamp() != before:
            before, saves = case.stamp(), saves - 1
            if saves == 0:
                time.sleep(rng.uniform(0.0, EVERY))
        return saves == 0

    return is_saved


def kill_and_go_on(case, kills, seconds, rng):
    """Kill children until ``kills`` have died, and let the last one end; return what finished work has given."""
    killed, went_on, reached, results = 0, 0, -np.inf, []
    while killed < kills:
        status = reaped(fork(case.run), moment(case, seconds, rng))
        assert status in (0, -signal.SIGKILL), status
        before, reached = reached, case.progress()
        assert reached >= before - ROUNDING * abs(before), (before, reached)
        if status == 0:
            results.append(finished(case))
            before = reached = -np.inf
        killed += status != 0
        went_on += bool(reached > before > -np.inf)
    case.run()
    return [*results, finished(case)], went_on


def finished(case):
    """Return the result, and clear the folder for another run."""
    result, left = case.result(), set(os.listdir())
    assert left == set(case.files), left
    for name in left - {"data"}:
        (shutil.rmtree if os.path.isdir(name) else os.unlink)(name)
    return result


def timed(case):
    case.run()  # compiles
    finished(case)
    began = time.perf_counter()
    case.run()
    seconds = time.perf_counter() - began
    return finished(case), seconds


def report(name, kills):
    """Run a case, and print what came of it."""
    case, (X, y) = CASES[name]
    rng = np.random.default_rng([SEED, *name.encode()])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        dump_svmlight(X, y, "data")
        expected, seconds = timed(case)
        results, went_on = kill_and_go_on(case, kills, seconds, rng)
        os.chdir(Path(folder).parent)
    worst = max(np.max(np.abs(np.subtract(result, expected)) / np.abs(expected)) for result in results)
    found = {
        "case": name,
        "kills": kills,
        "went on": went_on,
        "ends": len(results),
        "seconds": seconds,
        "worst": float(worst),
    }
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    for each in sys.argv[2:] or CASES:
        report(each, int(sys.argv[1]))
