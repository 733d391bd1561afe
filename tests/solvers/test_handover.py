"""Who trains when, if sweeps have Newton's method as their finish, and what is said about the end."""

import pytest

from hingeline.solution import Certificate
from hingeline.solvers.clock import Clock, Ended
from hingeline.solvers.driver import Run
from hingeline.solvers.finish import insisting
from hingeline.solvers.handover import Handover
from hingeline.solvers.stop import Stop

GOOD, LOOSE = Certificate(1e-4, 1.0, 1.0, 1e-6), Certificate(1e-4, 1.0, 0.9, 0.1)
BAD = Certificate(0.5, 1.0, 0.5, 0.5)


def outcome(solver, *ends, stop=None):
    """Run engines that end for these reasons with these certificates; returns what is said, and who ran."""
    stop, ran, left = stop or Stop(tol=1e-3), [], list(ends)
    present = []

    def engine(name):
        def run_it():
            ran.append(name)
            reason, certificate = left.pop(0)
            present[:] = [certificate]
            if reason != "tol":
                raise Ended(reason)

        return run_it

    run = Run(stop, Clock(None, None), certify=lambda pace: present[0], floor=lambda: 1e-16)
    handover = Handover(engine("sweep"), engine("newton"), 10, 1e5)
    reason, certificate, engines = handover.run(run, stop, solver)
    assert certificate is present[0]
    assert not left
    return reason, engines, ran


def test_sweeps_that_are_enough():
    assert outcome("auto", ("tol", GOOD)) == ("tol", "hybrid", ["sweep"])
    assert outcome("avsf", ("max_iter", BAD)) == ("max_iter", "avsf", ["sweep"])


@pytest.mark.parametrize("reason", ["next phase", "rounding", "stalled", "tol"])
def test_newton_goes_on(reason):
    assert outcome("auto", (reason, BAD), ("tol", GOOD)) == ("tol", "hybrid+newton", ["sweep", "newton"])
    assert outcome("baseline", (reason, BAD), ("max_time", BAD))[:2] == ("max_time", "baseline+newton")


def test_a_large_gap_asks_for_more_sweeps():
    assert outcome("auto", ("tol", LOOSE), ("gap_tol", GOOD)) == ("tol", "hybrid", ["sweep", "sweep"])
    found = outcome("auto", ("tol", LOOSE), ("next phase", LOOSE), ("tol", GOOD))
    assert found == ("tol", "hybrid+newton", ["sweep", "sweep", "newton"])


def test_the_reason_is_true():
    assert outcome("auto", ("next phase", BAD), ("tol", BAD))[0] == "stalled"
    assert outcome("auto", ("next phase", BAD), ("tol", GOOD._replace(violation=0.1)))[0] == "rounding"
    assert outcome("auto", ("next phase", BAD), ("rounding", GOOD))[0] == "tol"


def test_a_large_gap_is_no_convergence():
    stop = Stop(tol=1e-3)
    assert insisting(stop, LOOSE).outcome("stalled", LOOSE) == ("stalled", False)
    assert insisting(stop, GOOD).outcome("rounding", GOOD) == ("tol", True)
