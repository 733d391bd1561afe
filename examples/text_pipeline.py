"""
Text in a pipeline
==================

Which package does a documentation string come from? The texts are those of the packages installed here, so the
example needs no data set. The pipeline is the usual one of scikit-learn, with hingeline's ``LinearSVC`` at its end.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.signal
import scipy.stats
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from hingeline import LinearSVC
from hingeline.viz import WeightsDisplay


def texts_of(module):
    """Return the documentation strings of a module's public names, less the first line, which tells the name."""
    names = (name for name in dir(module) if not name.startswith("_"))
    texts = {(getattr(module, name).__doc__ or "").partition("\n")[2] for name in names if name not in ("test", "long")}
    return sorted(text for text in texts if len(text) > 200)


modules = {"numpy": np, "scipy.signal": scipy.signal, "scipy.stats": scipy.stats}
texts = [text for module in modules.values() for text in texts_of(module)]
labels = [name for name, module in modules.items() for _ in texts_of(module)]

# %%
# No limit on the number of iterations is needed: a fit ends when it is done.

words = TfidfVectorizer(sublinear_tf=True, token_pattern=r"\b[a-z]{3,}\b", stop_words=["numpy", "scipy", "stats"])
pipeline = make_pipeline(words, LinearSVC(loss="hinge", C=10.0, class_weight="balanced", random_state=0))

scores = cross_val_score(pipeline, texts, labels, cv=5)
print(f"{len(texts)} texts, accuracy {scores.mean():.3f} +- {scores.std():.3f}")

# %%
# Which words speak most for each package, and how good the three models are.

pipeline.fit(texts, labels)
svc = pipeline[-1]
names = pipeline[0].get_feature_names_out()
for label, weights, gap in zip(svc.classes_, svc.coef_, svc.per_class_["duality_gap"], strict=True):
    print(f"{label:13} {' '.join(names[np.argsort(-weights)[:7]])}   (within {gap:.0e} of the optimum)")
assert scores.mean() > 0.8

# %%
# The same as a picture.

WeightsDisplay.from_estimator(svc, feature_names=names, top=6)
plt.show()
