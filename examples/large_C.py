"""
Large C, compared with scikit-learn
===================================

The larger C is, the longer training takes, and the more of that time is spent on few rows. ``sklearn.svm.LinearSVC``
stops after 1,000 iterations with a warning that does not say how far from the optimum it is. hingeline's certificate
does: its dual value is a lower bound on the objective of every model, whoever trained it.
"""

import warnings
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC as SklearnLinearSVC

from hingeline import LinearSVC
from hingeline.synthetic import make_text
from hingeline.viz import CGridDisplay

X, y = make_text(n_rows=1500, n_cols=3000, words_per_row=30.0, seed=1)
LinearSVC(loss="hinge", fit_intercept=False).fit(X, y)  # the first fit of a kind loads or compiles its loops


def objective(model, C):
    """Return |w|^2/2 + C sum of the hinge losses."""
    w = model.coef_[0]
    return w @ w / 2 + C * np.maximum(0.0, 1.0 - y * (X @ w)).sum()


# %%
# Seconds of one run on the machine that built this page, hingeline's gap, and how far scikit-learn is above the lower
# bound.

grid = (0.1, 1.0, 10.0, 100.0, 1000.0)
seconds = {"hingeline": [], "scikit-learn": []}
capped = {"hingeline": [], "scikit-learn": []}
print("     C   hingeline             scikit-learn: seconds, above the bound")
for C in grid:
    start = perf_counter()
    ours = LinearSVC(loss="hinge", C=C, fit_intercept=False, gap_tol=1e-3, random_state=0).fit(X, y)
    took = perf_counter() - start
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        start = perf_counter()
        theirs = SklearnLinearSVC(loss="hinge", C=C, fit_intercept=False, random_state=0).fit(X, y)
        theirs_took = perf_counter() - start
    seconds["hingeline"].append(took)
    seconds["scikit-learn"].append(theirs_took)
    capped["hingeline"].append(not ours.converged_)
    capped["scikit-learn"].append(bool(caught))
    above = objective(theirs, C) / ours.dual_objective_ - 1
    note = " (capped)" if caught else ""
    print(f"{C:6g}   {took:.3f} s, gap {ours.duality_gap_:.2%}   {theirs_took:.3f} s, {above:7.2%}{note}")
    assert ours.objective_ <= objective(theirs, C) * 1.001

# %%
# The same as a picture; hollow markers are fits that the limit of 1,000 sweeps has ended.

CGridDisplay(C=grid, seconds=seconds, capped=capped).plot()
plt.show()
