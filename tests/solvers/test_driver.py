"""The outer loop: caps, callbacks, the history, and the answers that it gives to engines."""

import pickle
from concurrent.futures import CancelledError
from itertools import pairwise

import numpy as np
import pytest
from problems import COORDINATE_ENGINES, ENGINES, LOSSES, classification, dual, primal

from hingeline import Certificate, Hinge, Progress, SquaredHinge, solve
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.solution import HISTORY
from hingeline.solvers.clock import Clock, Ended
from hingeline.solvers.driver import CHECK_RATIO, FEW_SWEEPS, LAG, Run, Verdict
from hingeline.solvers.newton import smoothed
from hingeline.solvers.stop import Stop
from hingeline.solvers.train import train

X, Y = classification(70, 6, seed=71)
EVERY = pytest.mark.parametrize("engine", ENGINES)


@EVERY
@pytest.mark.parametrize("max_iter", [1, 2, 3])
def test_max_iter(engine, max_iter):
    solution = solve(X, Y, solver=engine, tol=1e-9, max_iter=max_iter, random_state=0)
    assert solution.n_iter == max_iter == len(solution.history)
    assert solution.stop_reason == "max_iter"
    assert not solution.converged


@EVERY
def test_max_iter_out_of_reach_changes_nothing(engine):
    free, capped = (solve(X, Y, solver=engine, max_iter=cap, random_state=0) for cap in (None, 10**6))
    assert free.stop_reason == capped.stop_reason == "tol"
    np.testing.assert_array_equal(free.alpha, capped.alpha)


@EVERY
def test_max_time(engine):
    solution = solve(X, Y, solver=engine, tol=1e-9, max_time=1e-9, random_state=0)
    assert solution.stop_reason == "max_time"
    assert not solution.converged
    assert np.isfinite(solution.certificate).all()  # computed to its end all the same


@EVERY
def test_callback_sees_every_sweep_and_may_stop(engine):
    seen = []

    def callback(progress):
        seen.append(progress)
        return len(seen) == 3

    solution = solve(X, Y, solver=engine, tol=1e-9, callback=callback, random_state=0)
    assert solution.stop_reason == "callback"
    assert not solution.converged
    assert all(isinstance(progress, Progress) for progress in seen)
    assert [progress.n_iter for progress in seen] == [1, 2, 3]
    assert seen[-1].n_steps == solution.n_steps
    np.testing.assert_array_equal([p.violation for p in seen], solution.history["violation"])
    np.testing.assert_array_equal([p.n_steps for p in seen], solution.history["steps"])


@EVERY
@pytest.mark.parametrize("stop", [{"tol": 1e-3}, {"gap_tol": 1e-6}])
def test_callback_is_told_how_far_the_goal_is(engine, stop):
    seen = []
    solution = solve(X, Y, solver=engine, callback=seen.append, random_state=0, **stop)
    assert solution.converged
    assert seen[0].times_tol > 1.0 or np.isnan(seen[0].times_tol)
    assert seen[-1].times_tol <= 2.0  # 1, or what the sweep's estimate makes of it
    if "tol" in stop and engine != "baseline":  # which looks at the span of the violations
        # An exact check may have refuted a sweep: then the engine went on with a tighter tolerance.
        ratios = [p.times_tol / (p.violation / 1e-3) for p in seen]
        assert ratios[0] == pytest.approx(1.0)
        assert all(later >= earlier * (1.0 - 1e-9) for earlier, later in pairwise(ratios))


@EVERY
def test_callback_may_look_at_copies_of_the_variables(engine):
    snapshots = []

    def callback(progress):
        snapshot = progress.look()
        snapshots.append([np.copy(part) for part in snapshot])
        for part in snapshot:
            if isinstance(part, np.ndarray):
                part[:] = 7.0  # its own

    looked = solve(X, Y, Hinge(0.5), solver=engine, bias=1.0, callback=callback, random_state=0)
    alone = solve(X, Y, Hinge(0.5), solver=engine, bias=1.0, random_state=0)
    np.testing.assert_array_equal(looked.alpha, alone.alpha)
    w, intercept, alpha, lower, upper, p = snapshots[-1]
    np.testing.assert_array_equal(alpha, alone.alpha)
    np.testing.assert_allclose(w, alone.w, rtol=1e-9)
    np.testing.assert_allclose(intercept, alone.intercept, rtol=1e-9)
    assert (lower == 0.0).all()
    assert (upper == 0.5).all()
    if engine in ("avsf", "hybrid"):
        assert p.shape == alpha.shape
        assert (p >= 0.0).all()
        assert np.unique(snapshots[2][-1]).size > 10
    else:
        assert p == np.array(None)


def test_what_was_told_keeps_no_data_alive():
    seen = []
    solve(X, Y, callback=seen.append)
    with pytest.raises(RuntimeError, match="inside a callback"):
        seen[0].look()
    assert pickle.loads(pickle.dumps(seen[0]))[:4] == seen[0][:4]


