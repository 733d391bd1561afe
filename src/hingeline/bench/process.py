"""Run a job in a separate process, on one thread, and end it if it takes too long."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from queue import Empty, Queue
from threading import Thread
from time import monotonic
from typing import IO, Any

WORKER = ("-m", "hingeline.bench.worker")
SETUP_SECONDS = 600.0  # for loading, converting and compiling, which are not timed
GRACE_SECONDS = 5.0  # beyond the deadline, for a solver that ends itself and then certifies what it has
THREADS = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR", "NUMBA")


def run_job(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the events of a job; the last one is ``killed`` if a run did not end in time, ``failed`` after a crash.

    The clock starts again with each event. A worker that needs more or less than the deadline until its next event
    announces that with an event ``limit``.
    """
    environment = os.environ | {f"{name}_NUM_THREADS": "1" for name in THREADS}
    lines: Queue[str | None] = Queue()
    events = list[dict[str, Any]]()
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints,
        subprocess.Popen(
            [sys.executable, *WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
            env=environment,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        reader = Thread(target=_read, args=(process.stdout, lines), daemon=True)
        reader.start()
        try:
            process.stdin.write(json.dumps(job))
            process.stdin.close()
            seconds = SETUP_SECONDS
            while (line := _next(lines, seconds)) is not None:
                event = json.loads(line)
                seconds = (event["seconds"] if event["event"] == "limit" else job["deadline"]) + GRACE_SECONDS
                if event["event"] != "limit":
                    events.append(event)
            if process.wait(timeout=SETUP_SECONDS) != 0:
                events.append(_crash(process, complaints))
        except (Empty, subprocess.TimeoutExpired):
            events.append({"event": "killed"})
        except BrokenPipeError:
            events.append(_crash(process, complaints))
        finally:
            process.kill()
            process.wait()
            reader.join()
    return events


def _read(stream: IO[str], lines: Queue[str | None]) -> None:
    for line in stream:
        lines.put(line)
    lines.put(None)


def _next(lines: Queue[str | None], seconds: float) -> str | None:
    """Return the next line, or None at the end; wait in short turns, so that Ctrl-C works on every system."""
    end = monotonic() + seconds
    while True:
        try:
            return lines.get(timeout=min(0.2, max(0.0, end - monotonic())))
        except Empty:
            if monotonic() >= end:
                raise


def _crash(process: subprocess.Popen[str], complaints: IO[str]) -> dict[str, Any]:
    process.wait()
    complaints.seek(0)
    last = (complaints.read().strip().splitlines() or ["it printed nothing"])[-1]
    return {"event": "failed", "message": f"ended with status {process.returncode}: {last}"}
