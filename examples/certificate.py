"""
How good is this model?
=======================

Every fit ends with a certificate: the optimum lies between ``dual_objective_`` and ``objective_``. Anyone can check
it with a few lines of NumPy, and ``gap_tol`` makes it the rule that ends training.
"""

import matplotlib.pyplot as plt
import numpy as np

from hingeline import LinearSVC
from hingeline.synthetic import make_text

X, y = make_text(n_rows=2000, n_cols=4000, seed=0)
C = 10.0
svc = LinearSVC(loss="hinge", C=C, fit_intercept=False, gap_tol=1e-6, random_state=0).fit(X, y)
print(f"the optimum lies between {svc.dual_objective_:.6f} and {svc.objective_:.6f}")

# %%
# The same from the model alone. The dual variables lie in the box from 0 to C, and the weights are their combination of
# the rows. So no model at all has an objective below the dual value.

alpha, w = svc.dual_coef_ * y, svc.coef_[0]
assert alpha.min() >= 0.0
assert alpha.max() <= C
assert np.allclose(w, X.T @ svc.dual_coef_)

primal = w @ w / 2 + C * np.maximum(0.0, 1.0 - y * (X @ w)).sum()
dual = alpha.sum() - w @ w / 2
print(f"recomputed:      {dual:.6f} and {primal:.6f}, relative gap {(primal - dual) / primal:.1e}")
assert (primal - dual) / primal <= 1e-6

# %%
# ``tol``, the rule of LIBLINEAR and scikit-learn, bounds the largest violation of the optimality conditions instead.
# What it means for the objective differs from problem to problem:

for C in (0.01, 1.0, 100.0):
    svc = LinearSVC(loss="hinge", C=C, fit_intercept=False, solver="hybrid", tol=0.1, random_state=0).fit(X, y)
    print(f"C {C:6g}, tol 0.1: violation {svc.kkt_violation_:.2f}, relative gap {svc.duality_gap_:.1e}")

# %%
# ``history_`` has one record per sweep, with the gap if it was computed.

runs = {
    solver: LinearSVC(loss="hinge", C=10.0, fit_intercept=False, gap_tol=1e-6, solver=solver, random_state=0).fit(X, y)
    for solver in ("baseline", "avsf", "hybrid")
}
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
for solver, svc in runs.items():
    ax.semilogy(svc.history_["steps"], svc.history_["violation"], label=solver)
ax.set(xlabel="steps", ylabel="largest violation seen in a sweep")
ax.legend()
plt.show()