def test_a_callback_may_raise():
    def callback(progress):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        solve(X, Y, solver="avsf", callback=callback)


@EVERY
@pytest.mark.parametrize("stop", [{"tol": 1e-3}, {"gap_tol": 1e-6}])
def test_history(engine, stop):
    solution = solve(X, Y, solver=engine, random_state=0, **stop)
    history = solution.history
    assert history.dtype == HISTORY
    assert len(history) == solution.n_iter
    assert history["steps"][-1] == solution.n_steps
    assert (np.diff(history["seconds"]) >= 0.0).all()
    assert history["seconds"][-1] <= solution.seconds
    assert history["gap"][-1] == solution.certificate.gap
    if "tol" in stop:
        assert np.isnan(history["gap"][:-1]).all()  # not computed, so not paid for
        assert history["violation"][-1] < 1e-3
    if engine == "avsf":
        np.testing.assert_array_equal(history["steps"], 70 * np.arange(1, solution.n_iter + 1))


@pytest.mark.parametrize("engine", COORDINATE_ENGINES)
def test_a_cancelled_run_ends(engine):
    problem = make_problem(read_data(X), Y.astype(np.float32), None, LOSSES["hinge"](1e4))
    asked = []

    def cancelled():
        asked.append(None)
        return len(asked) > 5

    with pytest.raises(CancelledError):
        train(problem, engine, Stop(tol=1e-12), seed=0, cancelled=cancelled)
    assert len(asked) == 6


def new_run(stop, certificates=(), floor=0.0):
    """Return a run whose certificates and floor are given."""
    left = list(certificates)
    return Run(stop, Clock(None, None), certify=lambda pace: left.pop(0), floor=lambda: floor)


def report(run, violation=1.0, gain=1.0, gap=1.0, complete=True):
    return run.sweep(10, violation, gain, gap, criterion=violation, complete=complete)


def repeat(run, n_sweeps, **sweep):
    """Report the same sweep again and again; returns the first verdict that is not to go on."""
    return next((v for v in (report(run, **sweep) for _ in range(n_sweeps)) if v is not Verdict.GO_ON), Verdict.GO_ON)


def test_tol_satisfies():
    run = new_run(Stop(tol=0.1))
    assert report(run, violation=0.1) is Verdict.GO_ON
    assert report(run, violation=0.09) is Verdict.SATISFIED
    assert report(run, violation=0.09, complete=False) is Verdict.SATISFIED  # the engine verifies
    assert (run.n_iter, run.n_steps) == (3, 30)


def test_gap_is_checked_only_where_it_may_hold():
    certificates = [Certificate(1.0, 10.0, 9.0, 0.1), Certificate(1.0, 10.0, 9.9, 0.01)]
    run = new_run(Stop(gap_tol=0.05), certificates)
    run.dual = 10.0
    assert report(run, gap=50.0, gain=0.1) is Verdict.GO_ON  # no certificate was asked for
    assert report(run, gap=0.5, gain=0.1) is Verdict.REFUTED
    with pytest.raises(Ended, match="gap_tol"):
        report(run, gap=0.1, gain=0.1)
    np.testing.assert_array_equal(run.history["gap"], [np.nan, 0.1, 0.01])


def test_a_long_run_ends_when_w_is_near_enough():
    stop, close = Stop(tol=1e-9, enough=1e-6, near=0.1), Certificate(1.0, 10.0, 9.9, 0.01)
    for half_square, ends in ((5.0, True), (0.2, False)):
        run = Run(stop, Clock(None, None), lambda pace: close, floor=lambda: 0.0, half_square=lambda h=half_square: h)
        run.dual = 10.0
        sweep = {"gap": 0.1, "gain": 1e-9}
        assert repeat(run, FEW_SWEEPS, **sweep) is Verdict.GO_ON
        if ends:
            with pytest.raises(Ended, match="gap_tol"):
                report(run, **sweep)
        else:
            assert report(run, **sweep) is Verdict.GO_ON


def test_newtons_method_ends_at_once_when_w_is_near_enough():
    stop, close = Stop(tol=1e-9, enough=1e-6, near=0.1), Certificate(1.0, 10.0, 9.9, 0.01)
    run = Run(stop, Clock(None, None), lambda pace: close, floor=lambda: 0.0, half_square=lambda: 5.0)
    run.dual = 9.9
    with pytest.raises(Ended, match="gap_tol"):
        report(run, gap=0.1, gain=np.nan)


def test_a_misleading_sweep_does_not_put_the_next_check_off_for_good():
    bad, good = Certificate(1.0, 10.0, 0.0, 1.0), Certificate(1.0, 10.0, 10.0, 0.0)
    run = new_run(Stop(gap_tol=1e-3), [bad, good])
    run.dual = 10.0
    assert report(run, gap=1e-9) is Verdict.REFUTED  # the gap is 1e10 times what the sweep saw
    with pytest.raises(Ended, match="gap_tol"):
        repeat(run, 300, gap=1e-6)


