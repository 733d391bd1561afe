from math import inf, isnan

import pytest

from hingeline import Hinge, solve
from hingeline.bench.datasets import read_arrays
from hingeline.bench.steps import SOLVERS, Cell, StepsBench, ratio, row, summary


@pytest.fixture
def trainings(monkeypatch):
    """Make each training's steps what the test says by seed, None for a late one; return the seeds that were run."""
    ran = []

    def set_steps(*steps):
        def train(self, dataset, solver, C, deadline, seed, **stop):
            assert stop == {"gap_tol": 1e-3}
            ran.append(seed)
            return {"seconds": 1.0, "steps": steps[seed] or 7, "finished": steps[seed] is not None, "gap": 1e-3}

        monkeypatch.setattr("hingeline.bench.training.Trainer.train", train)
        return ran

    return set_steps


@pytest.mark.parametrize(
    ("steps", "median", "seeds_run"),
    [
        ((5, 1, 4, 2, 3), 3, 5),
        ((None, 1, 4, None, 3), 4, 5),
        ((None, 1, None, None, 3), inf, 4),
        ((None, None, None, 2, 3), inf, 3),
        ((4, None), inf, 2),
        ((None, 4), inf, 1),
    ],
)
def test_the_median_counts_and_late_seeds_are_beyond_it(steps, median, seeds_run, tiny, tmp_path, trainings):
    ran = trainings(*steps)
    assert StepsBench(1e-3, 10.0, tmp_path, seeds=len(steps)).cell(tiny, 1.0, "avsf").steps == median
    assert ran == list(range(seeds_run))
    again = StepsBench(1e-3, 10.0, tmp_path, seeds=len(steps))
    assert again.cell(tiny, 1.0, "avsf").steps == median
    assert len(ran) == again.store.n_kept == seeds_run


def test_steps_of_all_classes_are_counted(three, tmp_path):
    cell = StepsBench(1e-3, 60.0, tmp_path, seeds=1).cell(three, 1.0, "hybrid")
    X, codes = read_arrays(three.parsed(tmp_path / "data"))
    signs = [2.0 * (codes == k) - 1.0 for k in range(3)]
    each = [solve(X, y, Hinge(C=1.0), solver="hybrid", gap_tol=1e-3, random_state=0).n_steps for y in signs]
    assert cell.steps == sum(each)


def group(C, *steps):
    cells = (Cell("d", C, solver, 1e-3, n, 1.0, 5, 60.0) for solver, n in zip(SOLVERS, steps, strict=True))
    return {cell.solver: cell for cell in cells}


def test_ratios():
    assert ratio(group(1.0, 100.0, 50.0, 25.0)) == 0.5
    assert ratio(group(1.0, 100.0, inf, 25.0)) == 0.25
    assert ratio(group(1.0, 100.0, inf, inf)) == inf
    assert isnan(ratio(group(1.0, inf, inf, 25.0)))
    assert row(group(10.0, 1e6, inf, 5e5)) == ["d", "10", "1.000e+06", ">60 s", "5.000e+05", "0.500"]


def test_summary():
    groups = [group(0.1, 100.0, 200.0, 120.0), group(1.0, 100.0, 200.0, 80.0), group(10.0, 100.0, 200.0, 20.0)]
    assert summary(groups) == [
        "hybrid / better of baseline and avsf: 1.2x in the worst of 3 cells (d, C 0.1)",
        "C >= 1: 0.4x in the geometric mean of 2 cells",
    ]
    assert summary([group(1.0, inf, inf, 1.0)]) == []
