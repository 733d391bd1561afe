"""Stages of a proximal Newton method: they end when they were told to."""

import numpy as np
import pytest

from hingeline.solution import Certificate
from hingeline.solvers.clock import Clock, Ended
from hingeline.solvers.driver import Run
from hingeline.solvers.stages import run_stages
from hingeline.solvers.stop import Stop


class NeverThere:
    """A problem of which each step promises more, and that gains a little each time."""

    kappa, error, moved, primal, size, is_precise = 1.0, 0.0, 1.0, 1.0, 1.0, True
    violation, gap_at_v, gap = 1.0, 0.5, 0.5

    def __init__(self):
        self.n_steps = 0

    def step(self):
        self.n_steps += 1
        self.violation *= 0.99
        return 1.0

    def next_stage(self, factor):
        self.kappa *= factor


@pytest.mark.parametrize(("most_steps", "n_steps"), [(7, 7), (40, 40)])
def test_stages_end_after_the_steps_they_may_take(most_steps, n_steps):
    problem = NeverThere()
    run = Run(Stop(tol=1e-9, max_iter=1000), Clock(None, None), certify=lambda pace: None, floor=lambda: 0.0)
    start = Certificate.of(1.0, 1.0, 0.5)
    with pytest.raises(Ended, match="stalled"):
        run_stages(problem, run, start, lambda: None, most_steps)
    assert problem.n_steps == n_steps
    assert np.isfinite(problem.kappa)
