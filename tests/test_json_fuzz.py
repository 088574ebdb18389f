"""JSON with any values replaced: what is read fits the published schema, and works."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contree import ConTreeClassifier, ConTreeRegressor
from scale import scaled

MORE = settings(max_examples=scaled(80))
RNG = np.random.default_rng(3)
ROWS = pd.DataFrame(RNG.integers(0, 6, size=(50, 3)), columns=["a", "b", "c"]).astype(float)
COLOURS = ROWS.assign(
    b=pd.Categorical(np.array(["red", "green", "blue"])[ROWS["b"].astype(int) % 3])
)
LABELS, NUMBERS = RNG.integers(0, 3, size=50), RNG.normal(size=50)
MODELS = {
    "classes": lambda: ConTreeClassifier(2).fit(ROWS, LABELS),
    "labels": lambda: ConTreeClassifier(2, minimize_leaves=True).fit(
        ROWS, np.array(["p", "q", "r"])[LABELS], np.linspace(0.5, 2.0, 50)
    ),
    "numbers": lambda: ConTreeRegressor(2).fit(ROWS, NUMBERS),
    "categories": lambda: ConTreeClassifier(2).fit(COLOURS, LABELS),
    "numbers of categories": lambda: ConTreeRegressor(2).fit(COLOURS, NUMBERS),
}
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 9),
    st.sampled_from([-(2**63) - 1, 2**31, 2**53, 2**63, 10**400, 1e308, 0.5]),
    st.text(max_size=3),
    st.sampled_from(["optimal", "running", "best_first", "int64", "O", "M8[ns]"]),
    st.lists(st.none() | st.integers(-1, 3) | st.just([]), max_size=3),
    st.just({}),
    st.dictionaries(st.sampled_from(["a", "0"]), st.integers(0, 3), max_size=2),
)


@cache
def text_of(name: str) -> str:
    return MODELS[name]().to_json()


@cache
def schema(name: str) -> jsonschema.Draft202012Validator:
    path = Path(__file__).resolve().parents[1] / "docs" / f"{name}.schema.json"
    return jsonschema.Draft202012Validator(json.loads(path.read_text()))


def places(value, path=()):
    if path:
        yield path
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


EDITS = st.lists(st.tuples(st.integers(0, 10**6), st.booleans(), JUNK), min_size=1, max_size=2)


@pytest.mark.parametrize("name", MODELS)
@MORE
@given(edits=EDITS)
def test_what_is_read_fits_the_schema_and_works(name, edits):
    document = json.loads(text_of(name))
    for number, is_removed, junk in edits:
        found = list(places(document))
        *parents, last = found[number % len(found)]
        place = document
        for key in parents:
            place = place[key]
        if is_removed:
            del place[last]
        else:
            place[last] = copy.deepcopy(junk)
    kind = ConTreeRegressor if "numbers" in name else ConTreeClassifier
    text = json.dumps(document)
    try:
        model = kind.from_json(text)
    except ValueError as error:
        refused = str(error)
    else:
        refused = None
    if refused is not None:
        assert refused.startswith("Not an estimator that contree can read: ")
        assert "\n" not in refused
        return
    if document["version"] != json.loads(text_of(name))["version"]:
        return  # the schema is of this version
    published = schema("regressor" if kind is ConTreeRegressor else "classifier")
    assert [error.message for error in published.iter_errors(json.loads(text))] == []
    rows = pd.DataFrame(np.zeros((1, model.n_features_in_)))
    rows.columns = getattr(model, "feature_names_in_", rows.columns)
    if model.categories_ is None:
        assert len(model.predict(rows)) == 1
    assert model.export_text()
    again = kind.from_json(model.to_json())
    assert again.to_json() == model.to_json()
