"""Searches that are ended anywhere, by anything, go on to the same optimum."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest

from command_line import fails, inside, works
from contree import ConTreeClassifier, _checkpoint_file
from scale import scaled


def noisy(seed: int, rows: int, features: int, classes: int = 2):
    """Return rows whose labels a tree explains in part."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    y = (X[:, 0] > 0).astype(int) + (classes > 2) * (X[:, 1] > 0.3)
    y = np.where(rng.random(rows) < 0.3, rng.integers(0, classes, rows), y)
    return X, y


HARD = noisy(0, 3000, 12, 3)  # at depth 5: far more than a test can wait for
SMALL = noisy(1, 60, 3)


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "search.ckpt"


def same_tree(one, other) -> bool:
    names = ("children_left", "children_right", "feature", "threshold", "missing_go_to_left")
    return all(np.array_equal(getattr(one.tree_, n), getattr(other.tree_, n)) for n in names)


def test_an_ended_search_gives_its_tree_at_once(path):
    X, y = SMALL
    plain = ConTreeClassifier(3).fit(X, y)
    first = ConTreeClassifier(3).fit(X, y, checkpoint=path)
    before = path.read_bytes()
    again = ConTreeClassifier(3, time_limit=0, n_jobs=2).fit(X, y, checkpoint=str(path))
    assert plain.status_ == first.status_ == again.status_ == "optimal"
    assert plain.errors_ == first.errors_ == again.errors_ == again.lower_bound_
    assert same_tree(first, again)
    assert again.search_report_.counters["splits_evaluated"] == 0
    assert again.search_report_.seconds > first.search_report_.seconds
    assert again.search_report_.history == first.search_report_.history
    assert json.loads(before.split(b"\n", 1)[1])["state"]["frontier"][2] == []


def test_limits_stop_and_go_on(path):
    X, y = HARD
    objective, bound, seconds = len(y), 0, 0.0
    for limit in (0, 0.05, 0.3, 0.3, 0.3):
        clf = ConTreeClassifier(5, time_limit=limit).fit(X, y, checkpoint=path)
        report = clf.search_report_
        assert clf.status_ == "time_limit"
        assert clf.objective_ <= objective
        assert clf.lower_bound_ >= bound
        assert report.seconds > seconds  # those of all calls
        moments = [step.seconds for step in report.history]
        objectives = [step.objective for step in report.history]
        bounds = [step.lower_bound for step in report.history]
        assert moments == sorted(moments)
        assert objectives == sorted(objectives, reverse=True)
        assert bounds == sorted(bounds)
        assert (objectives[-1], bounds[-1]) == (clf.objective_, clf.lower_bound_)
        assert int((clf.predict(X) != y).sum()) == clf.errors_
        objective, bound, seconds = clf.objective_, clf.lower_bound_, report.seconds


def draw_problem(rng):
    """Return a problem of a few milliseconds, with whatever a fit can be asked for."""
    depth = int(rng.choice([2, 3, 3, 4]))
    X, y = noisy(int(rng.integers(1 << 30)), int(rng.integers(20, 90)), 3, int(rng.integers(2, 4)))
    X = np.round(X, int(rng.choice([0, 1, 8])))
    if rng.random() < 0.4:
        X[rng.random(X.shape) < 0.2] = np.nan
    kinds = [None, rng.integers(0, 4, len(y)), rng.random(len(y))]
    weights = kinds[rng.choice(3, p=[0.6, 0.2, 0.2])]
    parameters = {"max_depth": depth, "n_jobs": int(rng.integers(1, 3))}
    for name, value in (
        ("max_leaf_nodes", int(rng.integers(2, 2**depth + 1))),
        ("ccp_alpha", float(rng.choice([0.01, 0.003, 0.05]))),
        ("min_samples_leaf", int(rng.integers(2, 9))),
        ("min_weight_fraction_leaf", 0.07),
        ("class_weight", {0: 2, 1: 1.5}),
        ("max_gap", 2),
    ):
        if rng.random() < 0.25:
            parameters[name] = value
    return X, y, weights, parameters


