"""The table of C and folds: filled from the smallest C on, by walks whose results do not depend on timing."""

import numpy as np
import pytest
from problems import classification

from hingeline import Hinge
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.selection import grid
from hingeline.selection.early import EarlyEnd
from hingeline.selection.folds import Fold
from hingeline.selection.grid import Grid, Leg, legs
from hingeline.selection.study import Study, part_of
from hingeline.solvers.stop import Stop
from hingeline.solvers.train import train

X, Y = classification(90, 5, seed=51)
DATA = read_data(X, 1.0)
CS = np.array([0.01, 0.1, 1.0, 10.0])
N_FOLDS = 3


def folds():
    for k in range(N_FOLDS):
        counts = np.ones(90, dtype=np.uint8)
        counts[k::N_FOLDS] = 0
        yield Fold(counts, np.arange(k, 90, N_FOLDS))


FOLDS = list(folds())


def accuracy(fold, C, values, weights):
    return float(np.mean(np.where(values[:, 0] > 0.0, 1, -1) == Y[FOLDS[fold].held_out]))


def problem_at(fold, k, C):
    return make_problem(DATA, Y.astype(np.float32), FOLDS[fold].counts.astype(np.float64), Hinge(C))


def study(**change):
    how = {
        "data": DATA,
        "folds": FOLDS,
        "problem_at": problem_at,
        "is_trainable": lambda fold, k: True,
        "score": accuracy,
        "solver": "hybrid",
        "stop": Stop(gap_tol=1e-6),
        "seed": 5,
        "n_problems": 1,
    }
    return Study(**{**how, **change})


def test_cells_hold_the_scores_of_cold_fits():
    table = Grid(study(), CS).run()
    assert table.of("score").shape == (4, 3)
    for k, C in enumerate(CS):
        for fold, own in enumerate(FOLDS):
            s = train(problem_at(fold, 0, C), "hybrid", Stop(gap_tol=1e-9), seed=0)
            values = X[own.held_out] @ s.w + s.intercept
            assert table.of("score")[k, fold] == pytest.approx(
                accuracy(fold, C, values[:, None], None), abs=1 / 30 + 1e-9
            )
    assert (table.of("gap") <= 1e-6).all()
    assert (table.of("seconds") > 0.0).all()
    assert (table.of("work") > 0.0).all()
    assert all(cell.converged and cell.stop_reason == "gap_tol" for cell in table.cells.values())


@pytest.mark.parametrize("n_threads", [2, 5])
def test_threads_change_nothing(n_threads):
    alone, together = (Grid(study(), CS, n_threads=n).run() for n in (1, n_threads))
    for field in ("score", "gap", "work"):
        np.testing.assert_array_equal(alone.of(field), together.of(field))


def test_many_threads_begin_at_several_c():
    alone = Grid(study(), CS).run()
    tables = [Grid(study(), CS, n_threads=9).run() for _ in range(2)]
    np.testing.assert_array_equal(tables[0].of("gap"), tables[1].of("gap"))  # timing changes nothing
    assert (tables[0].of("gap") <= 1e-6).all()
    np.testing.assert_allclose(tables[0].of("score"), alone.of("score"), atol=1 / 30 + 1e-9)


@pytest.mark.parametrize(("n_chains", "n_Cs", "n_threads"), [(5, 4, 1), (5, 4, 16), (5, 6, 100), (3, 1, 7), (1, 5, 3)])
def test_legs_cover_the_grid_once(n_chains, n_Cs, n_threads):
    found = legs(n_chains, n_Cs, n_threads)
    cells = [(leg.chain, k) for leg in found for k in range(leg.begin, leg.end)]
    assert sorted(cells) == [(chain, k) for chain in range(n_chains) for k in range(n_Cs)]
    assert all(leg.begin < leg.end for leg in found)
    assert len(found) <= max(n_threads, n_chains)


def test_a_leg_per_chain_unless_threads_would_be_idle():
    assert legs(2, 3, 3) == [Leg(0, 0, 3), Leg(1, 0, 3)]
    assert legs(1, 3, 2) == [Leg(0, 0, 2), Leg(0, 2, 3)]


def test_longer_legs_get_the_threads_of_those_that_have_ended(monkeypatch):
    """Nine threads for three folds and four C: nine legs, of which three have a second C."""
    given = {}

    def recorded(study, chain, walk, C):
        given[chain, C] = walk.n_threads
        return part_of(study, chain, walk, C)

    monkeypatch.setattr(grid, "part_of", recorded)
    assert len(CS) == 4
    Grid(study(), CS, n_threads=9).run()
    assert given == {(chain, C): 3 if C == CS[1] else 1 for chain in range(3) for C in CS}


