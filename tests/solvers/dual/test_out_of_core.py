"""Data that does not fit in memory: the same optimum and certificate as in memory, whatever the layout."""

import json
import sys
from pathlib import Path

import numpy as np
import processes
import pytest
from problems import LOSSES, classification, csr, primal
from scipy import sparse

from hingeline import Checkpoint, Hinge, LinearSVC, Pinball, SquaredHinge, solve
from hingeline.data.blocks import BYTES_PER_ROW, BYTES_PER_WEIGHT, mapping_of
from hingeline.data.read import read_data
from hingeline.io import open_dataset, write_dataset
from hingeline.kernels.variables import new_variables
from hingeline.solvers.dual.resident_rows import Part, Shelf
from hingeline.solvers.newton import newton

GAP = 1e-4  # many more sweeps would show nothing more
SCRIPT = Path(__file__).with_name("interrupted_reading.py")


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Return what maps every array of a matrix from a file, and leaves memory for a third of them."""
    monkeypatch.setattr("hingeline.data.blocks.TOGETHER", 4)  # tens of blocks, not hundreds

    def store(X):
        Y, size = X.copy(), 0
        for name in ("indptr", "indices", "data"):
            array = getattr(X, name)
            if array.strides != (0,):  # one number for all stays so
                np.save(tmp_path / name, array)
                array = np.load(tmp_path / f"{name}.npy", mmap_mode="r")
                size += array.nbytes
            setattr(Y, name, array)
        own = BYTES_PER_ROW * X.shape[0] + BYTES_PER_WEIGHT * (X.shape[1] + 1)
        monkeypatch.setenv("HINGELINE_MEMORY", str(own + size // 3))
        return Y

    return store


def ones(X, value=1.0, dtype=np.float32):
    """Return CSR ``X`` with one stored number that stands for all values."""
    Y = X.copy()
    Y.data = np.broadcast_to(dtype(value), X.data.shape)
    return Y


def data(n=800, d=60, density=0.2, **options):
    """Return a small problem."""
    return classification(n, d, density=density, **options)


X0, Y0 = data(seed=3)
LAYOUTS = {  # few types, since each is compiled
    "int32-float32": csr(X0, value=np.float32),
    "int64-float64": csr(X0, index=np.int64),
    "implicit ones": ones(csr(X0), dtype=np.int8),
    "stored ones": csr((X0 != 0.0).astype(np.float64), value=np.float32),
    "one value": ones(csr(X0), 0.5),
}


# Every layout by every engine that reads blocks, and every loss by each of these.
CASES = [(layout, "hinge", solver) for layout in LAYOUTS for solver in ("hybrid", "newton")]
CASES += [("int32-float32", "squared_hinge", solver) for solver in ("hybrid", "newton")]


@pytest.mark.parametrize(("layout", "loss", "solver"), CASES)
def test_same_optimum_as_in_memory(stored, layout, loss, solver):
    options = {"gap_tol": GAP, "random_state": 0, "bias": float(loss == "hinge")}
    X, loss = LAYOUTS[layout], LOSSES[loss](0.05)
    out = solve(stored(X), Y0, loss, **options, solver=solver)
    within = solve(X.toarray().astype(np.float64), Y0, loss, **options, solver="hybrid")
    assert (out.solver, within.solver) == ("out_of_core" if solver == "hybrid" else "newton", "hybrid")
    assert out.stop_reason == "gap_tol"
    assert out.certificate.primal == pytest.approx(within.certificate.primal, rel=2 * GAP)
    apart = np.linalg.norm(out.w - within.w)
    assert apart <= 2.0 * np.sqrt(2.0 * GAP * out.certificate.primal)  # |w - w*|^2/2 is at most the gap
    exact = primal(X, Y0, out.w, loss, intercept=out.intercept)
    assert out.certificate.primal == pytest.approx(exact, rel=1e-12)
    if solver == "hybrid":  # else w is the engine's own
        np.testing.assert_allclose(out.w, X.T.astype(np.float64) @ (out.alpha * Y0), atol=1e-11)


def test_changes_of_a_private_mapping_are_kept(stored, tmp_path):
    """Giving pages of such a mapping back would bring the values of the file back."""
    X, twice = stored(csr(X0, value=np.float32)), csr(2.0 * X0, value=np.float32)
    X.data = np.load(tmp_path / "data.npy", mmap_mode="c")
    X.data *= np.float32(2.0)
    out = solve(X, Y0, Hinge(0.05), gap_tol=GAP, solver="hybrid")
    assert out.solver == "out_of_core"
    np.testing.assert_array_equal(X.data, twice.data)
    assert out.certificate.primal == pytest.approx(primal(twice, Y0, out.w, Hinge(0.05)), rel=1e-12)


@pytest.mark.parametrize(("loss", "solver"), [("hinge", "auto"), ("hinge", "hybrid"), ("squared_hinge", "auto")])
def test_a_free_intercept(stored, loss, solver):
    how = {"gap_tol": GAP, "random_state": 0, "free_intercept": True}
    X, loss = csr(X0 + 0.3 * (X0 != 0.0), value=np.float32), LOSSES[loss](0.05)
    out = solve(stored(X), Y0, loss, solver=solver, **how)
    within = solve(X.toarray().astype(np.float64), Y0, loss, **how)
    assert out.stop_reason == "gap_tol"
    assert out.certificate.primal == pytest.approx(within.certificate.primal, rel=2 * GAP)
    assert abs(np.sum(out.alpha * Y0)) <= 1e-14 * np.abs(out.alpha).sum()
    exact = primal(X, Y0, out.w, loss, intercept=out.intercept, bias=np.inf)
    assert out.certificate.primal == pytest.approx(exact, rel=1e-12)


def test_variables_on_both_sides_of_zero(stored):
    """The bounds of a quantile differ in size."""
    y = X0[:, :5].sum(axis=1) + np.random.default_rng(0).normal(size=len(X0))
    options = {"gap_tol": 1e-6, "random_state": 0}
    out = solve(stored(csr(X0)), y, Pinball(0.05, 0.2), **options, solver="hybrid")
    within = solve(X0, y, Pinball(0.05, 0.2), **options)
    assert (out.solver, out.stop_reason) == ("out_of_core", "gap_tol")
    assert out.certificate.primal == pytest.approx(within.certificate.primal, rel=2e-6)
    assert (out.alpha >= (0.2 - 1.0) * 0.05).all()
    assert (out.alpha <= 0.2 * 0.05).all()


def test_what_fits_is_trained_in_memory(stored, monkeypatch):
    X = stored(csr(X0, value=np.float32))
    assert len(read_data(X).blocks) > 20
    assert read_data(csr(X0, value=np.float32)).blocks is None  # it is in memory already
    monkeypatch.setenv("HINGELINE_MEMORY", "1G")
    assert read_data(X).blocks is None


def test_few_features_at_a_large_C_go_to_newtons_method(stored):
    """Sweeps would read the files thousands of times."""
    X = csr(X0, value=np.float32)
    out = solve(stored(X), Y0, Hinge(1e4), tol=1e-3, random_state=0)
    assert out.solver == "newton"
    assert out.converged
    within = solve(X0.astype(np.float32).astype(np.float64), Y0, Hinge(1e4), solver="newton", tol=1e-6)
    assert out.certificate.primal == pytest.approx(within.certificate.primal, rel=1e-3)


def test_a_sample_out_of_core_leads_to_the_same_optimum(stored, monkeypatch):
    monkeypatch.setattr(newton, "LEAST_STEP", 2)
    monkeypatch.setattr(newton, "SAMPLED_PER_WEIGHT", 4)
    out = solve(stored(csr(X0, value=np.float32)), Y0, Hinge(1.0), solver="newton", tol=1e-6)
    within = solve(X0.astype(np.float32).astype(np.float64), Y0, Hinge(1.0), solver="newton", tol=1e-6)
    assert out.converged
    np.testing.assert_allclose(out.w, within.w, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("solver", ["hybrid", "newton", "baseline", "avsf"])
def test_a_named_engine_is_obeyed(stored, solver):
    s = solve(stored(csr(X0, value=np.float32)), Y0, Hinge(0.1), solver=solver, tol=1e-2, random_state=0)
    assert s.solver == ("out_of_core" if solver == "hybrid" else solver)
    assert s.converged


def test_tolerance_caps_and_callback(stored):
    X = stored(csr(X0, value=np.float32))
    s = solve(X, Y0, Hinge(0.1), tol=1e-2, solver="hybrid", random_state=0)
    assert (s.stop_reason, s.converged) == ("tol", True)
    assert s.certificate.violation < 1e-1
    assert s.history.size == s.n_iter
    s = solve(X, Y0, Hinge(100.0), tol=1e-9, max_iter=3, solver="hybrid", random_state=0)
    assert (s.stop_reason, s.n_iter, s.converged) == ("max_iter", 3, False)
    s = solve(X, Y0, Hinge(100.0), tol=1e-12, max_time=0.05, solver="hybrid", random_state=0)
    assert (s.stop_reason, s.converged) == ("max_time", False)
    assert s.certificate.gap >= 0.0
    s = solve(X, Y0, Hinge(1.0), solver="hybrid", random_state=0, callback=lambda progress: progress.n_iter == 2)
    assert (s.stop_reason, s.n_iter) == ("callback", 2)


def test_a_seed_decides(stored):
    X = stored(csr(X0, value=np.float32))
    one, same, other = (solve(X, Y0, Hinge(0.1), tol=1e-2, solver="hybrid", random_state=seed).w for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_starting_from_dual_variables(stored):
    X = stored(csr(X0, value=np.float32))
    cold = solve(X, Y0, SquaredHinge(0.1), gap_tol=GAP, solver="hybrid", random_state=0)
    warm = solve(X, Y0, SquaredHinge(0.1), gap_tol=GAP, alpha0=cold.alpha, solver="hybrid", random_state=0)
    assert warm.n_iter < cold.n_iter / 2
    assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=2 * GAP)


def test_rows_of_zeros_and_of_no_weight(stored):
    X, y = data(seed=5)
    X[40:300] = 0.0
    weights = np.ones(y.size)
    weights[200:500] = 0.0
    options = {"gap_tol": GAP, "sample_weight": weights, "random_state": 0}
    out = solve(stored(csr(X, value=np.float32)), y, Hinge(0.1), **options)
    within = solve(X.astype(np.float32), y, Hinge(0.1), **options)
    assert out.solver.startswith("out_of_core")
    assert out.certificate.primal == pytest.approx(within.certificate.primal, rel=2 * GAP)
    assert (out.alpha[300:500] == 0.0).all()
    assert (out.alpha[40:200] == 0.1).all()


def test_sorted_files(stored):
    X, y = data(2000, 40, seed=6)
    order = np.lexsort((X[:, 0], y))
    out = solve(
        stored(csr(X[order], value=np.float32)), y[order], Hinge(0.1), gap_tol=1e-3, solver="hybrid", random_state=0
    )
    assert out.converged
    assert out.certificate.gap <= 1e-3


def test_one_versus_rest(stored):
    X, y = data(n_classes=3, seed=7)
    options = {"loss": "hinge", "C": 0.1, "gap_tol": GAP, "random_state": 0}
    out = LinearSVC(**options, n_jobs=2).fit(stored(csr(X, value=np.float32)), y)
    within = LinearSVC(**options).fit(X.astype(np.float32), y)
    assert all(name.startswith("out_of_core") for name in out.per_class_["solver"])
    np.testing.assert_allclose(out.objective_, within.objective_, rtol=2 * GAP)
    assert np.mean(out.predict(X) == within.predict(X)) > 0.98
    again = out.set_params(warm_start=True).fit(stored(csr(X, value=np.float32)), y)
    np.testing.assert_allclose(again.objective_, within.objective_, rtol=2 * GAP)


def test_datasets_are_trained_in_place(tmp_path, monkeypatch):
    X = csr(X0, value=np.float32)
    write_dataset(tmp_path / "values", X, Y0)
    write_dataset(tmp_path / "ones", ones(X), Y0)
    monkeypatch.setenv("HINGELINE_MEMORY", str(BYTES_PER_ROW * 800 + BYTES_PER_WEIGHT * 61 + 20_000))
    monkeypatch.setattr("hingeline.data.blocks.TOGETHER", 4)
    for name, dense in (("values", X.toarray()), ("ones", (X0 != 0.0).astype(np.float32))):
        stored_X, y = open_dataset(tmp_path / name)
        out = LinearSVC(loss="hinge", C=0.05, gap_tol=GAP, fit_intercept=False).fit(stored_X, y)
        within = LinearSVC(loss="hinge", C=0.05, gap_tol=GAP, fit_intercept=False).fit(dense, y)
        assert out.solver_.startswith("out_of_core")
        assert out.objective_ == pytest.approx(within.objective_, rel=2 * GAP)


def test_a_checkpoint_goes_on_in_files_and_in_memory(stored, tmp_path, monkeypatch):
    X = csr(X0, value=np.float32)
    model = LinearSVC(loss="hinge", C=0.05, gap_tol=GAP, fit_intercept=False, random_state=0)
    rows = stored(X)
    whole = model.fit(rows, Y0).n_iter_

    def dies(progress):
        if progress.n_iter == whole - 1:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        model.set_callbacks(Checkpoint(tmp_path / "state", every=0.0), dies).fit(rows, Y0)
    model.set_callbacks(Checkpoint(tmp_path / "state")).fit(rows, Y0)
    assert model.solver_.startswith("out_of_core")
    assert model.n_iter_ < whole
    monkeypatch.delenv("HINGELINE_MEMORY")
    model.fit(rows, Y0)
    assert model.solver_ != "out_of_core"
    assert model.n_iter_ <= 2


def test_damage_is_found_and_named_by_row(stored):
    X = csr(X0, value=np.float32)
    at = int(X.indptr[543]) + 2
    for index, value, message in (
        (-7, 1.0, r"column index -7 in row 543, outside \[0, 60\)"),
        (60, 1.0, r"column index 60 in row 543"),
        (59, np.nan, "NaN at row 543, column 59"),
        (59, np.inf, "infinity.* at row 543"),
    ):
        Y = X.copy()
        Y.indices[at], Y.data[at] = index, value
        with pytest.raises(ValueError, match=message):
            solve(stored(Y), Y0)
    Y = X.copy()
    Y.indptr[543] = 2 * Y.nnz
    with pytest.raises(ValueError, match="indptr is broken at row 542"):
        solve(stored(Y), Y0)


def test_unsorted_and_repeated_columns(stored):
    X = csr(X0[:, ::-1], value=np.float32)
    repeated = sparse.csr_array((np.tile(X.data, 2), np.tile(X.indices, 2), np.append(0, 2 * X.indptr[1:])))
    for i in range(X.shape[0]):
        inside = slice(X.indptr[i], X.indptr[i + 1])
        both = slice(2 * X.indptr[i], 2 * X.indptr[i + 1])
        repeated.indices[both] = np.tile(X.indices[inside][::-1], 2)
        repeated.data[both] = np.tile(X.data[inside][::-1], 2)
    out = solve(stored(repeated), Y0, Hinge(0.1), gap_tol=GAP, random_state=0)
    within = solve(2.0 * X.toarray(), Y0, Hinge(0.1), gap_tol=GAP)
    assert out.certificate.primal == pytest.approx(within.certificate.primal, rel=2 * GAP)


def test_blocks_read_ahead_what_is_there(stored):
    X = stored(csr(X0, value=np.float32))
    blocks = read_data(X).blocks
    assert mapping_of(blocks.rows.indices) is not None
    groups = [[5, 0], [2], [7, 1, 3]]
    with blocks.read(groups) as stream:
        for numbers, group in zip(groups, stream, strict=True):
            assert [block.number for block in group] == numbers
            for block in group:
                rows = sparse.csr_array(
                    (block.rows.data, block.rows.indices, block.rows.indptr), shape=(block.n_rows, 60)
                )
                np.testing.assert_array_equal(rows.toarray(), X0[block.begin : block.end].astype(np.float32))


def test_a_shelf_keeps_within_its_bytes_and_free_rows_first(stored):
    X = stored(csr(X0, value=np.float32))
    state = read_data(X)
    shelf = Shelf(Hinge(1.0), 2, 6000)
    rows = state.rows._replace(indptr=np.array(state.rows.indptr[:201]))
    variables = new_variables(200)
    variables.C[:] = 1.0
    variables.alpha[::5] = 0.5
    variables.p[::7] = 3.0
    A = np.arange(200, dtype=np.uint32)
    shelf.keep(0, Part(rows, variables, np.zeros(200, dtype=np.float32), A))
    kept = shelf.parts[0]
    assert 0 < sum(array.nbytes for array in kept.rows[:3]) <= 3000
    assert not set(kept.A.tolist()) - set(range(0, 200, 5))
    assert {0, 35, 70, 105, 140, 175} <= set(kept.A.tolist())
    dense = sparse.csr_array((kept.rows.data, kept.rows.indices, kept.rows.indptr), shape=(200, 60)).toarray()
    np.testing.assert_array_equal(dense[kept.A], X0[kept.A].astype(np.float32))
    assert not dense[np.setdiff1d(A, kept.A)].any()
    shelf.share_out()  # block 1 wants nothing: all is block 0's
    shelf.keep(0, Part(rows, variables, np.zeros(200, dtype=np.float32), A))
    assert 3000 < sum(array.nbytes for array in shelf.parts[0].rows[:3]) <= 6000


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill cannot send Ctrl-C to one process there")
def test_ctrl_c(tmp_path):
    done = processes.run([sys.executable, SCRIPT, tmp_path])
    assert done.returncode == 0, done.stderr[-2000:]
    report = json.loads(done.stdout)
    assert report["seconds"] is not None  # the fit was interrupted, not over
    assert report["seconds"] < 2.0
    assert report["threads"] <= 2  # the timer may still be ending
