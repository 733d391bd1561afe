"""A factor that is kept while rows move in and out of the band."""

import numpy as np
import pytest
from problems import EVERY_LOSS, TARGET_LOSSES, classification, regression
from scipy import sparse

from hingeline import solve
from hingeline.solvers.newton import directions, kept_factor
from hingeline.solvers.newton.kept_factor import KeptFactor
from hingeline.solvers.shards import in_memory


class Rows:
    """What a factor asks of the shards: rows, and their weights in the Gram matrix by now."""

    def __init__(self, Z, entries):
        self.Z, self.entries = Z, entries

    def band_entries(self):
        return None if self.entries is None else self.entries.copy()

    def dense_rows(self, which):
        return self.Z[which].copy()

    def gram(self):
        return self.Z.T @ (self.entries[:, None] * self.Z)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return Rows(rng.normal(size=(300, 60)), rng.integers(0, 2, 300) * 2.0)


def kept(rows, scale):
    factor = np.asfortranarray(np.linalg.cholesky(np.eye(60) + scale * rows.gram()))
    return KeptFactor(rows, factor, scale, rows.band_entries())


@pytest.mark.parametrize("scale", [0.5, 1.0, 1.7])
def test_it_solves_newtons_equation_while_rows_move(rows, scale):
    known, rng = kept(rows, 1.0), np.random.default_rng(1)
    for _ in range(4):  # some rows come, some go, and some of these come back
        moving = rng.choice(rows.entries.size, 3, replace=False)
        rows.entries[moving] = 2.0 - rows.entries[moving]
        b = rng.normal(size=60)
        p, left = known.solve(np.triu(rows.gram()), scale, b)
        H = np.eye(60) + scale * rows.gram()
        np.testing.assert_allclose(H @ p - b, left, atol=1e-8 * np.linalg.norm(b))
        assert np.linalg.norm(left) <= kept_factor.EXACT * np.linalg.norm(b)
        if scale == 1.0:
            np.testing.assert_allclose(p, np.linalg.solve(H, b), rtol=1e-8, atol=1e-10)


def test_it_is_given_up_if_it_is_too_old(rows):
    rows.Z *= np.logspace(-3.0, 0.0, 60)  # eigenvalues of all sizes
    known = kept(rows, 1.0)
    assert known.solve(np.triu(rows.gram()), 1e6, np.ones(60)) is None  # I is nothing by now
    rows.entries[:20] = 5.0
    assert known.solve(np.triu(rows.gram()), 1.0, np.ones(60)) is None  # too many rows
    rows.entries = None
    assert known.solve(np.eye(60), 1.0, np.ones(60)) is None  # rows on other machines


@pytest.mark.parametrize("loss", EVERY_LOSS)
@pytest.mark.parametrize(("C", "n_jobs"), [(0.1, 1), (100.0, 1), (100.0, 3)])
def test_training_with_kept_factors_ends_at_the_same_optimum(loss, C, n_jobs, monkeypatch):
    X, y = (regression if loss in TARGET_LOSSES else classification)(900, 80, seed=3, density=0.5)
    solved = []

    def counted(self, G, scale, b, plain=KeptFactor.solve):
        found = plain(self, G, scale, b)
        solved.append(found is not None)
        return found

    monkeypatch.setattr(KeptFactor, "solve", counted)
    at = {"loss": EVERY_LOSS[loss](C), "solver": "newton", "gap_tol": 1e-9, "bias": 1.0}
    expected = solve(sparse.csr_array(X), y, **at)
    assert not solved
    monkeypatch.setattr(directions, "WORTH_KEEPING", 5)
    monkeypatch.setattr(kept_factor, "MOST_MOVED", 5.0)
    monkeypatch.setattr(in_memory, "shard_count", lambda n_stored, n_weights, n_threads: n_threads)
    found = solve(sparse.csr_array(X), y, n_jobs=n_jobs, **at)
    assert any(solved) == (loss != "logistic")  # whose curvatures all change
    assert found.converged
    assert found.certificate.gap <= 1e-9
    assert found.certificate.primal == pytest.approx(expected.certificate.primal, rel=1e-8)
    np.testing.assert_allclose(found.w, expected.w, atol=1e-3 * np.abs(expected.w).max())
