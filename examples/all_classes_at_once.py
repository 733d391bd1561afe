"""
Several classes: one against the rest, or all at once
=====================================================

Ten digits. ``multi_class="ovr"`` trains ten separate classifiers, in parallel with ``n_jobs``; ``"crammer_singer"``
trains all ten together, so that the right class leads by a margin.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.model_selection import train_test_split

from hingeline import LinearSVC

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X / 16.0, y, random_state=0)

models = {
    "one against the rest": LinearSVC(loss="hinge", n_jobs=2, random_state=0),
    "all at once": LinearSVC(multi_class="crammer_singer", random_state=0),
}
for name, svc in models.items():
    svc.fit(X, y)
    support = f"{svc.support_.size} of {len(y)} rows are support vectors"
    print(f"{name:20}: test accuracy {svc.score(X_test, y_test):.3f}, {support}")
    assert svc.score(X_test, y_test) > 0.93

# %%
# One against the rest has one certificate per class, all at once has a single one:

print("largest gap of the ten:", models["one against the rest"].duality_gap_)
print("gap of the one:        ", models["all at once"].duality_gap_)

# %%
# Which digits are confused:

figure, ax = plt.subplots(figsize=(5, 5), layout="constrained")
ConfusionMatrixDisplay.from_estimator(models["all at once"], X_test, y_test, ax=ax, colorbar=False, cmap="Blues")
plt.show()
