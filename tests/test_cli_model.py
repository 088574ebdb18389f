"""``predict``, ``evaluate`` and ``show``: what a model file is good for, and damaged ones."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score

from command_line import contree, fails, inside, works
from contree import ConTreeClassifier
from test_json import schema_errors


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with training data, test data and a model with a column of categories."""
    folder = tmp_path_factory.mktemp("model")
    rng = np.random.default_rng(3)

    def table(rows: int) -> pd.DataFrame:
        frame = pd.DataFrame({"size": rng.normal(size=rows), "id": range(rows)})
        frame["colour"] = rng.choice(["red", "green", "a,b"], size=rows)
        wanted = (frame["size"] > 0.1) ^ (frame["colour"] == "red")
        frame["kind"] = np.where(wanted ^ (rng.random(rows) < 0.1), "yes", "no")
        return frame

    table(120).to_csv(folder / "train.csv", index=False)
    table(90)[["kind", "colour", "id", "size"]].to_csv(folder / "test.csv", index=False)
    flags = ["--target", "kind", "--drop", "id", "--max-depth", "2"]
    works("fit", "train.csv", *flags, "--model", "m.json", folder=folder)
    return folder


def by_hand(folder, name: str) -> tuple[np.ndarray, pd.DataFrame]:
    """Return the predictions for a file from the estimator itself, and the file."""
    clf = ConTreeClassifier.from_json((folder / "m.json").read_text())
    frame = pd.read_csv(folder / name)
    return clf.predict(frame[clf.feature_names_in_]), frame


def test_predict_finds_columns_by_name(folder):
    result = contree("predict", "--model", "m.json", "test.csv", folder=folder)
    expected, _ = by_hand(folder, "test.csv")
    assert result.stdout.split() == ["prediction", *expected]
    assert "'id'" in result.stderr  # which the model does not know
    assert "kind" not in result.stderr  # the target may be there
    text = (folder / "test.csv").read_bytes()
    flags = ["--proba", "--keep", "id,colour"]
    out = works("predict", "--model", "m.json", "-", *flags, stdin=text, folder=folder)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == [
        "id",
        "colour",
        "prediction",
        *(f"probability of {c}" for c in ("no", "yes")),
    ]
    assert [row["prediction"] for row in rows] == list(expected)
    assert all(
        (float(row["probability of yes"]) >= 0.5) == (row["prediction"] == "yes")
        or float(row["probability of yes"]) == 0.5
        for row in rows
    )


def test_predict_names_what_is_missing_or_strange(folder):
    here = {"folder": folder, "run": inside}
    (folder / "lacks.csv").write_text("size,id\n1,2\n")
    (folder / "kept.csv").write_text("size,colour,prediction\n1,red,yes\n")
    said = fails("predict", "--model", "m.json", "lacks.csv", folder=folder, run=inside)
    assert "lacks the column 'colour'" in said
    (folder / "text.csv").write_text("size,colour\nbig,red\n")
    said = fails("predict", "--model", "m.json", "text.csv", folder=folder, run=inside)
    assert "'size' holds text, and the model was trained with numbers there" in said
    assert "--" not in said  # what is learnt from is no choice of predict
    said = fails("predict", "-m", "m.json", "kept.csv", "--keep", "prediction", **here)
    assert "--keep: 'prediction' would be there twice" in said
    (folder / "new.csv").write_text("size,colour\n1,violet\n1,\n")
    result = inside("predict", "--model", "m.json", "new.csv", "-o", "p.csv", folder=folder)
    assert "they go where missing values go" in result.stderr
    assert result.returncode == 0
    assert "'colour' has values that training did not: 'violet'" in result.stderr
    assert len((folder / "p.csv").read_text().split()) == 3


def test_evaluate_says_what_scikit_learn_says(folder):
    predicted, frame = by_hand(folder, "test.csv")
    figures = json.loads(
        works("evaluate", "--model", "m.json", "test.csv", "--json", folder=folder)
    )
    assert figures["rows"] == len(frame)
    assert figures["accuracy"] == accuracy_score(frame["kind"], predicted)
    assert figures["balanced_accuracy"] == pytest.approx(
        balanced_accuracy_score(frame["kind"], predicted)
    )
    crossed = pd.crosstab(frame["kind"], predicted).loc[["no", "yes"], ["no", "yes"]]
    assert figures["confusion_matrix"] == crossed.to_numpy().tolist()
    assert figures["classes"]["yes"]["rows"] == int((frame["kind"] == "yes").sum())
    text = works("evaluate", "--model", "m.json", "test.csv", folder=folder, run=inside)
    assert f"{figures['accuracy']:.4f}" in text
    assert "precision" in text


