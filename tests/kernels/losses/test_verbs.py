"""The losses' terms against their definitions."""

import numpy as np
import pytest
from problems import EVERY_LOSS, MARGIN_LOSSES

from hingeline.kernels import losses
from hingeline.kernels.losses.traits import Traits
from hingeline.kernels.losses.verbs import OF_SMOOTH_LOSSES, register

MARGINS = np.linspace(-2.0, 3.0, 21)
C = 0.7
SMALL = 1e-6
VERBS = (
    *("missing", "sign", "lower", "upper", "diagonal", "primal_term", "gap_term", "gap_estimate", "pull", "step"),
    *("response", "proximal", "unsettled", "precise_terms", "curvature"),
)


def alphas(loss):
    """Return feasible dual variables, the bounds among them."""
    return np.linspace(max(losses.lower(loss, C), -4.0), min(losses.upper(loss, C), 4.0), 15)


def definition(name, m):
    x = np.maximum(0.0, np.abs(m) - EVERY_LOSS[name](C)[-1])
    return {
        "hinge": C * np.maximum(0.0, m),
        "squared_hinge": C * np.maximum(0.0, m) ** 2,
        "logistic": C * np.log(1.0 + np.exp(m)),
        "epsilon_insensitive": C * x,
        "squared_epsilon_insensitive": C * x**2,
        "pinball": C * np.where(m > 0.0, 0.3 * m, -0.7 * m),
    }[name]


def conjugate(name, a):
    loss = EVERY_LOSS[name](C)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = np.nan_to_num(a * np.log(a / C)) + np.nan_to_num((C - a) * np.log(1.0 - a / C))
    return {
        "hinge": 0.0 * a,
        "squared_hinge": a**2 / (4.0 * C),
        "logistic": entropy,
        "epsilon_insensitive": loss[-1] * np.abs(a),
        "squared_epsilon_insensitive": loss[-1] * np.abs(a) + a**2 / (4.0 * C),
        "pinball": 0.0 * a,
    }[name]


@pytest.mark.parametrize("name", EVERY_LOSS)
def test_primal_term(name):
    found = [losses.primal_term(EVERY_LOSS[name](C), m, C) for m in MARGINS]
    np.testing.assert_allclose(found, definition(name, MARGINS))


@pytest.mark.parametrize("name", EVERY_LOSS)
def test_gap_term_is_what_fenchel_and_young_leave(name):
    """loss(m) - alpha m + conjugate(alpha) >= 0, and zero just where the two belong together."""
    loss = EVERY_LOSS[name](C)
    a = alphas(loss)
    for m in MARGINS:
        terms = np.array([losses.gap_term(loss, m, alpha, C) for alpha in a])
        assert (terms >= 0.0).all()
        np.testing.assert_allclose(terms, definition(name, m) - a * m + conjugate(name, a), atol=1e-14)
        fit = losses.response(loss, m, C)
        assert losses.lower(loss, C) <= fit <= losses.upper(loss, C)
        assert losses.gap_term(loss, m, fit, C) < 1e-15


@pytest.mark.parametrize("name", EVERY_LOSS)
def test_gap_estimate_is_near(name):
    loss = EVERY_LOSS[name](C)
    for m in MARGINS:
        for alpha in alphas(loss):
            exact, estimate = losses.gap_term(loss, m, alpha, C), losses.gap_estimate(loss, m, alpha, C)
            assert 0.4 * exact <= estimate <= exact


