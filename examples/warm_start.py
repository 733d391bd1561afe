"""
From one C to the next
======================

Neighbouring values of C have similar solutions, so a fit that starts from its neighbour's has less to do.
``warm_start=True`` keeps the dual variables between fits; ``solve`` takes them as ``alpha0``.
"""

import matplotlib.pyplot as plt
import numpy as np

from hingeline import Hinge, LinearSVC, solve
from hingeline.synthetic import make_text

X, y = make_text(n_rows=3000, n_cols=3000, seed=2)
grid = np.logspace(-1, 2, 13)

steps = {"cold": [], "warm": []}
warm = LinearSVC(loss="hinge", fit_intercept=False, gap_tol=1e-3, warm_start=True, random_state=0)
for C in grid:
    cold = LinearSVC(loss="hinge", fit_intercept=False, gap_tol=1e-3, C=C, random_state=0).fit(X, y)
    steps["cold"].append(cold.n_steps_)
    steps["warm"].append(warm.set_params(C=C).fit(X, y).n_steps_)
    assert abs(warm.objective_ / cold.objective_ - 1) < 2e-3

# %%
# Steps of the whole grid, to the same gap:

print({name: sum(counts) for name, counts in steps.items()})
assert sum(steps["warm"]) < sum(steps["cold"])

# %%
# Without an estimator: start from the old variables unchanged, or scaled with C.

small = solve(X, y, Hinge(C=grid[-2]), gap_tol=1e-3, random_state=0)
for name, alpha0 in {
    "none": None,
    "as they are": small.alpha,
    "scaled": small.alpha * grid[-1] / grid[-2],
}.items():
    s = solve(X, y, Hinge(C=grid[-1]), gap_tol=1e-3, alpha0=alpha0, random_state=0)
    print(f"start {name:12} {s.n_steps:8} steps, gap {s.certificate.gap:.0e}")

figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for name, counts in steps.items():
    ax.loglog(grid, counts, marker="o", label=name)
ax.set(xlabel="C", ylabel="steps")
ax.legend()
plt.show()
