"""
Selecting features by the L1 norm
=================================

``penalty="l1"`` sets most weights to zero exactly. Going through C from small to large, with each fit started from
the one before, shows which features come first.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from hingeline import LinearSVC

data = load_breast_cancer()
X, X_test, y, y_test = train_test_split(data.data, data.target, random_state=0)
scaler = StandardScaler().fit(X)
X, X_test = scaler.transform(X), scaler.transform(X_test)

grid = np.logspace(-3.2, 0, 25)
svc = LinearSVC(penalty="l1", warm_start=True, fit_intercept="free", random_state=0)
weights, accuracy = [], []
for C in grid:
    svc.set_params(C=C).fit(X, y)
    weights.append(svc.coef_[0].copy())
    accuracy.append(svc.score(X_test, y_test))
weights = np.array(weights)

# %%
# A few features are enough.

for k in range(0, grid.size, 6):
    used = np.count_nonzero(weights[k])
    print(f"C {grid[k]:.4f}: {used:2d} of {X.shape[1]} features, test accuracy {accuracy[k]:.3f}")
first = np.argsort(-(weights != 0).sum(axis=0))[:5]
print("first to come:", ", ".join(data.feature_names[first]))
assert np.count_nonzero(weights[0]) < np.count_nonzero(weights[-1]) < X.shape[1]

# %%
# Weights along the path, and their accuracy on rows that were not used for training.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.semilogx(grid, weights)
left.set(xlabel="C", ylabel="weight")
right.semilogx((weights != 0).sum(axis=1), accuracy, marker="o")
right.set(xlabel="features", ylabel="test accuracy")
plt.show()
