"""The certificate of problems with an L1 or elastic-net penalty."""

import warnings
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cases import draw
from truth import complaints

from hingeline.solvers.l1.penalised import penalty_terms
from hingeline.solvers.l1.primal import SOON


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None, derandomize=True, database=None)
def test_what_the_penalty_adds_to_the_gap_is_exact_to_the_last_digits(seed):
    rng = np.random.default_rng(seed)
    l1 = rng.choice([0.0, 0.1, 0.5, 1.0], 8)
    l2 = np.where(l1 == 0.0, 1.0, 1.0 - l1)
    w = rng.normal(size=8) * 10.0 ** rng.integers(-9, 9, 8) * (rng.random(8) < 0.8)
    near = np.sign(w) * l1 + l2 * w  # where the penalty adds nothing
    v = np.where(rng.random(8) < 0.5, near * (1.0 - 1e-9 * rng.random(8)), rng.normal(size=8))
    v = np.where(l2 == 0.0, np.clip(v, -l1, l1), v)

    def exactly(w, v, l1, l2):
        w, v, l1, l2 = map(Decimal, (w, v, l1, l2))
        over = max(abs(v) - l1, Decimal(0))
        return l1 * abs(w) + l2 * w * w / 2 + (over * over / (2 * l2) if l2 else 0) - v * w

    expected = [float(exactly(*of_weight)) for of_weight in zip(w.tolist(), v.tolist(), l1, l2, strict=True)]
    np.testing.assert_allclose(penalty_terms(w, v, l1, l2), expected, rtol=1e-5, atol=1e-25 * float(w @ w))


# Rounding moves v by a tenth; many certificates are made before the one that counts.
@pytest.mark.parametrize("number", [588576, 5101083, 5118281])
def test_an_elastic_net_of_timestamps_claims_no_more_than_is_true(number):
    case = draw(number, any_layout=False)
    for C in (case.model.C, case.then_C or case.model.C):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            case.model.set_params(C=C).fit(case.X, case.y)
        assert complaints(case.model, case.X, case.y) == []


# Hundreds of steps, each more expensive than the last, and no end: decimals take over.
@pytest.mark.parametrize("number", [20009866, 20012808])
def test_timestamps_that_float64_cannot_solve_are_left_to_decimals_soon(number):
    case = draw(number, any_layout=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        case.model.fit(case.X, case.y)
    assert case.model.n_iter_ <= SOON
    assert case.model.duality_gap_ <= 1e-3
    assert complaints(case.model, case.X, case.y) == []
