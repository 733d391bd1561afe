"""
Probabilities by calibration
============================

A support vector machine gives scores, not probabilities. scikit-learn's ``CalibratedClassifierCV`` turns them into
probabilities by cross-validation, with hingeline's ``LinearSVC`` as with any classifier; ``LogisticRegression`` has its
own probabilities.
"""

import matplotlib.pyplot as plt
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import train_test_split

from hingeline import LinearSVC, LogisticRegression

X, y = make_classification(6000, 20, n_informative=6, flip_y=0.1, class_sep=0.7, random_state=0)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)

svc = LinearSVC(loss="hinge", random_state=0)
models = {
    "LinearSVC, sigmoid": CalibratedClassifierCV(svc, method="sigmoid", cv=5),
    "LinearSVC, isotonic": CalibratedClassifierCV(svc, method="isotonic", cv=5),
    "LogisticRegression": LogisticRegression(random_state=0),
}

# %%
# The Brier score is the mean squared error of the probabilities: 0.25 for one half everywhere, less is better.

score = {}
for name, model in models.items():
    score[name] = brier_score_loss(y_test, model.fit(X, y).predict_proba(X_test)[:, 1])
    print(f"{name:20}: Brier score {score[name]:.4f}, accuracy {model.score(X_test, y_test):.3f}")
assert max(score.values()) < 0.2

# %%
# Are 70% of the rows with a predicted probability of 0.7 positive?

figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
for name, model in models.items():
    CalibrationDisplay.from_estimator(model, X_test, y_test, n_bins=10, name=name, ax=ax)
plt.show()
