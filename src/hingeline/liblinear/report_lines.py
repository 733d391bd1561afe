"""The lines that LIBLINEAR's ``train`` prints when a problem is solved, which scripts read.

==============  ============================================================================================
types           lines, after ``optimization finished, #iter = N`` (our sweeps or iterations)
==============  ============================================================================================
1, 3, 4, 12,    ``Objective value = `` the dual objective, which LIBLINEAR minimises, and ``nSV = `` the number of
13, 21          dual variables that are not zero; ``rho = `` for type 21
7               the objective alone
5, 6            ``Objective value = `` the primal objective, ``#nonzeros/#features = ``
0, 2, 11        ``Objective value = `` the primal objective; LIBLINEAR prints a line for each Newton step instead
==============  ============================================================================================
"""

from __future__ import annotations

import numpy as np

from ..solution import Solution
from .training import Trained


def report_lines(trained: Trained) -> list[str]:
    """Return LIBLINEAR's lines about each problem of a training, in their order."""
    return [line for k, s in enumerate(trained.solutions) for line in _lines(trained, k, s)]


def _lines(trained: Trained, k: int, s: Solution) -> list[str]:
    model, solver_type = trained.model, trained.model.solver_type
    in_dual = solver_type.dual
    value = -s.certificate.dual if in_dual else s.certificate.primal
    lines = ["", f"optimization finished, #iter = {s.n_iter}", f"Objective value = {value:f}"]
    if in_dual and not solver_type.has_probabilities:
        lines.append(f"nSV = {np.count_nonzero(s.alpha)}")
    if solver_type.penalty == "l1":
        w = model.w[:, k]
        lines.append(f"#nonzeros/#features = {np.count_nonzero(w)}/{w.size}")
    if solver_type.task == "one_class":
        lines.append(f"rho = {model.rho:f}")
    return lines