@pytest.mark.parametrize("name", EVERY_LOSS)
def test_precise_terms(name):
    loss = EVERY_LOSS[name](C)
    for m in MARGINS:
        for alpha in alphas(loss):
            expected = losses.primal_term(loss, m + 0.25, C), losses.gap_term(loss, m + 0.25, alpha, C)
            assert losses.precise_terms(loss, m, 0.25, alpha, C) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("name", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_digits_beyond_the_tubes_edge(name, side):
    loss = EVERY_LOSS[name](C)
    primal, gap = losses.precise_terms(loss, side * loss.epsilon, side * 1e-20, 0.0, C)
    assert primal == gap == pytest.approx(C * (1e-20 if name == "epsilon_insensitive" else 1e-40))
    primal, gap = losses.precise_terms(loss, side * loss.epsilon, -side * 1e-20, side * C, C)
    assert primal == 0.0
    assert name != "epsilon_insensitive" or gap == pytest.approx(C * 1e-20)


def test_bounds_and_diagonal():
    hinge, squared, pinball = (EVERY_LOSS[name](C) for name in ("hinge", "squared_hinge", "pinball"))
    assert (losses.upper(hinge, C), losses.diagonal(hinge, C)) == (C, 0.0)
    assert (losses.upper(squared, C), losses.diagonal(squared, C)) == (np.inf, 1.0 / (2.0 * C))
    assert (losses.lower(pinball, C), losses.upper(pinball, C)) == pytest.approx((-0.7 * C, 0.3 * C))


def dual_along(name, loss, m, alpha, q, a):
    """The dual along one axis, seen from alpha, where ``m`` is missing."""
    return a * m - conjugate(name, a) - 0.5 * q * (a - alpha) ** 2


@pytest.mark.parametrize("q", [0.01, 1.0, 300.0])
@pytest.mark.parametrize("name", EVERY_LOSS)
def test_a_step_finds_the_best_of_its_axis(name, q):
    loss = EVERY_LOSS[name](C)
    low, high = max(losses.lower(loss, C), -20.0), min(losses.upper(loss, C), 20.0)
    grid = np.linspace(low, high, 20_001)
    for m in (*MARGINS[::3], -40.0, 40.0):
        for alpha in alphas(loss)[::3]:
            stepped, gain = losses.step(loss, m, alpha, q, C)
            assert losses.lower(loss, C) <= stepped <= losses.upper(loss, C)
            value = dual_along(name, loss, m, alpha, q, np.array(stepped))
            assert value >= dual_along(name, loss, m, alpha, q, grid).max() - 1e-9
            expected = value - dual_along(name, loss, m, alpha, q, np.array(alpha))
            if name == "logistic":  # an estimate from below
                assert (0.4 * expected - 1e-12 if abs(m) < 10.0 else 0.0) <= gain <= expected + 1e-9
            else:
                assert gain == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", EVERY_LOSS)
def test_pull_vanishes_just_at_the_optimum_and_shows_the_way(name):
    loss = EVERY_LOSS[name](C)
    for m in MARGINS:
        assert losses.pull(loss, m, losses.response(loss, m, C), C)[0] == pytest.approx(0.0, abs=1e-15)
        for alpha in alphas(loss):
            violation, pressure = losses.pull(loss, m, alpha, C)
            assert violation == 0.0 or pressure == 0.0
            moved = losses.step(loss, m, alpha, 1e-9, C)[0] - alpha
            assert np.sign(moved) == np.sign(violation) or abs(moved) < 1e-12


@pytest.mark.parametrize("name", EVERY_LOSS)
def test_proximal_is_the_response_smoothed(name):
    loss = EVERY_LOSS[name](C)
    delta, abar = 0.3, 0.2
    scale = loss.curvature_scale / (1.0 if loss.is_smooth else delta)
    for m in MARGINS + 0.0123:  # away from kinks
        a, band = losses.proximal(loss, m, abar, delta, C)
        slope = (losses.proximal(loss, m + SMALL, abar, delta, C)[0] - a) / SMALL
        assert scale * band == pytest.approx(slope, rel=1e-4, abs=1e-6)
        if loss.is_smooth:
            assert a == pytest.approx(losses.response(loss, m, C), rel=1e-12)
            assert losses.unsettled(loss, m, a, C) == (0.0, 0.0)
        else:  # a = argmax of a m - conjugate(a) - (a - abar)^2 delta / C
            grid = np.linspace(losses.lower(loss, C), losses.upper(loss, C), 20_001)
            eps = getattr(loss, "epsilon", 0.0)
            best = grid[np.argmax(grid * m - eps * np.abs(grid) - (grid - abar) ** 2 * delta / C)]
            assert a == pytest.approx(best, abs=1e-3)
            violation, gap = losses.unsettled(loss, m, a, C)
            assert violation == abs(losses.pull(loss, m, a, C)[0])
            assert gap == losses.gap_term(loss, m, a, C)
        assert losses.proximal(loss, m, 0.0, delta, 0.0) == (0.0, 0.0)  # rows of no weight do not respond
        assert losses.unsettled(loss, m, 0.0, 0.0) == (0.0, 0.0)


@pytest.mark.parametrize("name", MARGIN_LOSSES)
def test_a_row_of_zeros_is_solved_by_its_value(name):
    loss = MARGIN_LOSSES[name](C)
    m = losses.missing(loss, 1.0, 0.0)
    alpha = losses.response(loss, m, C)
    assert losses.gap_term(loss, m, alpha, C) == pytest.approx(0.0, abs=1e-15)
    assert 0.0 < alpha <= losses.upper(loss, C)


@pytest.mark.parametrize("name", [name for name in EVERY_LOSS if EVERY_LOSS[name](C).is_smooth])
def test_curvature_is_the_second_derivative_or_more(name):
    loss = EVERY_LOSS[name](C)
    for m in MARGINS + 0.0123:  # away from kinks
        slope = (losses.response(loss, m + SMALL, C) - losses.response(loss, m - SMALL, C)) / (2.0 * SMALL)
        before = losses.curvature(loss, m, C, 0.0)
        assert before == pytest.approx(slope, rel=1e-6, abs=1e-9)
        for caution in (0.1, 0.5, 1.0):
            now = losses.curvature(loss, m, C, caution)
            assert now >= before * (1.0 - 1e-12)
            before = now


def test_an_incomplete_loss_is_refused():
    class Untold(Traits):
        name = "untold"

    class Kinked(Traits):
        name = "kinked"
        is_regression = is_smooth = is_bounded = reaches_bounds = False
        curvature_scale = 1.0

    class Smooth(Kinked):
        is_smooth = True

    def anything(*args):
        return 0.0

    kinked = {verb: anything for verb in VERBS if verb not in OF_SMOOTH_LOSSES}
    with pytest.raises(TypeError, match="Untold does not define the traits curvature_scale, is_bounded"):
        register(Untold, **kinked)
    with pytest.raises(TypeError, match="Kinked does not implement the verbs step"):
        register(Kinked, **{verb: anything for verb in kinked if verb != "step"})
    with pytest.raises(TypeError, match="Kinked implements unknown verbs: curvature"):
        register(Kinked, **kinked, curvature=anything)
    with pytest.raises(TypeError, match="Smooth does not implement the verbs curvature"):
        register(Smooth, **kinked)
