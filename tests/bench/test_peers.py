import csv
from math import inf, isnan
from threading import Lock

import numpy as np
import pytest
from bench.files import run_here

from hingeline import SquaredHinge, solve
from hingeline.bench import process
from hingeline.bench.datasets import read_arrays
from hingeline.bench.peers import Optimum, PeerBench, Settings, judge
from hingeline.bench.ratios import speed_up
from hingeline.bench.tables import legend, peer_panels, peer_row, peer_text, write_csv

OPTIMUM = Optimum(primal=100.0 + 1e-6, dual=100.0)
BOUNDS = {"event": "optimum", "primal": 1.0, "dual": 1.0, "timed_out": False}
EXHAUSTED, KILLED = {"event": "exhausted"}, {"event": "killed"}


def run(tolerance, seconds, objective, **kwargs):
    fields = {"capped": False, "timed_out": False, **kwargs}
    return {"event": "run", "tolerance": tolerance, "seconds": seconds, "objective": objective, **fields}


def cell(*events, solver="sklearn", target=1e-3, optimum=OPTIMUM):
    record = {"dataset": "d", "C": 1.0, "loss": "hinge", "solver": solver, "deadline": 10.0, "events": list(events)}
    return judge(record, optimum, target)


LOOSE, GOOD, BETTER = run(1.0, 1.0, 101.0), run(0.1, 2.0, 100.05), run(0.01, 3.0, 100.0005)


def test_the_first_good_rung_counts_with_the_median_of_its_runs():
    events = [{"event": "ready", "version": "1.2"}, LOOSE, GOOD, run(0.1, 4.0, 100.06), run(0.1, 2.5, 100.0), BETTER]
    found = cell(*events)
    assert (found.status, found.seconds, found.tolerance, found.version) == ("ok", 2.5, 0.1, "1.2")
    assert found.suboptimality == pytest.approx(5e-4)
    assert cell(*events, target=1e-5).seconds == 3.0


def test_a_certified_solver_answers_only_what_it_was_asked():
    events = [run(1e-3, 1.0, 100.0), run(1e-5, 2.0, 100.0)]
    assert cell(*events, solver="auto").seconds == 1.0
    assert cell(*events, solver="auto", target=1e-5).seconds == 2.0
    late = run(1e-3, 10.0, 100.0, timed_out=True)
    assert cell(late, solver="auto").status == "deadline"


@pytest.mark.parametrize(
    ("events", "status", "text"),
    [
        ([LOOSE, KILLED], "deadline", ">10"),
        ([LOOSE, run(0.1, 11.0, 100.0, timed_out=True)], "deadline", ">10"),
        ([run(1.0, 1.0, 101.0, capped=True)], "capped", "capped"),
        ([LOOSE, EXHAUSTED], "missed", "missed"),
        ([run(1.0, 1.0, 111.0), EXHAUSTED], "other objective?", "other?"),
        ([LOOSE, run(0.1, 1.0, 99.9)], "other objective?", "other?"),
        ([{"event": "unsupported", "message": "no"}], "unsupported", "n/a"),
        ([{"event": "failed", "message": "no"}], "failed", "failed"),
        ([], "failed", "failed"),
        ([LOOSE, GOOD, KILLED], "ok", "2"),
    ],
)
def test_why_a_cell_is_not_there(events, status, text):
    found = cell(*events)
    assert found.status == status
    assert peer_text(found) == text
    assert bool(found.note) == (status in ("unsupported", "failed"))
    if status not in ("ok",):
        assert legend([found])


def test_medians_count_for_auto_and_for_peers():
    events = [run(1e-3, seconds, 100.0) for seconds in (9.0, 1.0, 2.0, 3.0, 1.5)]
    group = {solver: cell(*events, solver=solver) for solver in ("auto", "sklearn")}
    assert {solver: found.seconds for solver, found in group.items()} == {"auto": 2.0, "sklearn": 2.0}
    assert speed_up(group) == (1.0, False)


