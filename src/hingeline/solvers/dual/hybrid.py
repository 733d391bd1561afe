"""Hard shrinking and adaptive frequencies together: Algorithm 2's active set with Algorithm 5's preferences.

Goes beyond the paper.

Problem    min_w   |w|^2/2 + sum_i C_i max(0, 1 - y_i <x_i, w>)
Dual       max_a   W(a) = sum_i a_i - |w|^2/2,   w = sum_i a_i y_i x_i,   0 <= a_i <= C_i

Variables that press against their bound leave the active set A, as in the baseline. Those in A are visited p_i times
per sweep on average, as in AVSF, but visits are accounted for instead of drawn at random (solvers/visit_order.py), and
a sweep makes about |A| visits. The limit p_max on p_i grows if the variables at that limit make most of the gain.

When a sweep over A is below eps, a sweep over all variables verifies it. So does one that is overdue: if too much was
dropped, the optimum over A is not worth its last digits. Preferences survive the verification: the variables that had
left A come back to it, and nothing that was learned about them is lost.
"""

from __future__ import annotations

import numpy as np

from ...kernels.schedule import Learning, Preferences, keep_active
from ...kernels.shrink import Thresholds, cautious_thresholds, next_thresholds
from ..driver import Run, Verdict
from ..state import State
from ..visit_order import new_accounts, order_visits, room_for_visits
from .active_sweep import Seen, visit_active, with_adjusted_p_max

OVERDUE, OVERDUE_SWEEPS = 0.3, 10.0  # fraction of all steps so far, and sweeps, after which all variables are due again


def hybrid(state: State, run: Run, preferences: Preferences = Preferences()) -> None:
    """Run the hybrid on ``state`` until it has converged or ``run`` ends it."""
    problem, p = state.problem, state.variables.p
    rows, loss, l = problem.data.rows, problem.loss, problem.n_variables
    p[:] = 1.0
    A = problem.variables_in_order()
    accounts = new_accounts(problem.data.n_rows)
    order = room_for_visits(l)
    n_active, thresholds, before, complete = l, Thresholds(), Thresholds(), True
    seen, least_p_max, unseen = Seen(), preferences.p_max, 0
    for sweep in run.sweeps():
        I = order_visits(p, A[:n_active], accounts, order, once=complete, rng=state.rng, pace=run.shuffles)
        learning = Learning(*preferences, 1.0 / n_active, True, sweep == 0)
        seen = Seen(D_ref=seen.D_ref)
        for begin, end in run.visits.slices(I.size):
            rule = (thresholds, learning, complete)
            seen = Seen(*visit_active(rows, loss, state.variables, state.w, I, begin, end, *rule, seen))
        preferences = with_adjusted_p_max(preferences, least_p_max, seen)
        violation = seen.violation
        verdict = run.sweep(seen.steps, violation, seen.gain, seen.gap, criterion=violation, complete=complete)
        if verdict is Verdict.SATISFIED and complete:
            break
        unseen = 0 if complete else unseen + seen.steps
        overdue = unseen > max(OVERDUE * run.n_steps, OVERDUE_SWEEPS * l)
        n_active = keep_active(p, A, n_active) if verdict is Verdict.GO_ON and not overdue else 0
        if n_active > 0:
            last = next_thresholds(seen.v_min, seen.v_max)
            thresholds = cautious_thresholds(sweep, last, before)
            before, complete = last, False
        else:
            np.abs(p, out=p)
            A = problem.variables_in_order()
            n_active, thresholds, complete = l, Thresholds(), True
