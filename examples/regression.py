"""
Robust regression
=================

A tenth of the targets are wrong. The epsilon-insensitive loss grows with the error, not with its square, and does not
follow them; the squared one, like least squares, does.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import SplineTransformer

from hingeline import LinearSVR

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0.0, 1.0, 300))
truth = np.sin(7.0 * x) + x
y = truth + 0.1 * rng.normal(size=x.size)
wrong = rng.random(x.size) < 0.1
y[wrong] += rng.uniform(2.0, 5.0, wrong.sum())

# A spline is linear in its coefficients. C is large, so that they are not drawn towards zero.
X = SplineTransformer(n_knots=8).fit_transform(x[:, None])
models = {
    "epsilon-insensitive": LinearSVR(epsilon=0.1, C=100.0),
    "squared epsilon-insensitive": LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.1, C=100.0),
    "least squares": LinearRegression(),
}

# %%
# How far each is from the truth:

error = {}
for name, model in models.items():
    prediction = model.fit(X, y).predict(X)
    error[name] = float(np.sqrt(np.mean((prediction - truth) ** 2)))
    print(f"{name:28}: root mean squared error {error[name]:.3f}")
assert error["epsilon-insensitive"] < error["least squares"] / 3

# %%
# Rows within epsilon of the prediction do not influence it: the others are the support vectors.

svr = models["epsilon-insensitive"]
print(f"{svr.support_.size} of {x.size} rows support it; relative gap {svr.duality_gap_:.0e}")

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.scatter(x, y, s=8, color="grey")
for name, model in models.items():
    ax.plot(x, model.predict(X), label=name)
ax.legend()
plt.show()