def test_rows_and_speed_up():
    auto, late, peer = cell(run(1e-3, 0.5, 100.0), solver="auto"), cell(KILLED), cell(GOOD, solver="snapml")
    cells = {"auto": auto, "sklearn": late, "snapml": peer}
    assert peer_row("d", 10.0, 1e-3, cells, list(cells)) == ["d", "10", "0.001", "0.5", ">10", "2", "4"]
    assert peer_row("d", 10.0, 1e-3, {"auto": auto}, list(cells)) == ["d", "10", "0.001", "0.5", "", "", ""]
    assert speed_up({"auto": auto, "sklearn": late}) == (20.0, True)
    assert isnan(speed_up({"sklearn": late}).value)


def test_a_loose_optimum_is_told():
    found = cell(GOOD, optimum=Optimum(100.02, 100.0))
    assert peer_row("d", 1.0, 1e-3, {"sklearn": found}, ["sklearn"])[2] == "0.001!"
    assert legend([found])[-1].startswith("! the optimum is certified only")
    ours = cell(run(1e-3, 1.0, 100.0), solver="auto", optimum=Optimum(100.02, 100.0))
    assert peer_row("d", 1.0, 1e-3, {"auto": ours}, ["auto"])[2] == "0.001"  # it certifies its own result


def test_without_a_bound_nothing_is_met():
    found = cell(GOOD, KILLED, optimum=Optimum(100.0, 0.0))
    assert (found.status, found.suboptimality) == ("deadline", inf)
    assert legend([found])[-1].startswith("! the optimum is certified only")


def test_panels_leave_out_what_has_no_time():
    cells = [cell(GOOD), cell(KILLED, solver="snapml"), cell(EXHAUSTED, solver="rehline")]
    (display,) = peer_panels(cells, ["sklearn", "snapml", "rehline"], 1e-3).values()
    assert display.seconds == {"sklearn": [2.0], "snapml": [10.0]}
    assert display.capped == {"sklearn": [False], "snapml": [True]}


def test_one_versus_rest_with_an_intercept(three, tmp_path, fake_peers, monkeypatch):
    monkeypatch.setattr("hingeline.bench.peers.run_job", run_here)
    settings = Settings("squared_hinge", targets=(1e-3,), deadline=20.0, intercept=True)
    bench = PeerBench(settings, tmp_path)
    cells = [found for (found,) in bench.cells(three, 1.0, ["auto", "fake_peer:Good", "fake_peer:LateInClass1"])]
    assert [found.status for found in cells] == ["ok", "ok", "deadline"]
    assert all(found.intercept for found in cells)

    X, codes = read_arrays(three.parsed(tmp_path / "data"))
    full = np.column_stack([X.toarray(), np.ones(120)])
    loss = SquaredHinge(C=1.0)
    primal = [solve(full, np.where(codes == k, 1, -1), loss, gap_tol=1e-9).certificate.primal for k in range(3)]
    problem = {"source": three.source, "C": 1.0, "loss": "squared_hinge", "intercept": True, "penalty": "l2"}
    optimum = bench.optima.find(0.0, **problem, gap=settings.optimum_gap)
    assert settings.optimum_gap == pytest.approx(1e-5)
    assert optimum["primal"] == pytest.approx(sum(primal), rel=1e-5)
    assert optimum["dual"] == pytest.approx(sum(primal), rel=1e-5)
    assert bench.optima.find(0.0, **problem, gap=1e-7) is None  # a tighter target needs tighter bounds
    for found in cells[:2]:
        assert -1e-9 < found.suboptimality < 1e-3
    # The class that was not trained any more counts with w = 0.
    assert cells[2].suboptimality == pytest.approx((primal[0] + primal[1] + 120.0) / sum(primal) - 1.0, rel=0.01)


