"""The commands where the target is a number."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.tree import DecisionTreeRegressor

from command_line import fails, inside, works
from contree import ConTreeRegressor, size_error_path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with diabetes data, parted in two files, and a model of the first."""
    folder = tmp_path_factory.mktemp("regression")
    frame = load_diabetes(as_frame=True).frame
    frame["copies"] = np.arange(len(frame)) % 3
    frame[:300].to_csv(folder / "train.csv", index=False)
    frame[300:].to_csv(folder / "test.csv", index=False)
    here = {"folder": folder, "run": inside}
    works("fit", "train.csv", "--target", "target", *MODEL, **here)
    return folder


MODEL = ["--drop", "copies", "--max-depth", "2", "--model", "m.json"]


def columns(folder, name):
    frame = pd.read_csv(folder / name)
    return frame.drop(columns=["target", "copies"]), frame["target"]


def test_fit_takes_many_numbers_for_a_regression(folder):
    here = {"folder": folder, "run": inside}
    flags = ["--max-depth", "2", "--sample-weight", "copies", "--plot", "t.svg", "--html", "t.html"]
    out = works("fit", "train.csv", "--target", "target", *flags, **here)
    X, y = columns(folder, "train.csv")
    weights = pd.read_csv(folder / "train.csv")["copies"]
    reg = ConTreeRegressor(2).fit(X, y, weights)
    assert reg.export_text() in out
    assert "regression: 'target' holds " in out
    assert "--task classification overrides" in out
    cart = DecisionTreeRegressor(max_depth=2, random_state=0).fit(X, y, weights)
    for name, tree in (("contree", reg), ("CART", cart)):
        figures = [float(word) for word in re.search(rf"^{name} +(\d.+)", out, re.M)[1].split()]
        predicted = tree.predict(X)
        assert figures[0] == pytest.approx(r2_score(y, predicted, sample_weight=weights), abs=1e-4)
        assert figures[1] == pytest.approx(
            mean_absolute_error(y, predicted, sample_weight=weights), rel=1e-5
        )
    assert "has a squared error below" in out
    assert "<svg" in (folder / "t.svg").read_text()
    assert "target from" in (folder / "t.html").read_text()


@pytest.mark.filterwarnings("ignore:The number of unique classes:UserWarning")
def test_task_overrides(folder):
    here = {"folder": folder, "run": inside}
    flags = ["--max-depth", "1", "--drop", "copies"]
    out = works("fit", "train.csv", "--target", "sex", *flags, **here)
    assert "classification: 'sex' holds 2 classes; --task regression overrides" in out
    out = works("fit", "train.csv", "--target", "sex", "--task", "regression", *flags, **here)
    assert "regression: 'sex' holds 2 different numbers; as --task says" in out
    out = works(
        "fit", "train.csv", "--target", "target", "--task", "classification", *flags, **here
    )
    assert "classification: 'target' holds" in out
    said = fails("fit", "train.csv", "--target", "target", "--class-weight", "balanced", **here)
    assert "--class-weight is for classes" in said
    said = fails("fit", "train.csv", "--target", "target", "--search", "paper", **here)
    assert "published search is for classes" in said


def test_evaluate_and_predict(folder):
    here = {"folder": folder, "run": inside}
    out = works("evaluate", "--model", "m.json", "test.csv", "--train", "train.csv", **here)
    figures = json.loads(works("evaluate", "--model", "m.json", "test.csv", "--json", **here))
    train, test = columns(folder, "train.csv"), columns(folder, "test.csv")
    reg = ConTreeRegressor(2).fit(*train)
    cart = DecisionTreeRegressor(max_depth=2, random_state=0).fit(*train)
    residuals = test[1] - reg.predict(test[0])
    assert figures["r2"] == pytest.approx(reg.score(*test))
    assert figures["mae"] == pytest.approx(np.abs(residuals).mean())
    assert figures["rmse"] == pytest.approx(np.sqrt(np.square(residuals).mean()))
    assert re.search(rf"contree +{reg.score(*test):.4f}", out)
    assert re.search(rf"CART +{cart.score(*test):.4f}", out)
    works("predict", "--model", "m.json", "test.csv", "--output", "p.csv", **here)
    predicted = pd.read_csv(folder / "p.csv")["prediction"]
    np.testing.assert_allclose(predicted, reg.predict(test[0]))
    assert "no probabilities" in fails(
        "predict", "--model", "m.json", "test.csv", "--proba", **here
    )


def test_show_path_and_tune(folder):
    here = {"folder": folder, "run": inside}
    X, y = columns(folder, "train.csv")
    out = works("show", "--model", "m.json", **here)
    assert ConTreeRegressor(2).fit(X, y).export_text() in out
    assert "double contree_predict" in works("show", "--model", "m.json", "--format", "c", **here)
    flags = ["--drop", "copies", "--max-depth", "2"]
    works("path", "train.csv", "--target", "target", *flags, "--output", "path.csv", **here)
    written = pd.read_csv(folder / "path.csv")
    path = size_error_path(X, y, 2, task="regression")
    np.testing.assert_allclose(written["errors"], path.errors)
    out = works("tune", "train.csv", "--target", "target", *flags, "--model", "best.json", **here)
    assert "R²" in out
    assert ConTreeRegressor.from_json((folder / "best.json").read_text()).status_ == "optimal"


def test_numbers_are_read_as_they_are_written(tmp_path):
    lines = [f"{i};{i // 7},{i % 7}5" for i in range(60)]
    (tmp_path / "comma.csv").write_text("\n".join(["a;y", *lines]) + "\n")
    here = {"folder": tmp_path, "run": inside}
    flags = ["--target", "y", "--delimiter", ";", "--decimal", ",", "--model", "m.json"]
    assert "regression" in works("fit", "comma.csv", *flags, "--max-depth", "2", **here)
    reg = ConTreeRegressor.from_json((tmp_path / "m.json").read_text())
    expected = ConTreeRegressor(2).fit(
        np.arange(60.0)[:, np.newaxis], [float(f"{i // 7}.{i % 7}5") for i in range(60)]
    )
    assert reg.squared_error_ == expected.squared_error_
    assert reg.target_tolerance_ == 0
    (tmp_path / "ids.csv").write_text("\n".join(["a,y", *(f"{i},{i}" for i in range(60))]) + "\n")
    assert "identifier" in fails("fit", "ids.csv", "--target", "y", **here)
    (tmp_path / "gap.csv").write_text("a,y\n" + "".join(f"{i},{i}.5\n" for i in range(50)) + "9,\n")
    result = inside("fit", "gap.csv", "--target", "y", folder=tmp_path)
    assert "1 row without 'y' left out" in result.stderr