@pytest.mark.parametrize("seed", range(scaled(15)))
def test_cut_again_and_again(seed, path):
    rng = np.random.default_rng(seed)
    X, y, weights, parameters = draw_problem(rng)
    plain = ConTreeClassifier(**parameters).fit(X, y, weights)
    for _ in range(8):
        cut = ConTreeClassifier(**parameters, time_limit=float(rng.exponential(0.003)))
        cut.fit(X, y, weights, checkpoint=path)
        assert cut.lower_bound_ <= plain.objective_
        assert cut.objective_ >= plain.lower_bound_
    last = ConTreeClassifier(**parameters).fit(X, y, weights, checkpoint=path)
    assert last.status_ in ("optimal", "gap_reached")
    if "max_gap" not in parameters:
        assert (last.status_, last.objective_) == ("optimal", plain.objective_)


def test_a_callback_stops_and_fails(path):
    X, y = HARD
    clf = ConTreeClassifier(5).fit(X, y, callback=lambda progress: True, checkpoint=path)
    assert clf.status_ == "stopped"
    first = json.loads(path.read_bytes().split(b"\n", 1)[1])["state"]
    assert first["status"] == "stopped"
    looks = []

    def fail(progress):
        looks.append(progress)
        if progress.seconds > first["seconds"] + 0.5:
            raise LookupError("of the caller")

    with pytest.raises(LookupError, match="of the caller"):
        ConTreeClassifier(5).fit(X, y, callback=fail, checkpoint=path)
    assert looks[0].seconds >= first["seconds"]
    assert looks[0].objective <= first["objective"]
    second = json.loads(path.read_bytes().split(b"\n", 1)[1])["state"]
    assert second["status"] == "running"
    assert second["objective"] <= looks[-1].objective
    assert second["seconds"] >= looks[-1].seconds
    assert second["frontier"][0] >= first["frontier"][0]


@pytest.mark.parametrize("answer", ["raise", "return"])
def test_interrupt(answer, path):
    X, y = HARD

    def interrupt(progress):
        if progress.seconds > 0.3:
            signal.raise_signal(signal.SIGINT)

    clf = ConTreeClassifier(5, on_interrupt=answer)
    if answer == "raise":
        with pytest.raises(KeyboardInterrupt):
            clf.fit(X, y, callback=interrupt, checkpoint=path)
        assert not hasattr(clf, "tree_")
    else:
        assert clf.fit(X, y, callback=interrupt, checkpoint=path).status_ == "interrupted"
    state = json.loads(path.read_bytes().split(b"\n", 1)[1])["state"]
    assert state["status"] == "interrupted"
    later = ConTreeClassifier(5, time_limit=0).fit(X, y, checkpoint=path)
    assert later.objective_ <= state["objective"]
    assert later.lower_bound_ >= state["lower_bound"]


def test_with_an_initial_tree_the_better_one_counts(path):
    X, y = SMALL
    best = ConTreeClassifier(3).fit(X, y)
    bad = ConTreeClassifier(1).fit(X[:5], np.array([0, 1, 0, 1, 0]))
    cut = ConTreeClassifier(3, time_limit=0).fit(X, y, checkpoint=path, initial_tree=bad)
    assert cut.errors_ >= best.errors_
    again = ConTreeClassifier(3, time_limit=0).fit(X, y, checkpoint=path, initial_tree=best)
    assert again.errors_ == best.errors_
    kept = ConTreeClassifier(3, time_limit=0).fit(X, y, checkpoint=path, initial_tree=bad)
    assert kept.errors_ == best.errors_


