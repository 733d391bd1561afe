"""
Finding outliers
================

The linear one-class SVM separates the rows from the origin, and at most a fraction ``nu`` of them may lie on the wrong
side. On features that approximate a Gaussian kernel it draws a closed curve around the data, at a cost that
grows with the number of rows, not with its square.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline

from hingeline import OneClassSVM

rng = np.random.default_rng(0)
X, _ = make_moons(1000, noise=0.08, random_state=0)
far = rng.uniform((-2.0, -1.5), (3.0, 2.0), (40, 2))

machine = make_pipeline(Nystroem(gamma=3.0, n_components=150, random_state=0), OneClassSVM(nu=0.05, random_state=0))
machine.fit(X)

# %%
# ``nu`` is an upper bound on the fraction of training rows outside and a lower bound on that of support vectors.

outside, one_class = (machine.predict(X) == -1).mean(), machine[-1]
print(f"{outside:.1%} of the rows are outside, {one_class.support_.size / len(X):.1%} are support vectors")
print(f"{(machine.predict(far) == -1).mean():.0%} of the points drawn anywhere are outside")
assert outside <= 0.05 <= one_class.support_.size / len(X)

# %%
# The boundary:

a, b = np.meshgrid(np.linspace(-2.0, 3.0, 150), np.linspace(-1.5, 2.0, 150))
values = machine.decision_function(np.column_stack([a.ravel(), b.ravel()])).reshape(a.shape)
figure, ax = plt.subplots(figsize=(6, 4), layout="constrained")
ax.contourf(a, b, values, levels=[-np.inf, 0.0, np.inf], colors=["white", "lightsteelblue"])
ax.scatter(*X.T, s=4, color="black")
ax.scatter(*far.T, s=12, color="firebrick")
plt.show()
