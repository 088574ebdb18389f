"""Every depth-two kernel of this machine finds the same trees; the one asked for runs."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from contree import _core

PROGRAM = """
import hashlib
import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine
from contree import ConTreeClassifier

rng = np.random.default_rng(0)
noise = rng.integers(0, 40, size=(350, 6)).astype(float), rng.integers(0, 5, size=350)
seen = hashlib.sha256()
for X, y in (load_wine(return_X_y=True), load_breast_cancer(return_X_y=True), noise):
    for depth in (2, 3):
        clf = ConTreeClassifier(depth).fit(X, y)
        for array in (clf.tree_.feature, clf.tree_.threshold, clf.tree_.class_counts):
            seen.update(array.tobytes())
print(clf.search_report_.kernel, seen.hexdigest())
"""


def run_with(kernel: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=dict(os.environ, CONTREE_KERNEL=kernel),
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_all_kernels_agree():
    assert "scalar" in _core.kernels()
    outputs = {kernel: run_with(kernel).stdout.split() for kernel in _core.kernels()}
    for kernel, output in outputs.items():
        assert output[0] == kernel
        assert output[1] == outputs["scalar"][1]


def test_an_unknown_kernel_is_refused():
    done = run_with("abacus")
    assert done.returncode != 0
    assert "ValueError" in done.stderr
    assert "abacus" in done.stderr


def test_the_fastest_is_the_default():
    if "CONTREE_KERNEL" in os.environ:
        pytest.skip("CONTREE_KERNEL is set")
    assert _core.kernel() == _core.kernels()[0]