X, Y = SMALL
OTHERS = {
    "X": {"X": np.nextafter(X, 9)},
    "X differs": {"X": X[:, :2]},
    "y": {"y": 1 - Y},
    "y differs": {"y": Y.astype(str)},
    "sample_weight": {"sample_weight": np.arange(len(Y)) + 1},
    "max_depth is 3 there and 2 here": {"max_depth": 2},
    "max_depth is 3 there and None here": {"max_depth": None},
    "max_leaf_nodes is None there and 5 here": {"max_leaf_nodes": 5},
    "ccp_alpha is 0.0 there and 0.5 here": {"ccp_alpha": 0.5},
    "min_samples_leaf is 1 there and 2 here": {"min_samples_leaf": 2},
    "min_weight_fraction_leaf is 0.0 there and 0.1 here": {"min_weight_fraction_leaf": 0.1},
    "class_weight is None there and 'balanced' here": {"class_weight": "balanced"},
    "class_weight is None there and [['0', 2.0]] here": {"class_weight": {0: 2}},
    "max_gap is 0 there and 1 here": {"max_gap": 1},
    "feature_tolerance is 0.0 there and 0.1 here": {"feature_tolerance": 0.1},
}


@pytest.mark.parametrize("said", OTHERS)
def test_what_differs_is_named(said, path):
    ConTreeClassifier(3, time_limit=0.001).fit(X, Y, checkpoint=path)
    before = path.read_bytes()
    given = {"X": X, "y": Y, "sample_weight": None, "max_depth": 3, **OTHERS[said]}
    data = [given.pop(name) for name in ("X", "y", "sample_weight")]
    with pytest.raises(ValueError, match="belongs to another search") as error:
        ConTreeClassifier(**given).fit(*data, checkpoint=path)
    assert said in str(error.value)
    assert str(path) in str(error.value)
    assert path.read_bytes() == before


def test_what_may_differ(path):
    ConTreeClassifier(3, time_limit=0.001).fit(X, Y, checkpoint=path)
    free = {"time_limit": 100, "n_jobs": 2, "memory_limit": "1MB", "random_state": 5, "verbose": 0}
    others = {"search_options": {"inheritance": 0}, "on_interrupt": "return", "warm_start": True}
    clf = ConTreeClassifier(np.int64(3), **free, **others)
    assert clf.fit(X.tolist(), Y.tolist(), checkpoint=path).status_ == "optimal"


def test_a_depth_without_limit(path):
    clf = ConTreeClassifier(max_depth=None, time_limit=0)
    clf.fit(X, Y, checkpoint=path)
    clf.set_params(time_limit=None).fit(X, Y, checkpoint=path)
    assert (clf.status_, clf.errors_) == ("optimal", 0)


def test_damaged_files_are_refused_and_kept(path):
    clf = ConTreeClassifier(3, time_limit=0.002)
    clf.fit(X, Y, checkpoint=path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)

    def refused(content: bytes) -> None:
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"checkpoint: '.*search\.ckpt' "):
            clf.fit(X, Y, checkpoint=path)
        assert path.read_bytes() == content

    for length in {0, 1, len(whole) - 1, *rng.integers(0, len(whole), 150).tolist()}:
        refused(whole[:length])
    head = whole.index(b"\n") + 2
    for bit in {*range(8 * head), *(8 * head + rng.integers(0, 8 * (len(whole) - head), 200))}:
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        refused(bytes(flipped))
    refused(whole + b"\n")
    refused(b"\0" * len(whole))
    refused(os.urandom(5000))
    refused(b"contree checkpoint 2 " + b"0" * 64 + b"\n{}")
    path.write_bytes(whole)
    clf.fit(X, Y, checkpoint=path)


def forged(path, change) -> None:
    """Change the content of a checkpoint and make its checksum right."""
    body = json.loads(path.read_bytes().split(b"\n", 1)[1])
    change(body["state"])
    text = json.dumps(body).encode()
    mark = _checkpoint_file.checksum(_checkpoint_file.FORMAT, text)
    path.write_bytes(f"contree checkpoint {_checkpoint_file.FORMAT} {mark}\n".encode() + text)


