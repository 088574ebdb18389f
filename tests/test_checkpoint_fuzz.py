"""A checkpoint file with any change: the search goes on, or the file is refused and kept."""

from __future__ import annotations

import copy
import json
import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contree import ConTreeClassifier, ConTreeRegressor
from contree._checkpoint_file import FORMAT, checksum
from scale import scaled

MORE = settings(max_examples=scaled(60))
RNG = np.random.default_rng(5)
X = RNG.integers(0, 6, size=(40, 3)).astype(float)
Y = RNG.integers(0, 3, size=40)
KINDS = {
    "classes": lambda: ConTreeClassifier(3),
    "numbers": lambda: ConTreeRegressor(3),
    "categories": lambda: ConTreeClassifier(3, categorical_features=[0]),
}
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 9),
    st.sampled_from([-(2**63), 2**31, 2**62, 2**63 - 1, 2**64, 10**400]),
    st.floats(),
    st.text(max_size=3),
    st.sampled_from([[], {}, [0], [[]], "0x1p0", "nan", "-inf", "running", "optimal"]),
)


def written(body: object) -> bytes:
    text = json.dumps(body).encode()
    return f"contree checkpoint {FORMAT} {checksum(FORMAT, text)}\n".encode() + text


@pytest.fixture(scope="module")
def begun(tmp_path_factory) -> dict[str, bytes]:
    """Return a checkpoint of each kind, of a search that was stopped."""
    contents = {}
    for name, kind in KINDS.items():
        path = tmp_path_factory.mktemp("begun") / name
        kind().fit(X, Y, checkpoint=path, callback=lambda progress: True)
        contents[name] = path.read_bytes()
    return contents


@cache
def least(name: str) -> float:
    return KINDS[name]().fit(X, Y).objective_


def goes_on_or_is_refused(name: str, content: bytes, path) -> None:
    path.write_bytes(content)
    try:
        found = KINDS[name]().fit(X, Y, checkpoint=path)
    except ValueError as error:
        refused = str(error)
    else:
        refused = None
    if refused is not None:
        assert "checkpoint: '" in refused
        assert "\n" not in refused
        assert path.read_bytes() == content
        return
    assert found.objective_ >= least(name)  # of the tree itself, whatever the file says
    assert found.lower_bound_ <= found.objective_
    assert math.isfinite(found.search_report_.seconds)
    assert found.predict(X).shape == Y.shape


def places(value, path=()):
    """Yield the way to each value in JSON."""
    if path:
        yield path
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


@pytest.mark.parametrize("name", KINDS)
@MORE
@given(data=st.data())
def test_any_value_replaced_or_removed(name, data, begun, tmp_path_factory):
    body = json.loads(begun[name].split(b"\n", 1)[1])
    for _ in range(data.draw(st.integers(1, 2))):
        part = data.draw(st.sampled_from(sorted(body)))
        *parents, last = data.draw(st.sampled_from([(part,), *places(body[part], (part,))]))
        place = body
        for key in parents:
            place = place[key]
        if data.draw(st.booleans()):
            place[last] = copy.deepcopy(data.draw(JUNK))
        else:
            del place[last]
        if not isinstance(body.get(part), (dict, list)):
            break
    path = tmp_path_factory.getbasetemp() / "changed"
    goes_on_or_is_refused(name, written(body), path)


@MORE
@given(content=st.binary(max_size=80), keep=st.integers(0, 400), whole=st.booleans())
def test_any_bytes(content, keep, whole, begun, tmp_path_factory):
    """Bytes in the place of all, or of what follows the beginning; the checksum may be right."""
    file = begun["classes"]
    text = file.split(b"\n", 1)[1][:keep] + content
    right = f"contree checkpoint {FORMAT} {checksum(FORMAT, text)}\n".encode() + text
    path = tmp_path_factory.getbasetemp() / "bytes"
    goes_on_or_is_refused("classes", file[:keep] + content if whole else right, path)
