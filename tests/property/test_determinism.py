"""The same seed gives the same bits, on one thread or on several."""

import numpy as np
import pytest
from problems import COORDINATE_ENGINES, ENGINES, LOSSES, classification

from hingeline import LinearSVC, solve

X, Y = classification(70, 6, seed=11)
X_MANY, Y_MANY = classification(80, 5, seed=12, n_classes=5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("engine", COORDINATE_ENGINES)
def test_a_seed_fixes_every_bit(engine, loss):
    def run(seed):
        return solve(X, Y, LOSSES[loss](1.0), solver=engine, max_iter=5, random_state=seed)

    first, again, other = run(3), run(3), run(4)
    np.testing.assert_array_equal(first.alpha, again.alpha)
    np.testing.assert_array_equal(first.w, again.w)
    assert first.certificate == again.certificate
    assert (first.alpha != other.alpha).any()


def test_no_seed_means_a_new_one_each_time():
    runs = [solve(X, Y, solver="avsf", max_iter=3).alpha for _ in range(2)]
    assert (runs[0] != runs[1]).any()


@pytest.mark.parametrize("engine", ENGINES)
def test_threads_change_nothing(engine):
    fits = [
        LinearSVC(loss="hinge", solver=engine, tol=1e-4, n_jobs=n_jobs, random_state=5).fit(X_MANY, Y_MANY)
        for n_jobs in (1, 2, 2)
    ]
    for fit in fits[1:]:
        for name in ("coef_", "intercept_", "dual_coef_", "n_steps_", "n_iter_", "objective_"):
            np.testing.assert_array_equal(getattr(fit, name), getattr(fits[0], name), err_msg=name)


def test_random_state_is_used_as_scikit_learn_uses_it():
    def coef(random_state):
        return LinearSVC(solver="avsf", tol=1e-1, random_state=random_state).fit(X, Y).coef_

    np.testing.assert_array_equal(coef(1), coef(1))
    np.testing.assert_array_equal(coef(1), coef(np.random.RandomState(1)))
    assert (coef(1) != coef(2)).any()