def test_numbers_that_make_no_sense_are_refused(path):
    X, y = HARD

    def interval(column, value):
        def change(state):
            assert state["frontier"][2], "nothing is open"
            state["frontier"][2][0][column] = value

        return change

    def tree(name, value):
        return lambda state: state["tree"][name].__setitem__(0, value)

    def better(state):
        state["objective"] -= 1

    changes = [
        *(interval(0, value) for value in (-1, 12, 1 << 40)),
        interval(1, 1),
        *(interval(column, value) for column in (2, 6) for value in (-1, 1 << 40)),
        *(interval(column, -1) for column in (3, 4, 7, 8, 9)),
        tree("children_left", 0),
        tree("children_right", 10**6),
        tree("feature", 12),
        better,
        lambda state: state.pop("tree"),
        lambda state: state.update(more=1),
        lambda state: state.update(frontier=[3, 0, [[1, 2]]]),
        lambda state: state.update(history=[5]),
        lambda state: state.update(objective="few"),
    ]
    at_the_root = {"callback": lambda progress: progress.root_closed > 0}
    assert ConTreeClassifier(3).fit(X, y, checkpoint=path, **at_the_root).status_ == "stopped"
    whole = path.read_bytes()
    for change in changes:
        path.write_bytes(whole)
        forged(path, change)
        before = path.read_bytes()
        with pytest.raises(ValueError, match="is damaged"):
            ConTreeClassifier(3, time_limit=0).fit(X, y, checkpoint=path)
        assert path.read_bytes() == before


def test_places_that_cannot_be(tmp_path):
    with pytest.raises(OSError, match="No such file or directory"):
        ConTreeClassifier().fit(X, Y, checkpoint=tmp_path / "none" / "search.ckpt")
    with pytest.raises(ValueError, match="is not a regular file"):
        ConTreeClassifier().fit(X, Y, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="is not a regular file"):
        ConTreeClassifier().fit(X, Y, checkpoint="/dev/null")
    for bad in (7, "", b"search.ckpt", True):
        with pytest.raises(TypeError, match="checkpoint must be None or the path of a file"):
            ConTreeClassifier().fit(X, Y, checkpoint=bad)
    with pytest.raises(ValueError, match="search='best_first'"):
        ConTreeClassifier(search="paper").fit(X, Y, checkpoint=tmp_path / "search.ckpt")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_goes_away_ends_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(_checkpoint_file, "SAVE_SECONDS", 0.0)
    folder = tmp_path / "there"
    folder.mkdir()
    looks = []

    def take_away(progress):
        looks.append(progress)
        if len(looks) == 3:
            folder.rename(tmp_path / "elsewhere")

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf = ConTreeClassifier(5, time_limit=1.5)
        clf.fit(*HARD, callback=take_away, checkpoint=folder / "search.ckpt")
    assert clf.status_ == "time_limit"
    assert len(looks) > 4
    said = [str(one.message) for one in caught if one.category is RuntimeWarning]
    assert len(said) == 1
    assert "cannot be written" in said[0]
    (tmp_path / "elsewhere").rename(folder)
    later = ConTreeClassifier(5, time_limit=0.1).fit(*HARD, checkpoint=folder / "search.ckpt")
    assert later.status_ == "time_limit"
    assert [one.name for one in folder.iterdir()] == ["search.ckpt"]


def test_drafts_of_killed_processes_go_in_time(path):
    old, new = (path.with_name(f".{path.name}.{token * 12}.tmp") for token in "ab")
    other = path.with_name(".another.ckpt.aaaaaaaaaaaa.tmp")
    for one in (old, new, other):
        one.touch()
    os.utime(old, (0, 0))
    os.utime(other, (0, 0))
    ConTreeClassifier(1).fit(X, Y, checkpoint=path)
    assert sorted(path.parent.iterdir()) == sorted([path, new, other])


