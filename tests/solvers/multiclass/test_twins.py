"""Examples with one row and different labels: found in every layout, settled together, and soon at their optimum."""

import numpy as np
import pytest
from problems import classification, csr

from hingeline import LinearSVC
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.kernels.losses import Hinge
from hingeline.runtime.pace import Pace
from hingeline.solvers.multiclass.crammer_singer import dual_state
from hingeline.solvers.multiclass.twins import contradictory_twins


def with_twins(n_features=6, size=1.0, n_classes=4):
    """Return rows and labels: the first ten rows come again, half of them with another label."""
    X, y = classification(40, n_features, seed=0, n_classes=n_classes, density=0.6)
    other = y[:10].copy()
    other[::2] = (other[::2] + 1) % n_classes
    return size * np.vstack([X, X[:10]]), np.append(y, other)


@pytest.mark.parametrize("layout", ["dense", "csr", "ones"])
def test_found_where_labels_differ(layout):
    X, y = with_twins()
    X = {"dense": X, "csr": csr(X), "ones": csr((X != 0.0).astype(float))}[layout]
    data = read_data(X)
    found = contradictory_twins(data, y, np.arange(50, dtype=np.uint32), Pace())
    groups = {tuple(sorted(found.members[a:b])) for a, b in zip(found.first[:-1], found.first[1:], strict=True)}
    rows = X if layout == "dense" else X.toarray()
    classes = {}
    for i, row in enumerate(rows):
        classes.setdefault(row.tobytes(), []).append(i)
    assert groups == {tuple(g) for g in classes.values() if len(set(y[g])) > 1}
    assert {(i, 40 + i) for i in range(0, 10, 2)} <= groups or layout == "ones"


def test_none_among_rows_that_leave_the_problem():
    X, y = with_twins()
    assert contradictory_twins(read_data(X), y, np.arange(40, dtype=np.uint32), Pace()).n_groups == 0


@pytest.mark.parametrize("n_members", [2, 3, 5])
def test_a_group_is_solved(n_members):
    """The dual of one group alone, by settling it a few times and by very many steps of single examples."""
    rng = np.random.default_rng(n_members)
    k, C, x = 4, 3.0, 5.0 * rng.normal(size=3)
    y = np.arange(n_members, dtype=np.uint32) % k
    data = read_data(np.tile(x, (n_members, 1)))
    problem = make_problem(data, y, rng.choice([0.5, 1.0], size=n_members), Hinge(C))
    state = dual_state(problem, k, None)
    ours = state.examples
    twins = contradictory_twins(data, ours.y, problem.variables_in_order(), Pace())
    gained = [state.settle(twins, Pace())[1] for _ in range(8)]
    reference, s, q = np.zeros((n_members, k)), np.zeros(k), x @ x
    for _ in range(3000):
        for i in range(n_members):
            U = ours.C[i] * (np.arange(k) == y[i])
            v = U - reference[i] + (s + (np.arange(k) != y[i])) / q
            u = np.sort(v)[::-1]
            tau = (np.cumsum(u) - ours.C[i]) / np.arange(1, k + 1)
            new = U - np.maximum(v - tau[np.flatnonzero(u > tau)[-1]], 0.0)
            s += q * (new - reference[i])
            reference[i] = new
    others = reference[np.arange(k) != y[:, None]].sum()
    best = -0.5 * np.sum(reference.sum(axis=0) ** 2) * q - others
    certificate = state.refresh(Pace())
    assert sum(gained) == pytest.approx(best, rel=1e-9)
    assert certificate.dual == pytest.approx(best, rel=1e-9)
    assert certificate.gap < 1e-7
    np.testing.assert_allclose(ours.alpha.sum(axis=1), 0.0, atol=1e-12)
    assert (ours.alpha <= ours.C[:, None] * (np.arange(k) == y[:, None])).all()


@pytest.mark.parametrize("solver", ["auto", "baseline", "hybrid"])
def test_contradictions_do_not_take_a_step_for_every_unit_of_C(solver):
    X, y = with_twins(n_features=80, size=30.0)  # single examples would need thousands of visits of each
    model = LinearSVC(
        multi_class="crammer_singer",
        fit_intercept=False,
        C=100.0,
        gap_tol=1e-3,
        max_iter=1000,
        solver=solver,
        random_state=0,
    ).fit(csr(X), y)
    assert model.converged_
    G = X @ model.coef_.T + 1.0
    own = G[np.arange(50), y] - 1.0
    G[np.arange(50), y] = own
    objective = 0.5 * np.sum(model.coef_**2) + 100.0 * np.sum(G.max(axis=1) - own)
    assert model.objective_ == pytest.approx(objective, rel=1e-10)  # the certificate is that of these weights


def test_no_crumbs_are_left_at_the_bounds():
    """A variable that a leap left next to its bound would look as violated as one far from it, for ever."""
    X, y = with_twins(n_features=80, size=30.0)
    model = LinearSVC(
        multi_class="crammer_singer", fit_intercept=False, C=100.0, tol=1e-4, max_iter=1000, solver="hybrid"
    ).fit(csr(X), y)
    assert model.converged_
    assert model.stop_reason_ == "tol"
    assert model.kkt_violation_ < 1e-3
