"""
Ship a tree to SQL, C, Python and ONNX
======================================

A fitted tree is a few comparisons. It can run where your data are. This page exports
one tree in five ways and checks that all predict the same.
"""

# %%
from sklearn.datasets import load_iris

from contree import ConTreeClassifier

X, y = load_iris(return_X_y=True, as_frame=True)
X.columns = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
y = load_iris().target_names[y]
clf = ConTreeClassifier(max_depth=3).fit(X, y)
expected = clf.predict(X)
clf.plot()

# %%
# SQL
# ---
#
# ``to_sql`` gives a ``CASE`` expression. Thresholds have all digits that they need.

import sqlite3

print(clf.to_sql())
database = sqlite3.connect(":memory:")
X.to_sql("flowers", database, index=False)
found = [
    name
    for (name,) in database.execute(
        f"SELECT {clf.to_sql()} FROM flowers ORDER BY rowid"
    )
]
assert found == list(expected)

# %%
# Python, without any package
# ---------------------------

source = clf.to_python()
print(source)
namespace = {}
exec(source, namespace)
assert [namespace["predict"](row) for row in X.itertuples(index=False)] == list(
    expected
)

# %%
# C
# -
#
# The function returns the index of a class. Thresholds are hexadecimal, so no compiler
# rounds them.

import ctypes
import subprocess
import tempfile
from pathlib import Path

print(clf.to_c())
folder = Path(tempfile.mkdtemp())
(folder / "tree.c").write_text(clf.to_c())
subprocess.run(
    ["cc", "-shared", "-fPIC", "-o", folder / "tree.so", folder / "tree.c"], check=True
)
in_c = ctypes.CDLL(folder / "tree.so").contree_predict
found = [
    clf.classes_[in_c((ctypes.c_double * 4)(*row))] for row in X.itertuples(index=False)
]
assert found == list(expected)

# %%
# A model file
# ------------
#
# JSON holds the tree, the certificate, the parameters and the search report. Reading it
# runs no code, unlike pickle.

text = clf.to_json()
assert (ConTreeClassifier.from_json(text).predict(X) == expected).all()
print(len(text), "characters")

# %%
# ONNX
# ----
#
# ``to_sklearn()`` gives a genuine ``DecisionTreeClassifier``, which skl2onnx converts.
# ONNX and scikit-learn compare values as float32. Where this could change a prediction,
# ``to_sklearn`` warns and names the feature. skl2onnx does not keep where missing
# values go, so use the model for rows without NaN.

import numpy as np
import onnxruntime
from skl2onnx import to_onnx

model = to_onnx(clf.to_sklearn(), X.to_numpy(np.float32)[:1])
session = onnxruntime.InferenceSession(model.SerializeToString())
labels = session.run(None, {session.get_inputs()[0].name: X.to_numpy(np.float32)})[0]
assert (labels == expected).all()

# %%
# A page for people
# -----------------
#
# ``to_html`` writes one file that works without a network. It follows any row that you
# type in.

page = folder / "tree.html"
clf.to_html(page, title="Iris")
print(page.stat().st_size // 1000, "kB")

# %%
# A notebook shows a fitted classifier as its tree:

clf

# %%
# :doc:`/exports` lists all exports and the members of the JSON.
