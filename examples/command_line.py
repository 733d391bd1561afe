"""
From the shell and back
=======================

``hingeline train`` and ``predict`` take LIBLINEAR's options and write its files. A model trained there can be
loaded in Python, and one trained in Python can predict there.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from hingeline import LinearSVC
from hingeline.io import dump_svmlight, load_model, save_model
from hingeline.viz import CPathDisplay

folder = TemporaryDirectory()


def hingeline(command):
    """Run a command line of hingeline in the folder, and show it with what it prints."""
    print(f"$ hingeline {command}")
    done = subprocess.run(
        [sys.executable, "-m", "hingeline", *command.split()],
        cwd=folder.name,
        capture_output=True,
        text=True,
        check=True,
    )
    print(done.stdout, end="")


X, y = load_iris(return_X_y=True)
dump_svmlight(X[::2], y[::2], Path(folder.name, "train.svm"))
dump_svmlight(X[1::2], y[1::2], Path(folder.name, "test.svm"))

# %%
# Train and predict as with LIBLINEAR: ``-s 3`` is the hinge, ``-B 1`` the intercept that scikit-learn has too.

hingeline("train -q -s 3 -c 10 -B 1 train.svm iris.model")
hingeline("predict test.svm iris.model output")

# %%
# The model file in Python, and its predictions compared with those of the command:

model = load_model(Path(folder.name, "iris.model"))
print(model)
written = np.loadtxt(Path(folder.name, "output"))
assert (model.predict(X[1::2]) == written).all()

# %%
# The other way: a model trained here, in LIBLINEAR's format.

svc = LinearSVC(loss="hinge", C=10.0, random_state=0).fit(X[::2], y[::2])
save_model(svc, Path(folder.name, "ours.model"), format="liblinear")
hingeline("predict test.svm ours.model output")
assert (np.loadtxt(Path(folder.name, "output")) == svc.predict(X[1::2])).all()

# %%
# C by cross-validation. The command writes its results to a folder, which Python can draw.

hingeline("search -s 3 -v 5 --out search train.svm")
CPathDisplay.from_search(Path(folder.name, "search"))
plt.show()
folder.cleanup()
