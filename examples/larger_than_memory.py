"""
Data that does not fit in memory
================================

A dataset on disk opens at once, and ``fit`` is the same call whether it fits in memory or not. Here the memory that
training may take is set to a small share of a small dataset, to show what happens with a large one.
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from hingeline import LinearSVC
from hingeline.io import make_dataset, open_dataset

folder = TemporaryDirectory()
path = Path(folder.name, "made")
make_dataset(path, rows=5_000, columns=2_000, per_row=20, noise=0.02)  # or: hingeline convert train.svm.xz made
X, y = open_dataset(path)
megabytes = sum(file.stat().st_size for file in path.iterdir()) / 1e6
print(f"{X.shape[0]} rows, {X.nnz} non-zeros, {megabytes:.1f} MB on disk")

# %%
# With all the memory that there is, and with 300 kB beside the variables themselves: 72 bytes a row and 32 a column.

svc = LinearSVC(loss="hinge", C=0.1, gap_tol=1e-3, random_state=0)
in_memory = svc.fit(X, y).objective_
print(f"{svc.solver_:12} {svc.fit_time_:.2f} s, objective {svc.objective_:.4f}, gap {svc.duality_gap_:.0e}")

os.environ["HINGELINE_MEMORY"] = str(72 * X.shape[0] + 32 * X.shape[1] + 300_000)
svc.fit(X, y)
del os.environ["HINGELINE_MEMORY"]
print(f"{svc.solver_:12} {svc.fit_time_:.2f} s, objective {svc.objective_:.4f}, gap {svc.duality_gap_:.0e}")

assert svc.solver_ == "out_of_core"
assert abs(svc.objective_ / in_memory - 1) < 2e-3
del X, y
folder.cleanup()
