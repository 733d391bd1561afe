"""
Data that does not fit in memory
================================

A dataset on disk opens at once, and ``fit`` is the same call whether it fits in memory or not. Here the memory that
training may take is limited to a small part of a small dataset, to show what happens with a large one.
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
from sklearn.base import clone

from hingeline import LinearSVC
from hingeline.io import make_dataset, open_dataset
from hingeline.viz import ConvergenceDisplay

folder = TemporaryDirectory()
path = Path(folder.name, "made")
make_dataset(path, rows=5_000, columns=2_000, per_row=20, noise=0.02)  # or: hingeline convert train.svm.xz made
X, y = open_dataset(path)
megabytes = sum(file.stat().st_size for file in path.iterdir()) / 1e6
print(f"{X.shape[0]} rows, {X.nnz} non-zeros, {megabytes:.1f} MB on disk")

# %%
# Train with all available memory, then with 300 kB in addition to the variables (72 bytes per row, 32 per column).

svc = LinearSVC(loss="hinge", C=0.1, gap_tol=1e-3, random_state=0)
in_memory = clone(svc).fit(X, y)

os.environ["HINGELINE_MEMORY"] = str(72 * X.shape[0] + 32 * X.shape[1] + 300_000)
from_disk = clone(svc).fit(X, y)
del os.environ["HINGELINE_MEMORY"]

for fit in (in_memory, from_disk):
    print(f"{fit.solver_:12} {fit.fit_time_:.2f} s, objective {fit.objective_:.4f}, gap {fit.duality_gap_:.0e}")
assert from_disk.solver_ == "out_of_core"
assert abs(from_disk.objective_ / in_memory.objective_ - 1) < 2e-3

# %%
# Both reach the same optimum.

ConvergenceDisplay.from_estimators({"in memory": in_memory, "from disk": from_disk}, x="sweeps")
plt.show()
del X, y
folder.cleanup()
