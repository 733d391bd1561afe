"""Parts of a certificate add up to that of the whole."""

from math import isnan, nan

import numpy as np
import pytest
from problems import LOSSES, classification, dual, primal

from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.kernels.passes import certify_rows
from hingeline.solvers.certificate_parts import CertificateParts, sum_parts
from hingeline.solvers.shards.alpha import starting_alpha


def test_parts_add_up():
    parts = [(1.0, 2.0, 3.0), CertificateParts(5.0, 1.0, 0.5), (2.0, 4.0, 0.0)]
    assert sum_parts(parts) == CertificateParts(5.0, 7.0, 3.5)
    assert sum_parts([]) == CertificateParts()
    assert sum_parts([sum_parts(parts[:1]), sum_parts(parts[1:])]) == sum_parts(parts)


def test_nothing_cancels_and_no_order_matters():
    parts = [(0.0, 1e16, 1.0), (0.0, 1.0, 1e-17), (0.0, 1.0, 1e-17)]
    assert sum_parts(parts) == sum_parts(parts[::-1])
    assert sum_parts(parts).losses == 1e16 + 2.0


@pytest.mark.parametrize("place", [0, 1, 2])
def test_nan_stays(place):
    parts = [(1.0, 1.0, 1.0)] * 3
    parts[place] = (nan, nan, nan)
    assert all(map(isnan, sum_parts(parts)))


def test_a_certificate_from_parts():
    certificate = CertificateParts(0.5, 6.0, 1.5).certificate(2.0, 0.5)
    assert certificate == (0.5, 8.0, 6.0, 0.25)
    assert CertificateParts().certificate(0.0) == (0.0, 0.0, 0.0, 0.0)  # no division by zero


@pytest.mark.parametrize("name", LOSSES)
def test_parts_of_rows_give_primal_and_dual(name):
    X, y = classification(50, 4, seed=2)
    loss = LOSSES[name](0.7)
    problem = make_problem(read_data(X), y.astype(np.float32), None, loss)
    alpha = starting_alpha(problem, np.linspace(0.0, 0.7, 50))
    v = np.append(X.T @ (y * alpha), 0.0)
    w = v + 0.1
    w[-1] = 0.0
    ends = [(0, 7), (7, 30), (30, 50)]
    room = np.empty(8)  # for the margins of eight rows at a time
    fixed = (problem.data.rows, loss, problem.y, problem.C_values, alpha, w, room)
    parts = [certify_rows(*fixed, begin, end) for begin, end in ends]
    certificate = sum_parts(parts).certificate(0.5 * w @ w, 0.5 * (w - v) @ (w - v))
    assert certificate.primal == pytest.approx(primal(X, y, w[:-1], loss))
    assert certificate.dual == pytest.approx(dual(X, y, alpha, loss))
