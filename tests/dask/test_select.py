"""Which method the cost model chooses, for sizes of real data sets; nothing is trained."""

import pytest

from hingeline import Hinge, SquaredHinge
from hingeline.dask.select import Cluster, choose, estimates, plan
from hingeline.dask.spec import Spec, Summary
from hingeline.dask.target import Binary
from hingeline.solvers.stop import Stop

SIZES = {  # rows, columns, stored values, mean squared norm, dense
    "tiny": (1000, 10, 10_000, 10.0, True),
    "covtype": (581_012, 54, 6_940_438, 7.0, False),
    "made": (4_000_000, 28, 112_000_000, 28.0, True),
    "debian_text": (60_866, 37_226, 2_564_618, 1.0, False),
    "debian_paths": (1_038_605, 326_776, 24_849_883, 24.0, False),
    "kdd-b": (19_264_097, 29_890_095, 566_345_888, 29.0, False),
    "1 TB": (10**9, 100, 10**11, 100.0, True),
}
STOP = Stop(gap_tol=1e-3)


def known(name, loss):
    n, d, stored, q, dense = SIZES[name]
    summary = Summary(n, n, stored, q, q, q * n, loss.C * n, loss.C, 1.0, loss.C * n, float(n), (True, True), dense)
    return summary, summary.problem(Spec(Binary(1), loss), d)


@pytest.mark.parametrize(
    ("name", "n_workers", "hinge", "squared_hinge"),
    [
        ("tiny", 2, "one_worker", "one_worker"),
        ("covtype", 2, "newton", "newton"),
        ("made", 2, "newton", "newton"),
        ("debian_text", 2, "one_worker", "one_worker"),
        ("debian_paths", 2, "one_worker", "one_worker"),
        ("kdd-b", 16, "cocoa", "newton_cg"),
        ("1 TB", 256, "newton", "newton"),
    ],
)
def test_the_choice(name, n_workers, hinge, squared_hinge):
    for loss, expected in ((Hinge(1.0), hinge), (SquaredHinge(1.0), squared_hinge)):
        summary, problem = known(name, loss)
        assert choose(summary, problem, "auto", STOP, Cluster(n_workers, 8 << 30), False) == expected
        assert choose(summary, problem, "newton", STOP, Cluster(n_workers), False) == "newton"


def test_rows_that_do_not_fit_are_not_gathered():
    summary, problem = known("debian_paths", Hinge(1.0))
    assert "one_worker" in estimates(summary, problem, STOP, Cluster(2, 8 << 30))
    assert "one_worker" not in estimates(summary, problem, STOP, Cluster(2, 1 << 30))
    gathered = estimates(summary, problem, STOP, Cluster(2, 8 << 30, has_gathered=True))["one_worker"]
    assert gathered.bytes < estimates(summary, problem, STOP, Cluster(2, 8 << 30))["one_worker"].bytes


def test_more_workers_share_the_computing_and_not_the_rounds():
    summary, problem = known("1 TB", Hinge(1.0))
    few, many = (estimates(summary, problem, STOP, Cluster(k))["newton"] for k in (16, 256))
    assert few.rounds == many.rounds
    assert few.seconds > 4 * many.seconds


def test_rounds_of_ascent_hand_over_to_newtons_method():
    summary, problem = known("kdd-b", Hinge(1.0))
    phases = plan(summary, problem, "cocoa", STOP, Cluster(16), False)
    assert [phase.engine for phase in phases] == ["cocoa", "newton", "cocoa"]
    assert phases[0].budget.most < float("inf")


def test_a_free_intercept_is_for_newtons_method_or_one_worker():
    for name in SIZES:
        summary, problem = known(name, Hinge(1.0))
        assert choose(summary, problem, "auto", STOP, Cluster(16, 8 << 30), True) in ("newton", "one_worker")
