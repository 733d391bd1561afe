import json
import os
from time import monotonic

import pytest

from hingeline.bench import process
from hingeline.bench.process import run_job


@pytest.fixture
def job(tiny, tmp_path, fake_peers):
    return {
        "kind": "ladder",
        "data": str(tiny.parsed(tmp_path)),
        "C": 1.0,
        "loss": "hinge",
        "intercept": False,
        "penalty": "l2",
        "own_gap": False,
        "targets": [1e-3],
        "dual": 1.0,
        "deadline": 0.5,
        "repeat": 1,
    }


def test_a_worker_is_killed_at_the_deadline_and_keeps_what_it_said(job, monkeypatch):
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.2)
    events = run_job(job | {"solver": "fake_peer:Sleepy"})
    assert [event["event"] for event in events] == ["ready", "run", "killed"]


@pytest.mark.parametrize(
    ("deadline", "limit", "last"), [(1000.0, 0.0, "killed"), (0.5, 1000.0, "run")], ids=["less", "more"]
)
def test_a_worker_says_how_long_the_next_thing_may_take(deadline, limit, last, monkeypatch):
    first = json.dumps({"event": "ready"}) + "\n" + json.dumps({"event": "limit", "seconds": limit})
    script = f'import time; print({first!r}, flush=True); time.sleep(2.0); print(\'{{"event": "run"}}\')'
    monkeypatch.setattr(process, "WORKER", ("-c", script))
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.0)
    assert run_job({"deadline": deadline}) == [{"event": "ready"}, {"event": last}]


def test_a_worker_that_never_gets_ready_is_killed(job, monkeypatch):
    monkeypatch.setattr(process, "SETUP_SECONDS", 0.05)
    began = monotonic()
    assert run_job(job | {"solver": "auto"}) == [{"event": "killed"}]
    assert monotonic() - began < 10.0


def test_one_thread(job, tmp_path, monkeypatch):
    (tmp_path / "peers" / "threads.py").write_text(
        "import os\nfrom fake_peer import Good\n"
        "class T(Good):\n    def prepare(self, task): raise RuntimeError(os.environ['OMP_NUM_THREADS'])\n"
    )
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    assert run_job(job | {"solver": "threads:T"})[-1]["message"] == "RuntimeError: 1"
    assert os.environ["OMP_NUM_THREADS"] == "8"


def test_what_a_solver_prints_does_not_disturb(job, tmp_path):
    (tmp_path / "peers" / "loud.py").write_text(
        "import os\nfrom fake_peer import Good\nfrom hingeline.bench.capture import printed\n"
        "class T(Good):\n    def prepare(self, task):\n"
        "        printed(); os.write(1, b'from C '); print('and Python'); raise RuntimeError(printed())\n"
    )
    events = run_job(job | {"solver": "loud:T"})
    assert events == [{"event": "failed", "message": "RuntimeError: from C and Python\n"}]