def test_evaluate_counts_labels_that_the_model_never_saw(folder):
    frame = pd.read_csv(folder / "test.csv")
    frame.loc[:4, "kind"] = "maybe"
    frame.to_csv(folder / "unseen.csv", index=False)
    result = inside("evaluate", "--model", "m.json", "unseen.csv", "--json", folder=folder)
    assert "'maybe'" in result.stderr
    assert json.loads(result.stdout)["classes"]["maybe"]["recall"] == 0.0
    frame["kind"] = "other"
    frame.to_csv(folder / "other.csv", index=False)
    said = fails("evaluate", "--model", "m.json", "other.csv", folder=folder, run=inside)
    assert "no label of 'kind' is a class of the model" in said
    frame.drop(columns="kind").to_csv(folder / "none.csv", index=False)
    assert "no column 'kind'" in fails(
        "evaluate", "--model", "m.json", "none.csv", folder=folder, run=inside
    )


def test_numbers_are_the_same_class_however_they_are_written(tmp_path):
    rows = [(0, "1"), (1, "1.0"), (2, "1.00"), (3, "-2"), (4, "-2.0")]
    (tmp_path / "train.csv").write_text("a,y\n" + "".join(f"{a},{y}\n" for a, y in rows))
    here = {"folder": tmp_path, "run": inside}
    works("fit", "train.csv", "-t", "y", "--model", "m.json", **here)
    figures = json.loads(works("evaluate", "-m", "m.json", "train.csv", "--json", **here))
    assert (figures["errors"], figures["labels"]) == (0, ["-2", "1"])
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0]})
    clf = ConTreeClassifier(1).fit(frame, [1.0, 1.0, 2.0])
    (tmp_path / "floats.json").write_text(clf.to_json())
    frame.assign(y=[1, 1, 2]).to_csv(tmp_path / "integers.csv", index=False)
    command = ["evaluate", "-m", "floats.json", "integers.csv", "-t", "y", "--json"]
    assert json.loads(works(*command, **here))["errors"] == 0


def test_show_gives_every_format(folder):
    flags = ["--target", "kind", "--drop", "id,colour", "--max-depth", "2", "-q"]
    works("fit", "train.csv", *flags, "--model", "numbers.json", folder=folder, run=inside)
    model = (folder / "numbers.json").read_text()
    clf = ConTreeClassifier.from_json(model)
    shown = {
        form: works("show", "--model", "numbers.json", "--format", form, folder=folder, run=inside)
        for form in ("text", "dot", "sql", "python", "c")
    }
    assert shown["text"].startswith(clf.export_text())
    assert "Proved: " in shown["text"]
    for form in ("dot", "sql", "python", "c"):
        assert shown[form].rstrip("\n") == getattr(clf, f"to_{form}")().rstrip("\n")
    assert works("show", "--model", "-", "--format", "json", stdin=model.encode()) == model
    assert "<html" in works("show", "-m", "numbers.json", "-f", "html", folder=folder, run=inside)
    works(
        "show",
        "--model",
        "numbers.json",
        "--format",
        "svg",
        "--output",
        "t.svg",
        folder=folder,
        run=inside,
    )
    assert "<svg" in (folder / "t.svg").read_text()


def test_show_keeps_categories(folder):
    model = (folder / "m.json").read_text()
    text = works("show", "--model", "m.json", folder=folder, run=inside)
    assert "|--- colour in {" in text
    assert '"categories": [null, ["a,b", "green", "red"]]' in model


def test_a_model_file_fits_the_published_schema(folder):
    assert schema_errors((folder / "m.json").read_text()) == []


def test_a_file_by_to_json_is_a_model_if_it_has_names(folder):
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0]})
    clf = ConTreeClassifier(1).fit(frame, [1, 1, 2, 2])
    (folder / "plain.json").write_text(clf.to_json())
    frame.to_csv(folder / "a.csv", index=False)
    out = works("predict", "--model", "plain.json", "a.csv", folder=folder, run=inside)
    assert out.split() == ["prediction", "1", "1", "2", "2"]
    assert "add --target" in fails(
        "evaluate", "--model", "plain.json", "a.csv", folder=folder, run=inside
    )
    nameless = ConTreeClassifier(1).fit(frame.to_numpy(), [1, 1, 2, 2])
    (folder / "nameless.json").write_text(nameless.to_json())
    assert "feature_names" in fails(
        "predict", "-m", "nameless.json", "a.csv", folder=folder, run=inside
    )


def damaged(model: str):
    """Yield contents that are no model, and what is said about each."""
    data = json.loads(model)
    yield b"\x80\x04junk", "it is not text"
    yield b"", "not JSON"
    yield model[: len(model) // 2].encode(), "not JSON"
    yield json.dumps({**data, "version": 99}).encode(), "version is 99"
    yield json.dumps({**data, "schema": "other"}).encode(), "schema"
    yield json.dumps({**data, "table": 5}).encode(), "table must be an object"
    yield json.dumps({**data, "table": {"target": 1}}).encode(), "table.target"


def test_damaged_models_are_told_apart(folder):
    for content, expected in damaged((folder / "m.json").read_text()):
        (folder / "bad.json").write_bytes(content)
        assert expected in fails("show", "--model", "bad.json", folder=folder, run=inside)
    assert "No such file" in fails("show", "--model", "absent.json", folder=folder, run=inside)
