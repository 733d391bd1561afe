"""
Saving, loading, exporting
==========================

Four ways to save a model: hingeline's own file, which is safe to load whoever made it; LIBLINEAR's text file;
scikit-learn's class, for exports that know it; and pickle, which is as unsafe as ever.
"""

import pickle
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from hingeline import LinearSVC
from hingeline.io import load_model, save_model

data = load_wine()
X, y = scale(data.data), data.target_names[data.target]  # the classes have names
svc = LinearSVC(loss="hinge", random_state=0).fit(X, y)
folder = TemporaryDirectory()

# %%
# **hingeline's own file** keeps everything that was learned, including the certificate, and labels of any type. Loading
# it runs no code.

path = Path(folder.name, "wine.model")
save_model(svc, path)
loaded = load_model(path)
print(f"{path.stat().st_size} bytes; classes {loaded.classes_}, largest gap {loaded.duality_gap_:.1e}")
assert (loaded.decision_function(X) == svc.decision_function(X)).all()

# %%
# **LIBLINEAR's format** has weights and whole numbers as labels.

numbered = LinearSVC(loss="hinge", random_state=0).fit(X, data.target)
save_model(numbered, path, format="liblinear")
print(path.read_text().partition("w\n")[0])
assert (load_model(path).predict(X) == numbered.predict(X)).all()

# %%
# **scikit-learn's class**, for converters that were written for it (ONNX, PMML, explanation tools).

theirs = svc.to_sklearn()
print(type(theirs), np.abs(theirs.decision_function(X) - svc.decision_function(X)).max())
assert (theirs.predict(X) == svc.predict(X)).all()

# %%
# **pickle** works as with any estimator. Only load pickles that you made yourself.

again = pickle.loads(pickle.dumps(svc))
assert (again.coef_ == svc.coef_).all()

# %%
# **Without the training data.** The dual variables, one per row and class, take up most of a file. ``compact=True``
# leaves them out; the certificate is kept.

sizes = {}
for name, compact in {"all": False, "compact": True}.items():
    save_model(svc, path, compact=compact)
    sizes[name] = path.stat().st_size
small = LinearSVC(loss="hinge", random_state=0, keep_dual=False).fit(X, y)
sizes |= {"pickle": len(pickle.dumps(svc)), "pickle, keep_dual=False": len(pickle.dumps(small))}

figure, ax = plt.subplots(figsize=(6, 2.5), layout="constrained")
ax.bar_label(ax.barh(list(sizes), list(sizes.values())), padding=3)
ax.set(xlabel="bytes")
ax.margins(x=0.12)
plt.show()
folder.cleanup()
