"""The registry of engines: every record can be run, and names cost no kernels."""

import subprocess
import sys

import pytest
from problems import classification

from hingeline import Hinge, SquaredHinge
from hingeline.data.problem import make_problem
from hingeline.data.read import read_data
from hingeline.solvers.engines import (
    AUTO,
    ENGINES,
    NAMES,
    SOLVERS,
    STEPWISE_SOLVERS,
    check_solver,
    engines_of,
    names_for,
    stepwise_engine,
)
from hingeline.solvers.stop import Stop
from hingeline.solvers.train import train


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_loads(name):
    assert ENGINES[name].load().__name__ == name


def test_names():
    assert SOLVERS == (AUTO, *NAMES)
    assert set(NAMES) == {name for name in ENGINES if ENGINES[name].by_name}
    assert set(STEPWISE_SOLVERS) == {"auto", "baseline", "avsf", "hybrid"}
    assert "newton_cg" in names_for(smooth=True)
    assert "newton_cg" not in names_for(smooth=False)
    for solver in SOLVERS:
        check_solver(solver)
    for wrong in ("out_of_core", "Newton", ""):
        with pytest.raises(ValueError, match="solver must be 'auto' or one of"):
            check_solver(wrong)


def test_engines_of_a_solution():
    assert [engine.name for engine in engines_of("hybrid+newton+hybrid")] == ["hybrid", "newton", "hybrid"]


def test_other_problems_take_an_engine_that_goes_step_by_step():
    assert stepwise_engine("auto", "this") == ENGINES["hybrid"]
    assert stepwise_engine("avsf", "this") == ENGINES["avsf"]
    with pytest.raises(
        ValueError, match='solver="newton" does not train this: use one of auto, avsf, baseline, hybrid'
    ):
        stepwise_engine("newton", "this")


@pytest.mark.parametrize("name", NAMES)
def test_records_tell_the_truth(name):
    """Steps are counted, and preferences kept, by the engines that say so."""
    X, y = classification(300, 5, seed=1)
    problem = make_problem(read_data(X), y.astype("f4"), None, SquaredHinge(1.0))
    preferences = []
    solution = train(
        problem, name, Stop(tol=1e-6), seed=0, callback=lambda progress: preferences.append(progress.look().p)
    )
    assert all(engine.name == name for engine in engines_of(solution.solver))
    assert (solution.n_steps > 0) == ENGINES[name].stepwise
    assert (preferences[-1] is not None) == ENGINES[name].adapts


def test_a_smooth_loss_is_asked_for():
    X, y = classification(30, 3)
    problem = make_problem(read_data(X), y.astype("f4"), None, Hinge(1.0))
    with pytest.raises(ValueError, match="smooth"):
        train(problem, "newton_cg", Stop(), seed=0)


def test_names_load_no_kernels():
    code = "import hingeline.solvers.engines, sys; print('numba' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
