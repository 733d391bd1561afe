"""
Choosing C
==========

``LinearSVCCV`` goes through a grid of C in every fold, each fit started from the last one, over one copy of X, and
stops when larger values can no longer win. ``CPathDisplay`` shows what it saw; ``c_path`` gives the models
themselves.
"""

import matplotlib.pyplot as plt
import numpy as np

from hingeline import LinearSVCCV, c_path
from hingeline.synthetic import make_text
from hingeline.viz import ConvergenceDisplay, CPathDisplay

X, y = make_text(n_rows=2000, n_cols=3000, seed=3)
search = LinearSVCCV(Cs=np.logspace(-2, 2, 9), cv=5, loss="hinge", random_state=0).fit(X, y)
print(f"best C {search.C_:.3g} ({search.best_score_:.3f}), within one standard error {search.C_1se_:.3g}")
print("skipped, because larger C could not win:", search.Cs_[np.isnan(search.scores_).any(axis=1)])
CPathDisplay.from_estimator(search)
plt.show()

# %%
# The models along a path, each with its certificate:

path = c_path(X, np.where(y == y.max(), 1, -1), [0.01, 0.1, 1.0, 10.0], "hinge", gap_tol=1e-4, random_state=0)
for C, solution in zip(path.Cs, path.solutions, strict=True):
    print(f"C {C:<5g} {solution.n_steps:8} steps, objective {solution.certificate.primal:9.3f}, ", end="")
    print(f"gap {solution.certificate.gap:.0e}")
    assert solution.certificate.gap <= 1e-4

# %%
# How the last fit converged:

ConvergenceDisplay.from_estimator(search)
plt.show()
