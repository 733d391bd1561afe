import math

import pytest
from bench.files import run_here

from hingeline.bench import results
from hingeline.bench.peers import PeerBench, Settings

PEERS = ("auto", "fake_peer:Good", "fake_peer:Sleepy")


@pytest.fixture
def measured(tmp_path, tiny, fake_peers, monkeypatch):
    """Return a function that measures the tiny data at some C into one file, and that file."""
    monkeypatch.setattr("hingeline.bench.peers.run_job", run_here)
    path = tmp_path / "out" / "peers-hinge.json"

    def measure(Cs, solvers=PEERS[:2]):
        bench = PeerBench(Settings(targets=(1e-2,), deadline=20.0), tmp_path / "out")
        cells = [cell for C in Cs for found in bench.cells(tiny, C, solvers) for cell in found]
        results.save(path, results.command_of(bench.settings, solvers, [tiny], Cs), bench, tiny, cells)
        return cells

    return measure, path


def test_a_file_says_what_was_measured_and_how(measured):
    measure, path = measured
    cells = measure([1.0])
    found = results.read(path)
    assert found.sizes == {"tiny": results.Size(rows=120, columns=15, classes=2)}
    assert found.find("tiny", 1.0, 1e-2).keys() == set(PEERS[:2])
    assert found.find("tiny", 1.0, 1e-2)["auto"].seconds == pytest.approx(cells[0].seconds, rel=1e-5)
    assert found.commands[0].endswith("--peers auto fake_peer:Good --datasets tiny --c 1")
    assert {"python", "processor"} <= found.environment.keys()
    assert "/" not in found.commands[0], "a path of this machine"


def test_commands_for_the_same_folder_share_a_file(measured):
    measure, path = measured
    measure([1.0])
    measure([10.0])
    measure([1.0])
    found = results.read(path)
    assert len(found.commands) == 2
    assert len(found.cells) == 4


def test_what_has_no_number_stays_that_way(measured, tmp_path):
    measure, path = measured
    measure([1.0])
    found = results.read(path)
    empty = [cell.__class__(**cell.__dict__ | {"status": "failed", "seconds": math.nan}) for cell in found.cells]
    results.write(path, results.Results(**found.__dict__ | {"cells": tuple(empty)}))
    assert all(math.isnan(cell.seconds) for cell in results.read(path).cells)


def test_another_file_is_refused(tmp_path):
    (tmp_path / "x.json").write_text('{"format": 7}')
    with pytest.raises(ValueError, match=r"x\.json: not a result file of bench peers"):
        results.read(tmp_path / "x.json")