def test_a_sweep_that_moves_nothing_is_refuted_or_ends():
    run = new_run(Stop(tol=1e-9), [Certificate(1e-12, 1.0, 1.0, 0.0)], floor=1e-12)
    assert report(run, gain=0.0, violation=1e-6, complete=False) is Verdict.REFUTED
    with pytest.raises(Ended, match="rounding"):
        report(run, gain=0.0, violation=1e-6)


def test_a_missed_variable_is_not_taken_for_rounding():
    run = new_run(Stop(tol=1e-9), [Certificate(0.5, 1.0, 0.0, 1.0)], floor=1e-12)
    assert report(run, gain=0.0, violation=1e-6) is Verdict.GO_ON


def test_jitter_at_the_floor_is_rounding():
    jitter = {"violation": 5e-13, "gain": 1e-20}
    with pytest.raises(Ended, match="rounding"):
        repeat(new_run(Stop(tol=1e-30), floor=1e-12), 100, **jitter)
    # Where variables are hidden, they come back first.
    assert repeat(new_run(Stop(tol=1e-30), floor=1e-12), 100, **jitter, complete=False) is Verdict.REFUTED


def test_last_digits_that_go_on_changing_are_no_progress():
    run = new_run(Stop(tol=1e-30), floor=1e-15)
    verdicts = (report(run, violation=6e-17 - k * 1e-24, gain=1e-40, complete=False) for k in range(100))
    assert Verdict.REFUTED in verdicts


def test_slow_progress_above_the_floor_is_not_rounding():
    run = new_run(Stop(tol=1e-30), floor=1e-12)
    for k in range(2000):
        assert report(run, violation=1e-3 + 1e-6 * (k % 7), gain=1e-9) is Verdict.GO_ON


def test_a_fast_fall_of_the_gap_is_met_by_an_early_check():
    run = Run(Stop(gap_tol=1e-3), Clock(None, None), certify=lambda pace: None, floor=lambda: 0.0)
    assert run._left_after(1.0) == CHECK_RATIO  # one sum tells nothing of its fall
    assert run._left_after(0.1) == pytest.approx(LAG * 0.1)
    assert run._left_after(0.09) == CHECK_RATIO  # slow: most of what was seen is still there


def test_newton_ended_early_leaves_its_own_weights_where_the_loss_is_smooth():
    X, y = classification(300, 12, seed=4)
    runs = [solve(X, y, SquaredHinge(C=10.0), solver="newton", tol=1e-9, max_iter=k) for k in range(1, 6)]
    objectives = [s.certificate.primal for s in runs]
    assert objectives == sorted(objectives, reverse=True)  # a descent in w; in the dual variables it is not
    assert all(0.0 <= s.certificate.primal - runs[-1].certificate.dual for s in runs)


def test_a_certificate_is_never_worse_than_that_of_nothing():
    X, y = classification(300, 12, seed=4)
    X[5] = 0.0  # solved when the state is made, and to stay so
    s = solve(X, y, SquaredHinge(C=1e4), solver="newton", tol=1e-9, max_iter=1)
    assert s.certificate.gap <= 1.0 + 1e-12
    assert s.alpha[5] == pytest.approx(2e4)


def test_what_newtons_equation_proposes_is_a_certificate(monkeypatch):
    """Its gap, as the engine adds it up, is what the definitions give for the proposed variables at w."""
    X, y = classification(2000, 80, seed=3)
    told, original = [], smoothed.Smoothed.gap_of_proposal

    def gap_of_proposal(self):
        gap, kept = original(self), self.shards.alpha.copy()
        self.shards.keep(proposed=True)
        a = self.shards.alpha.copy()
        self.shards.alpha[:] = kept
        told.append((gap, primal(X, y, self.w[:-1], loss) - dual(X, y, a, loss), (a >= 0.0).all()))
        return gap

    loss = SquaredHinge(C=100.0)
    monkeypatch.setattr(smoothed, "WORTH_A_LOOK", 1e9)
    monkeypatch.setattr(smoothed.Smoothed, "gap_of_proposal", gap_of_proposal)
    s = solve(X, y, loss, solver="newton", gap_tol=1e-3)
    assert s.certificate.gap <= 1e-3
    assert len(told) >= 2
    for gap, exact, inside in told:
        assert gap == pytest.approx(exact, rel=1e-9)
        assert inside


def test_a_sweep_counts_where_time_is_up_in_its_certificate():
    def certify(pace):
        raise Ended("max_time")

    run = Run(Stop(tol=1e-3, gap_tol=1e-1), Clock(None, None), certify, floor=lambda: 0.0)
    with pytest.raises(Ended):
        run.sweep(10, violation=1.0, gain=1.0, gap=1e-9, criterion=1.0, complete=True)
    assert run.n_iter == len(run.history) == 1
    assert run.history["steps"][0] == run.n_steps == 10