def test_the_intercept_is_another_problem(tiny, tmp_path, monkeypatch):
    ran = []
    monkeypatch.setattr("hingeline.bench.peers.run_job", lambda job: ran.append(job["intercept"]) or [BOUNDS])
    for intercept in (False, True, True):
        list(PeerBench(Settings(targets=(1e-3,), intercept=intercept), tmp_path).cells(tiny, 1.0, ["sklearn"]))
    assert ran == [False, False, True, True]  # optimum and ladder, once each


def test_answers_that_miss_the_goal(tiny, tmp_path, fake_peers, monkeypatch):
    monkeypatch.setattr("hingeline.bench.peers.run_job", run_here)
    bench = PeerBench(Settings(targets=(1e-2, 1e-4), deadline=20.0, repeat=2), tmp_path)
    names = ["fake_peer:Good", "fake_peer:Capped", "fake_peer:Other"]
    cells = [cell for found in bench.cells(tiny, 1.0, names) for cell in found]
    assert [cell.status for cell in cells] == ["ok", "ok", "capped", "capped", "other objective?", "other objective?"]


def test_solvers_in_processes_of_their_own(tiny, tmp_path, fake_peers, monkeypatch):
    monkeypatch.setattr(process, "GRACE_SECONDS", 2.0)
    names = ["auto", *(f"fake_peer:{name}" for name in ("Sleepy", "Crash", "Abort", "NoHinge"))]
    bench = PeerBench(Settings(targets=(1e-2, 1e-4), deadline=3.0, repeat=2), tmp_path / "out")
    cells = [cell for found in bench.cells(tiny, 1.0, names) for cell in found]
    status = {name: [cell.status for cell in cells if cell.solver == name] for name in names}
    assert status == {
        "auto": ["ok"] * 2,
        "fake_peer:Sleepy": ["deadline"] * 2,
        "fake_peer:Crash": ["failed"] * 2,
        "fake_peer:Abort": ["failed"] * 2,
        "fake_peer:NoHinge": ["unsupported"] * 2,
    }
    notes = {cell.solver: cell.note for cell in cells}
    assert notes["fake_peer:Crash"] == "RuntimeError: no licence"
    assert notes["fake_peer:Abort"].startswith("ended with status 7")
    assert notes["fake_peer:NoHinge"] == "has no hinge loss"
    assert all(cell.optimum_gap < 1e-6 for cell in cells)

    write_csv(tmp_path / "x.csv", type(cells[0]), cells)
    with (tmp_path / "x.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * len(names)
    assert float(rows[0]["seconds"]) == cells[0].seconds

    # A second run runs nothing; one with more time runs only what was late.
    ran = []
    monkeypatch.setattr("hingeline.bench.peers.run_job", lambda job: ran.append(job["solver"]) or [KILLED])
    again = PeerBench(bench.settings, tmp_path / "out")
    kept = [cell for found in again.cells(tiny, 1.0, names) for cell in found]
    assert list(map(repr, kept)) == list(map(repr, cells))  # NaN is equal to NaN here, on every Python
    assert (ran, again.runs.n_kept) == ([], len(names))
    longer = PeerBench(Settings(targets=(1e-2, 1e-4), deadline=6.0, repeat=2), tmp_path / "out")
    list(longer.cells(tiny, 1.0, names))
    assert ran == ["fake_peer:Sleepy"]


def test_what_was_late_is_not_run_at_larger_C(tiny, tmp_path, monkeypatch):
    jobs = []

    def late_from_1(job):
        jobs.append(job["C"])
        return [BOUNDS] if job["kind"] == "optimum" else [KILLED] if job["C"] >= 1.0 else [run(1e-3, 0.1, 1.0)]

    monkeypatch.setattr("hingeline.bench.peers.run_job", late_from_1)
    bench = PeerBench(Settings(targets=(1e-3,), skip_late=True), tmp_path)
    found = [cells[0] for C in (0.1, 1.0, 10.0) for cells in bench.cells(tiny, C, ["sklearn"])]
    assert [cell.status for cell in found] == ["ok", "deadline", "skipped"]
    assert jobs == [0.1, 0.1, 1.0, 1.0]  # the optimum, then the solver
    assert peer_text(found[-1]) == "not run"
    assert legend(found)[-1].startswith("not run: late or capped at a smaller C")


def test_what_was_capped_is_not_run_at_larger_C(tiny, tmp_path, monkeypatch):
    capped = run(1e-3, 0.1, 2.0, capped=True)
    monkeypatch.setattr("hingeline.bench.peers.run_job", lambda job: [BOUNDS] if job["kind"] == "optimum" else [capped])
    bench = PeerBench(Settings(targets=(1e-3,), skip_late=True), tmp_path)
    found = [cells[0].status for C in (0.1, 1.0) for cells in bench.cells(tiny, C, ["liblinear"])]
    assert found == ["capped", "skipped"]


def test_where_no_peer_runs_hingelines_own_certificate_is_enough(tiny, tmp_path, monkeypatch):
    jobs = []
    monkeypatch.setattr(
        "hingeline.bench.peers.run_job", lambda job: jobs.append(job["kind"]) or [run(1e-3, 0.1, 100.0)]
    )
    ((found,),) = PeerBench(Settings(targets=(1e-3,)), tmp_path).cells(tiny, 1.0, ["auto"])
    assert jobs == ["ladder"]
    assert (found.status, found.optimum_gap) == ("ok", pytest.approx(1e-3))
    assert found.suboptimality == pytest.approx(1e-3, rel=0.01)


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_seconds_of_the_first_solver_limit_the_others(tiny, three, tmp_path, monkeypatch, jobs):
    deadlines = {}

    def job_done(job):
        if job["kind"] == "optimum":
            return [BOUNDS]
        deadlines[job["source"], job["solver"], job["C"]] = job["deadline"]
        return [run(1e-3, 4.0 * job["C"], 1.0)]

    monkeypatch.setattr("hingeline.bench.peers.run_job", job_done)
    bench = PeerBench(Settings(targets=(1e-3,), deadline=60.0, times=5.0, jobs=jobs), tmp_path)
    Cs, solvers = (0.01, 1.0, 10.0), ["auto", "sklearn"]
    if jobs > 1:
        assert len(list(bench.run_ahead([tiny, three], Cs, solvers))) == 12
    for dataset in (tiny, three):
        for C in Cs:
            assert len(list(bench.cells(dataset, C, solvers))) == 2
        assert [deadlines[dataset.source, "auto", C] for C in Cs] == [60.0] * 3
        assert [deadlines[dataset.source, "sklearn", C] for C in Cs] == [2.0, 20.0, 60.0]


def test_several_processes_at_a_time(tiny, three, tmp_path, monkeypatch):
    """Everything is run once, C after C, and found again."""
    lock, jobs = Lock(), []

    def late_from_1(job):
        with lock:
            jobs.append((job["kind"], job["source"], job.get("solver"), job["C"]))
        return [BOUNDS] if job["kind"] == "optimum" else [KILLED] if job["C"] >= 1.0 else [run(1e-3, 0.1, 1.0)]

    monkeypatch.setattr("hingeline.bench.peers.run_job", late_from_1)
    bench, Cs, solvers = (
        PeerBench(Settings(targets=(1e-3,), skip_late=True, jobs=3), tmp_path),
        (10.0, 1.0, 0.1),
        ["auto", "sklearn"],
    )
    assert len(list(bench.run_ahead([tiny, three], Cs, solvers))) == 12
    assert len(jobs) == len(set(jobs)) == 4 + 8  # four optima: at the largest C no solver runs
    assert not any(kind == "ladder" and C == 10.0 for kind, _, _, C in jobs)
    for dataset in (tiny, three):
        for C, status in zip(Cs, ("skipped", "deadline", "ok"), strict=True):
            assert [cell.status for (cell,) in bench.cells(dataset, C, solvers)] == [status] * 2
    assert len(jobs) == 12