def run_program(program: str, *arguments) -> dict:
    """Return what a program prints that runs in a process of its own."""
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=900,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX limits")
def test_a_full_disk_ends_nothing(path):
    said = run_program(
        """
        import json, resource, signal, sys, warnings
        import numpy as np
        from contree import ConTreeClassifier, _checkpoint_file

        _checkpoint_file.SAVE_SECONDS = 0.0
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(3000, 10)), rng.integers(0, 2, 3000)
        ConTreeClassifier(5, time_limit=0).fit(X, y, checkpoint=sys.argv[1])
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            clf = ConTreeClassifier(5, time_limit=1).fit(X, y, checkpoint=sys.argv[1])
        print(json.dumps([clf.status_, [str(one.message) for one in caught]]))
        """,
        path,
    )
    assert said[0] == "time_limit"
    assert len(said[1]) == 1
    assert "File too large" in said[1][0]
    assert path.read_bytes().startswith(b"contree checkpoint 1 ")
    assert [one.name for one in path.parent.iterdir()] == [path.name]


KILLER = """
import json, os, random, signal, sys, time
import numpy as np
from contree import ConTreeClassifier, _checkpoint_file

_checkpoint_file.SAVE_SECONDS = 0.0
path, kills = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(3)
n = int(sys.argv[4])
X = rng.normal(size=(n, 8))
y = np.where(rng.random(n) < 0.4, rng.integers(0, 3, n), (X[:, 0] > 0) + (X[:, 1] > 0.5))
parameters = json.loads(sys.argv[3])
start = time.perf_counter()
optimum = ConTreeClassifier(**parameters).fit(X, y).objective_
longest = 1.5 * (time.perf_counter() - start) / 3
random.seed(5)
killed, wrong, ended, went_on = 0, [], 0, 0
while killed < kills:
    went_on += os.path.exists(path)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            clf = ConTreeClassifier(**parameters).fit(X, y, checkpoint=path)
            code = 0 if (clf.status_, clf.objective_) == ("optimal", optimum) else 2
        finally:
            os._exit(code)
    moment = time.monotonic() + random.uniform(0, longest)
    while time.monotonic() < moment:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            break
        time.sleep(0.002)
    else:
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        killed += 1
        continue
    ended += 1
    wrong += [os.waitstatus_to_exitcode(status)] if status else []
    again = ConTreeClassifier(**parameters, time_limit=0).fit(X, y, checkpoint=path)
    wrong += ["again"] * ((again.status_, again.objective_) != ("optimal", optimum))
    os.remove(path)
clf = ConTreeClassifier(**parameters).fit(X, y, checkpoint=path)
wrong += ["last"] * ((clf.status_, clf.objective_) != ("optimal", optimum))
print(json.dumps({"killed": killed, "ended": ended, "went_on": went_on, "wrong": wrong}))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills processes that it forks")
@pytest.mark.parametrize(
    ("kills", "parameters", "rows"),
    [
        (scaled(12), {"max_depth": 3}, 4000),
        (scaled(8), {"max_depth": 3, "min_samples_leaf": 20, "n_jobs": 2}, 1500),
    ],
)
def test_killed_at_any_moment(kills, parameters, rows, path):
    said = run_program(KILLER, path, kills, json.dumps(parameters), rows)
    assert said["wrong"] == []
    assert said["killed"] == kills
    assert said["went_on"] > kills // 4


def test_command(tmp_path):
    table = np.column_stack([*HARD[0].T[:6], HARD[1]])
    names = ",".join([*"abcdef", "y"])
    np.savetxt(tmp_path / "data.csv", table, delimiter=",", header=names, comments="", fmt="%.9g")
    path = tmp_path / "search.ckpt"
    fit = ["fit", tmp_path / "data.csv", "--target", "y", "--checkpoint", path]
    works(*fit, "--time-limit", "0.2", "--max-depth", "5", run=inside)
    before = json.loads(path.read_bytes().split(b"\n", 1)[1])["state"]
    works(*fit, "--time-limit", "0.2", "--max-depth", "5", run=inside)
    after = json.loads(path.read_bytes().split(b"\n", 1)[1])["state"]
    assert after["seconds"] > before["seconds"]
    assert after["lower_bound"] >= before["lower_bound"]
    said = fails(*fit, "--max-depth", "4", run=inside)
    assert "max_depth is 5 there and 4 here" in said
    said = fails(*fit, "--max-depth", "5", "--model", path, run=inside)
    assert "used twice" in said
