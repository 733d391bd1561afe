"""
On a GPU
========

PyTorch tensors are used directly: rows and results stay on their device. With a GPU this takes milliseconds; without
one, the same code runs on PyTorch's CPU tensors, as here.
"""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn asks for this

import matplotlib.pyplot as plt
import sklearn
import torch

from hingeline import LinearSVC
from hingeline.viz import ConvergenceDisplay

device = "cuda" if torch.cuda.is_available() else "cpu"
generator = torch.Generator(device=device).manual_seed(0)
X = torch.randn((20_000, 20), generator=generator, device=device)
noise = torch.randn(20_000, generator=generator, device=device)
y = (X[:, :3].sum(1) + noise > 0.0).to(torch.int64)

# %%
# With this setting, scikit-learn does not convert arrays of other libraries.

with sklearn.config_context(array_api_dispatch=True):
    model = LinearSVC(loss="hinge").fit(X, y)
    predicted = model.predict(X)
print(type(model.coef_).__name__, "on", model.coef_.device, "from", X.dtype, "rows; weights are", model.coef_.dtype)
print(f"{model.n_iter_} iterations, violation {model.kkt_violation_:.1e}, relative gap {model.duality_gap_:.1e}")
assert predicted.device == X.device
assert model.duality_gap_ < 1e-3

# %%
# The CPU's engines find the same model: the optimum lies between the two objectives of either.

here = LinearSVC(loss="hinge", gap_tol=1e-6).fit(X.cpu().numpy(), y.cpu().numpy())
print(f"objective {model.objective_:.6f} with tensors, {here.objective_:.6f} with NumPy")
assert model.dual_objective_ <= here.objective_ * (1.0 + 1e-9)
assert here.dual_objective_ <= model.objective_ * (1.0 + 1e-9)

ConvergenceDisplay.from_estimators({"PyTorch": model, "NumPy": here}, x="sweeps")
plt.show()