@pytest.mark.parametrize("n_threads", [1, 3, 9])
def test_rows_are_closed_in_order_and_may_end_the_path(n_threads):
    rows, cells = [], []

    def on_row(k, table):
        rows.append((k, np.isnan(table.of("score")[: k + 1]).any()))
        return k == 1

    grid = Grid(study(), CS, n_threads=n_threads, on_row=on_row, on_cell=lambda k, fold, *_: cells.append((k, fold)))
    table = grid.run()
    assert rows == [(0, False), (1, False)]
    assert set(table.cells) == {(k, fold) for k in (0, 1) for fold in range(3)}  # work ahead of that is given up
    assert set(table.cells) <= set(cells)


def test_the_rule_ends_the_path():
    def falls(fold, C, values, weights):
        return -abs(np.log10(C) + 1.0) + 0.001 * fold

    whole = Grid(study(score=falls), CS).run()
    ended = Grid(study(score=falls), CS, early=EarlyEnd(overwhelmingly=0.0)).run()
    assert len(whole.cells) == 12
    assert set(ended.cells) == set(whole.cells)  # the last C is the second that falls: nothing is left to save
    longer = np.append(CS, [100.0, 1000.0])
    ended = Grid(study(score=falls), longer, early=EarlyEnd(overwhelmingly=0.0)).run()
    assert {k for k, _ in ended.cells} == {0, 1, 2, 3}


def test_cells_of_an_earlier_run_are_not_trained_again():
    reached = {}

    def keep(k, fold, cell, where):
        reached[k, fold] = where

    first = Grid(study(), CS, on_cell=keep, on_row=lambda k, table: k == 1).run()
    trained = []

    def counting(fold, k, C):
        trained.append((fold, C))
        return problem_at(fold, k, C)

    rest = Grid(study(problem_at=counting), CS, done=first.cells, reached=reached).run()
    assert {C for _, C in trained} == {1.0, 10.0}
    whole = Grid(study(), CS).run()
    np.testing.assert_array_equal(rest.of("score"), whole.of("score"))
    np.testing.assert_array_equal(rest.of("gap"), whole.of("gap"))


def test_a_class_without_rows_is_never_predicted():
    seen = []

    def score(fold, C, values, weights):
        seen.append((values.copy(), weights))
        return 0.5

    Grid(study(score=score, is_trainable=lambda fold, k: k == 1, n_problems=2), CS[:1]).run()
    for values, weights in seen:
        assert (values[:, 0] == -np.inf).all()
        assert np.isfinite(values[:, 1]).all()
        assert weights[0] is None
        assert weights[1].shape == (6,)


def test_a_score_that_is_no_number_is_named():
    with pytest.raises(ValueError, match=r"score of fold 0 at C = 0\.01 is nan"):
        Grid(study(score=lambda *_: np.nan), CS).run()


def test_sweeps_are_told_with_their_chain():
    seen = []
    Grid(study(), CS[:1], callback=lambda chain, progress: seen.append((chain, progress.n_iter)) and None).run()
    assert {chain for chain, _ in seen} == {0, 1, 2}
    assert sum(n == 1 for _, n in seen) == 3


def test_the_share_of_held_out_rows():
    assert study().test_share == pytest.approx(0.5)


@pytest.mark.parametrize("n_threads", [1, 3, 9])
def test_the_solutions_at_the_best_c_are_kept(n_threads):
    kept = {}

    def score(fold, C, values, weights):
        return 1.0 if C in (0.1, 1.0) else 0.5  # of equal means the smallest C is the best

    def on_cell(k, fold, cell, reached):
        kept[k, fold] = reached

    grid = Grid(study(score=score), CS, n_threads=n_threads, on_cell=on_cell, keeps_best=True)
    grid.run()
    assert len(grid.best) == N_FOLDS
    for fold, (reached,) in enumerate(grid.best):
        assert reached.C == 0.1
        assert reached is kept[1, fold][0]


def test_nothing_is_kept_that_is_not_asked_for_or_not_known():
    grid = Grid(study(), CS)
    done = grid.run().cells
    assert grid.best is None
    grid = Grid(study(), CS, done=done, keeps_best=True)
    grid.run()
    assert grid.best is None
