"""Make the picture of a tree in the README: the one that ``make demo`` prints.

Run from the root of the repository: ``.venv/bin/python docs/figures/make_tree.py``
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

from sklearn.datasets import load_breast_cancer

from contree import ConTreeClassifier

PATH = Path(__file__).with_name("tree.png")


def main(path: Path = PATH) -> None:
    data = load_breast_cancer()
    clf = ConTreeClassifier(max_depth=3).fit(data.data, data.target_names[data.target])
    ax = clf.plot(feature_names=data.feature_names)
    ax.figure.savefig(path, dpi=150, metadata={"Software": None})
    print(f"{path}: {clf.status_}, {clf.errors_} errors, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
