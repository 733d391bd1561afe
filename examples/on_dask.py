"""
On a Dask cluster
=================

Rows stay in their partitions on the workers, weights travel, and the model is the one that a single machine would find.
Here the cluster is two workers within this process; elsewhere it is ``Client("tcp://scheduler:8786")``.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client, LocalCluster

import hingeline
from hingeline.dask import LinearSVC

rng = np.random.default_rng(0)
values = rng.standard_normal((20_000, 20))
labels = np.where(values[:, :3].sum(axis=1) + rng.standard_normal(20_000) > 0.0, "yes", "no")

cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
client = Client(cluster)
X, y = da.from_array(values, chunks=(5_000, -1)), da.from_array(labels, chunks=5_000)

# %%
# The certificate is computed on the workers, over all rows.

model = LinearSVC(loss="hinge", gap_tol=1e-4, solver="newton").fit(X, y)  # "auto": one worker trains what is small
alone = hingeline.LinearSVC(loss="hinge", gap_tol=1e-4).fit(values, labels)
print(f"on the cluster: {model.solver_}, objective {model.objective_:.3f}, gap {model.duality_gap_:.0e}")
print(f"on one machine: {alone.solver_}, objective {alone.objective_:.3f}, gap {alone.duality_gap_:.0e}")
assert abs(model.objective_ / alone.objective_ - 1) < 2e-4

# %%
# ``history_`` tells where the time went, and how much was sent.

last = model.history_[-1]
print(f"{model.n_iter_} iterations: {last['bytes'] / 1e3:.0f} kB to and from the workers")

figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
seconds = [model.history_["computing"], model.history_["communicating"]]
ax.stackplot(np.arange(len(model.history_)), *seconds, labels=["computing", "communicating"], alpha=0.8)
ax.set(xlabel="iteration of Newton's method", ylabel="seconds so far")
ax.legend(loc="upper left")
plt.show()

# %%
# Predictions and scores are lazy, and ``to_local`` gives an estimator that needs no cluster.

print(model.predict(X))
print(f"accuracy {model.score(X, y).compute():.3f}")
local = model.to_local()
assert type(local) is hingeline.LinearSVC
assert (local.predict(values) == model.predict(X).compute()).all()

client.close()
cluster.close()
