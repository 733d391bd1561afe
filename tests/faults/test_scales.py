"""Values far from one: finite results, a true certificate, and an end, even if the tolerance is out of reach."""

import numpy as np
import pytest
from fault_rows import row
from problems import ENGINES, LOSSES, classification, csr

from hingeline import solve

X, Y = classification(12, 4, seed=41)
COLUMNS = 10.0 ** np.array([-1, 0, 1, 1])  # ill-scaled features
MORE_SO = 10.0 ** np.array([-4, 0, 2, 4])  # out of reach for coordinate descent


# What happens at a scale and a C: all is solved where C |x|^2 is next to nothing (then every alpha is at its bound, and
# the objective is the sum of the C_i); what is far beyond one ends with a finite model and a true certificate, and what
# would overflow is refused. The hinge, the squared hinge:
SCALES = {
    (1e-150, 1e100): ("solved", "solved"),
    (1e-30, 1.0): ("solved", "solved"),
    (1e30, 1e-100): ("solved", "solved"),
    (1e-30, 1e100): ("finite", "finite"),
    (1e30, 1.0): ("finite", "finite"),
    (1e100, 1.0): ("finite", "refused"),
    (1e153, 1e-100): ("finite", "refused"),
    (1e100, 1e100): ("refused", "refused"),
}


@row("x-scale")
@pytest.mark.parametrize(("scale", "C"), SCALES)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("engine", ENGINES)
def test_extreme_scales(engine, loss, scale, C):
    expected = SCALES[scale, C][list(LOSSES).index(loss)]
    how = {"solver": engine, "gap_tol": 1e-6, "max_iter": 100, "random_state": 0}
    if expected == "refused":
        with pytest.raises(ValueError, match="overflow"):
            solve(scale * X, Y, LOSSES[loss](C), **how)
        return
    solution = solve(scale * X, Y, LOSSES[loss](C), **how)
    assert np.isfinite(solution.w).all()
    assert np.isfinite(solution.alpha).all()
    assert np.isfinite(solution.certificate).all()
    assert 0.0 <= solution.certificate.gap <= 1.0 + 1e-12
    if expected == "solved":
        assert solution.stop_reason == "gap_tol"
        assert solution.certificate.gap <= 1e-6
        assert solution.certificate.primal == pytest.approx(12.0 * C, rel=1e-9)
    elif solution.converged:
        assert solution.certificate.gap <= 1e-3


def assert_ends_by_rounding(data, loss, engine, gap=1e-9):
    """Without a cap: a run that does not notice hangs."""
    solution = solve(data, Y, loss, solver=engine, tol=1e-30, random_state=0)
    assert solution.stop_reason in ("rounding", "tol")  # possibly every violation is zero to the last bit
    if solution.stop_reason == "tol":
        assert solution.certificate.violation < 1e-9
    assert solution.converged
    assert solution.certificate.gap < gap


@row("parameter-tol")
@pytest.mark.parametrize(
    "data", [X, X * COLUMNS, 1e-3 * X, csr(X)], ids=["well-scaled", "ill-scaled", "small", "sparse"]
)
@pytest.mark.parametrize("C", [1e-3, 1.0])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_tolerance_out_of_reach_ends_by_rounding(engine, loss, C, data):
    assert_ends_by_rounding(data, LOSSES[loss](C), engine)


@pytest.mark.parametrize("C", [1.0, 1e3])
@pytest.mark.parametrize("loss", LOSSES)
def test_newton_gets_there_with_large_C_and_worse_scales(loss, C):
    for data in (X, X * COLUMNS):
        assert_ends_by_rounding(data, LOSSES[loss](C), "newton")
    assert_ends_by_rounding(X * MORE_SO, LOSSES[loss](C), "newton", gap=1e-4)  # rounding leaves no more


@pytest.mark.parametrize("engine", ENGINES)
def test_a_gap_out_of_reach_ends_by_rounding(engine):
    solution = solve(X, Y, LOSSES["hinge"](1.0), solver=engine, gap_tol=1e-300, random_state=0)
    assert solution.stop_reason in ("rounding", "gap_tol")
    assert solution.certificate.gap < 1e-12


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("engine", ENGINES)
def test_weights_next_to_zero_count_as_zero(engine, loss):
    weights = np.ones(12)
    weights[[3, 5]] = 1e-310, 5e-324  # 1/(2 C_i) would overflow
    solution = solve(X, Y, LOSSES[loss](1.0), solver=engine, sample_weight=weights, random_state=0)
    expected = solve(X, Y, LOSSES[loss](1.0), solver=engine, sample_weight=weights > 0.5, random_state=0)
    assert np.isfinite(solution.certificate).all()
    np.testing.assert_array_equal(solution.w, expected.w)
    assert not solution.alpha[[3, 5]].any()
