"""One search over a Dask cluster: real clusters with processes, and real faults."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.model_selection import GridSearchCV

from contree import ConTreeClassifier, ConTreeClassifierCV, ConTreeRegressor
from scale import scaled

distributed = pytest.importorskip("distributed")

from contree import distributed as on_cluster  # noqa: E402
from contree.distributed import _worker_registry  # noqa: E402

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals"),
    pytest.mark.xdist_group("cluster"),  # one cluster for all of them
    pytest.mark.filterwarnings("default"),  # Dask's own, in threads that close
]


def patient(*args, **kwargs):
    """Return an estimator that, should a fit ever wait for nothing, gives up and fails its test."""
    return ConTreeClassifier(*args, **{"time_limit": 180.0} | kwargs)


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    """A client of a whole cluster, on which a test leaves nothing behind."""
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client
        assert_empty(client)


def assert_empty(client) -> None:
    """Nothing that a fit has sent is on the scheduler or on a worker any more."""
    deadline = time.monotonic() + 60
    while (left := leftovers(client)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not left


def leftovers(client) -> list:
    def on_scheduler(dask_scheduler):
        # Dask keeps the subscriptions of clients that are gone, as those of killed workers.
        listened = [
            name
            for name, topic in dask_scheduler._broker._topics.items()
            if name.startswith(("contree", "Client-"))
            and topic.subscribers & {*dask_scheduler.clients}
        ]
        return [*dask_scheduler.tasks, *listened]

    def on_worker(dask_worker):
        from contree.distributed import _worker_session

        profiler, clock = (dask_worker.periodic_callbacks[name] for name in ("profile", "tick"))
        paused = [] if profiler.is_running() else ["the profiler is stopped"]  # as in a fit
        paused += [] if clock.callback_time < 100 else ["the clock is slow"]
        return [*_worker_session._sessions, *dask_worker.data, *dask_worker.state.tasks, *paused]

    found = client.run_on_scheduler(on_scheduler)
    return found + [one for some in client.run(on_worker).values() for one in some]


def noise(n_rows, n_features, n_classes, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_features)), rng.integers(0, n_classes, n_rows)


LONG = noise(600, 8, 3, 0)  # some seconds of work at depth 4
LONG_OPTIMUM = 259


def pids(client) -> dict[str, int]:
    return client.run(os.getpid)


def later(seconds, action, *args) -> threading.Timer:
    timer = threading.Timer(seconds, action, args)
    timer.start()
    return timer


class WhenBusy:
    """A callback that does something once, as soon as the last level is being searched."""

    def __init__(self, action):
        self.action, self.done = action, False

    def __call__(self, progress):
        if progress.root_closed > 0 and not self.done:
            self.done = True
            self.action()


SETS = {
    "iris": (*load_iris(return_X_y=True), 3),
    "wine": (*load_wine(return_X_y=True), 3),
    "cancer": (*load_breast_cancer(return_X_y=True), 3),
    "noise, depth 4": (*noise(150, 5, 3, 1), 4),
    "noise, depth 5": (*noise(90, 4, 2, 2), 5),
    "one class": (np.arange(6.0)[:, None], np.zeros(6), 3),
    "one row": (np.ones((1, 2)), [1], 3),
    "constant": (np.ones((5, 2)), [0, 1, 0, 1, 1], 4),
    "depth 0": (*noise(30, 3, 2, 3), 0),
    "depth 1": (*noise(30, 3, 2, 3), 1),
    "depth 2": (*noise(60, 3, 3, 4), 2),
    "any depth": (*load_iris(return_X_y=True), None),
    "any depth, equal rows": (np.repeat(noise(40, 3, 2, 5)[0], 2, axis=0), np.arange(80) % 3, None),
}


@pytest.mark.parametrize("name", SETS)
def test_same_optimum_as_alone(client, name):
    X, y, depth = SETS[name]
    alone = ConTreeClassifier(depth).fit(X, y)
    together = on_cluster.fit(patient(depth), X, y, client=client)
    assert together.status_ == alone.status_ == "optimal"
    assert together.objective_ == together.lower_bound_ == alone.objective_
    assert np.count_nonzero(together.predict(X) != y) == together.errors_
    assert vars(together).keys() == vars(alone).keys()
    assert together.tree_.n_node_samples[0] == len(y)


def test_the_seed_goes_along(client):
    X, y = noise(150, 5, 3, 1)
    clf = on_cluster.fit(patient(4, random_state=3), X, y, client=client)
    assert clf.errors_ == ConTreeClassifier(4).fit(X, y).errors_


def test_random_problems_of_every_kind(client):
    rng = np.random.default_rng(5)
    for _ in range(scaled(6)):
        n_rows, n_features = int(rng.integers(10, 60)), int(rng.integers(1, 4))
        X = rng.integers(0, 12, size=(n_rows, n_features)).astype(float)
        X[rng.random(X.shape) < rng.choice([0, 0.1])] = np.nan
        y = rng.integers(0, 3, n_rows)
        weights = rng.choice([None, "ints", "floats"])
        weights = {"ints": rng.integers(0, 5, n_rows), "floats": rng.random(n_rows)}.get(weights)
        parameters = {
            "max_depth": int(rng.integers(2, 5)),
            "ccp_alpha": float(rng.choice([0.0, 0.01])),
            "min_samples_leaf": int(rng.choice([1, 3])),
            "max_leaf_nodes": rng.choice([None, 5]),
            "class_weight": rng.choice([None, "balanced"]),
            "max_gap": int(rng.choice([0, 1])),
        }
        parameters["minimize_leaves"] = parameters["ccp_alpha"] == 0 and bool(rng.integers(2))
        alone = ConTreeClassifier(**parameters).fit(X, y, weights)
        exact = ConTreeClassifier(**parameters | {"max_gap": 0}).fit(X, y, weights)
        together = patient(**parameters)
        on_cluster.fit(together, X, y, client=client, sample_weight=weights)
        assert together.lower_bound_ <= exact.objective_ <= together.objective_
        if parameters["max_gap"] == 0:
            assert together.objective_ == alone.objective_, parameters
            assert together.leaves_lower_bound_ == alone.leaves_lower_bound_, parameters
            if parameters["minimize_leaves"]:
                assert together.get_n_leaves() == alone.get_n_leaves() == alone.leaves_lower_bound_
        else:
            assert together.gap_ <= 1 + 1e-9  # a difference of floats where leaves have a cost
        leaves = together.tree_.children_left < 0
        assert together.tree_.n_node_samples[leaves].min() >= parameters["min_samples_leaf"]


def test_progress_history_and_counters(client):
    X, y = LONG
    seen = []
    clf = on_cluster.fit(patient(4), X, y, client=client, callback=seen.append)
    assert clf.status_ == "optimal"
    assert clf.errors_ == LONG_OPTIMUM
    assert seen[-1].root_closed == 1
    for states in (seen, clf.search_report_.history):
        objectives = [state.objective for state in states]
        bounds = [state.lower_bound for state in states]
        assert objectives == sorted(objectives, reverse=True)
        assert bounds == sorted(bounds)
    report = clf.search_report_
    assert report.history[-1][1:] == (LONG_OPTIMUM, LONG_OPTIMUM)
    assert report.n_jobs == 2
    assert report.counters["tasks"] >= 3
    assert report.counters["splits_evaluated"] > 0


def test_time_limit_keeps_the_best_tree(client):
    X, y = noise(4000, 12, 3, 0)
    clf = ConTreeClassifier(6, time_limit=2.0)
    on_cluster.fit(clf, X, y, client=client)
    assert clf.status_ == "time_limit"
    assert 0 <= clf.lower_bound_ <= clf.objective_
    assert np.count_nonzero(clf.predict(X) != y) == clf.errors_
    nothing = on_cluster.fit(ConTreeClassifier(6, time_limit=0.0), X, y, client=client)
    assert nothing.status_ == "time_limit"
    assert nothing.errors_ < 2667  # CART's tree at the least


def test_checkpoint_from_here_to_there_and_back(client, tmp_path):
    """What one machine has begun a cluster takes up, and the other way round."""
    X, y = LONG
    path = tmp_path / "search.ckpt"
    bounds = []
    for turn in range(3):
        clf = ConTreeClassifier(4, time_limit=0.8)
        if turn % 2:
            on_cluster.fit(clf, X, y, client=client, checkpoint=path)
        else:
            clf.fit(X, y, checkpoint=path)
        bounds.append((clf.lower_bound_, -clf.objective_))
    assert bounds == sorted(bounds)
    clf = on_cluster.fit(patient(4), X, y, client=client, checkpoint=path)
    assert (clf.status_, clf.errors_) == ("optimal", LONG_OPTIMUM)
    assert clf.lower_bound_ == LONG_OPTIMUM >= bounds[-1][0]
    again = on_cluster.fit(patient(4), X, y, client=client, checkpoint=path)
    assert (again.status_, again.errors_) == ("optimal", LONG_OPTIMUM)
    assert again.search_report_.counters.get("tasks", 0) == 0
    with pytest.raises(ValueError, match="max_depth is 4 there and 3 here"):
        on_cluster.fit(ConTreeClassifier(3), X, y, client=client, checkpoint=path)


def test_max_gap(client):
    X, y = LONG
    clf = on_cluster.fit(patient(4, max_gap=20), X, y, client=client)
    assert clf.status_ in ("gap_reached", "optimal")
    assert clf.gap_ <= 20
    assert clf.lower_bound_ <= LONG_OPTIMUM <= clf.objective_


def test_callback_stops_and_errors_come_through(client):
    X, y = noise(4000, 12, 3, 0)
    clf = on_cluster.fit(ConTreeClassifier(5), X, y, client=client, callback=lambda progress: True)
    assert clf.status_ == "stopped"

    def fail(progress):
        raise LookupError("from the callback")

    before = dict(vars(clf))
    with pytest.raises(LookupError, match="from the callback"):
        on_cluster.fit(clf, X, y, client=client, callback=fail)
    assert vars(clf) == before


def test_first_tree_and_warm_start(client):
    X, y = noise(4000, 12, 3, 0)
    first = ConTreeClassifier(4, time_limit=1.0).fit(X, y)
    clf = ConTreeClassifier(4, time_limit=0.5)
    on_cluster.fit(clf, X, y, client=client, initial_tree=first)
    assert clf.objective_ <= first.objective_


def test_regression(client):
    X, y = load_diabetes(return_X_y=True)
    weights = np.arange(len(y)) % 3
    alone = ConTreeRegressor(3, ccp_alpha=10.0).fit(X, y, weights)
    reg = on_cluster.fit(
        ConTreeRegressor(3, ccp_alpha=10.0), X, y, sample_weight=weights, client=client
    )
    assert (reg.status_, reg.objective_) == ("optimal", alone.objective_)
    assert reg.lower_bound_ == reg.objective_
    limited = on_cluster.fit(ConTreeRegressor(4, time_limit=1.0), X, y, client=client)
    assert 0 <= limited.lower_bound_ <= limited.objective_


def test_what_is_refused(client):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="search='paper'"):
        on_cluster.fit(ConTreeClassifier(search="paper"), X, y, client=client)
    with pytest.raises(TypeError, match=r"ConTreeRegressor; got ConTreeClassifierCV"):
        on_cluster.fit(ConTreeClassifierCV(), X, y, client=client)
    with pytest.raises(TypeError, match=r"client must be a dask\.distributed\.Client; got str"):
        on_cluster.fit(ConTreeClassifier(), X, y, client="tcp://127.0.0.1:8786")
    closed = distributed.Client(client.scheduler.address)
    closed.close()
    with pytest.raises(ValueError, match=r"client has status 'closed'.* Start another one"):
        on_cluster.fit(ConTreeClassifier(), X, y, client=closed)
    with pytest.raises(ValueError, match="patience"):
        on_cluster.fit(ConTreeClassifier(), X, y, client=client, patience=0)
    with pytest.raises(ValueError, match="max_depth"):
        on_cluster.fit(ConTreeClassifier(max_depth=-1), X, y, client=client)


def test_killed_worker(client):
    """SIGKILL in the middle: its part is searched again, by whoever is left."""
    X, y = LONG
    killed = []

    def kill():
        address, pid = sorted(pids(client).items())[0]
        killed.append(address)
        os.kill(pid, signal.SIGKILL)

    action = WhenBusy(kill)
    clf = on_cluster.fit(patient(4), X, y, client=client, callback=action)
    assert killed
    assert (clf.status_, clf.errors_) == ("optimal", LONG_OPTIMUM)
    assert clf.search_report_.counters["tasks_lost"] >= 1


def test_all_workers_killed(client):
    """The rows are gone with the workers, and are sent again to those that come."""
    X, y = LONG

    def kill():
        for pid in pids(client).values():
            os.kill(pid, signal.SIGKILL)

    action = WhenBusy(kill)
    clf = on_cluster.fit(patient(4), X, y, client=client, callback=action)
    assert action.done
    assert (clf.status_, clf.errors_) == ("optimal", LONG_OPTIMUM)


def test_hanging_worker(client):
    """SIGSTOP in the middle: its part goes to others; when it wakes up it does no harm."""
    X, y = LONG
    stopped = []

    def stop():
        stopped.append(sorted(pids(client).values())[0])
        os.kill(stopped[0], signal.SIGSTOP)

    try:
        clf = on_cluster.fit(patient(4), X, y, client=client, callback=WhenBusy(stop), patience=2.0)
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    assert stopped
    assert (clf.status_, clf.errors_) == ("optimal", LONG_OPTIMUM)
    assert clf.search_report_.counters["tasks_lost"] >= 1


def test_late_worker_and_none_at_first(monkeypatch):
    """A fit waits for workers, says so, and takes whoever comes."""
    monkeypatch.setattr(_worker_registry, "NO_WORKERS_WARNING_SECONDS", 0.2)
    X, y = LONG
    with (
        distributed.LocalCluster(
            n_workers=0, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        clf = ConTreeClassifier(4, time_limit=0.3)
        on_cluster.fit(clf, X, y, client=client)
        assert clf.status_ == "time_limit"
        timers = [later(2, cluster.scale, 1)]
        late = WhenBusy(lambda: cluster.scale(2))
        try:
            with pytest.warns(UserWarning, match="no Dask worker"):
                clf = on_cluster.fit(patient(4), X, y, client=client, callback=late)
        finally:
            for timer in timers:
                timer.cancel()
        assert (clf.status_, clf.errors_) == ("optimal", LONG_OPTIMUM)
        assert late.done
        assert_empty(client)


CTRL_C = """
import json, sys, time
import numpy as np
from distributed import Client
from contree import ConTreeClassifier, distributed

rng = np.random.default_rng(0)
X, y = rng.normal(size=(4000, 12)), rng.integers(0, 3, size=4000)
clf = ConTreeClassifier(5, on_interrupt=sys.argv[2])
with Client(sys.argv[1]) as client:
    def callback(progress):
        print("fitting", flush=True)
    said = dict(raised=False)
    try:
        distributed.fit(clf, X, y, client=client, callback=callback)
    except KeyboardInterrupt:
        said["raised"] = True
    said["fitted"] = hasattr(clf, "tree_")
    if said["fitted"]:
        said["wrong"] = int((clf.predict(X) != y).sum())
        said.update(status=clf.status_, objective=clf.objective_)
    print(json.dumps(said), flush=True)
"""


@pytest.mark.parametrize("on_interrupt", ["raise", "return"])
def test_ctrl_c(client, cluster, on_interrupt):
    arguments = [sys.executable, "-c", CTRL_C, cluster.scheduler_address, on_interrupt]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "fitting\n"
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0
    said = json.loads(out.splitlines()[-1])
    assert said["raised"] == (on_interrupt == "raise")
    assert said["fitted"] != said["raised"]
    if said["fitted"]:
        assert said["status"] == "interrupted"
        assert said["wrong"] == said["objective"]


def test_a_session_that_is_opened_too_late_is_closed(client):
    """A worker that was slow to get ready for a fit that has ended does not wait for it forever."""
    from contree.distributed import _worker_session
    from contree.distributed._worker_session import open_session

    def set_patience(seconds):
        from contree.distributed import _worker_session

        _worker_session.ABANDONED_SESSION_SECONDS = seconds

    for address in pids(client):
        late = client.submit(
            open_session, "of-no-fit", client.id, 0.5, workers=[address], pure=False
        )
        assert late.result(timeout=60)["kernel"]
    del late
    assert leftovers(client)
    client.run(set_patience, 0.5)
    assert_empty(client)
    client.run(set_patience, _worker_session.ABANDONED_SESSION_SECONDS)


def test_two_fits_at_once(client):
    """Fits of one client at the same time know nothing of each other."""
    problems = [noise(200, 6, 3, seed) for seed in (6, 7)]
    alone = [ConTreeClassifier(4).fit(*problem).errors_ for problem in problems]
    together = [patient(4) for _ in problems]
    threads = [
        threading.Thread(target=on_cluster.fit, args=(clf, *problem), kwargs={"client": client})
        for clf, problem in zip(together, problems, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [clf.errors_ for clf in together] == alone


def test_workers_in_the_callers_process():
    X, y = load_wine(return_X_y=True)
    with distributed.Client(processes=False, n_workers=2, dashboard_address=":0") as client:
        clf = on_cluster.fit(patient(3), X, y, client=client)
        assert clf.errors_ == ConTreeClassifier(3).fit(X, y).errors_
        assert_empty(client)


def test_tuning_over_joblib(client):
    """Folds and candidates on the cluster, by joblib's Dask backend."""
    import joblib

    X, y = load_iris(return_X_y=True)
    alone = ConTreeClassifierCV(max_depth=2, n_jobs=1).fit(X, y)
    grid = {"max_depth": [1, 2], "min_samples_leaf": [1, 5]}
    search = GridSearchCV(ConTreeClassifier(), grid, cv=3, n_jobs=-1)
    with joblib.parallel_config(backend="dask", client=client):
        together = ConTreeClassifierCV(max_depth=2, n_jobs=-1).fit(X, y)
        search.fit(X, y)
    assert together.best_params_ == alone.best_params_
    assert together.cv_results_["mean_test_score"].tolist() == pytest.approx(
        alone.cv_results_["mean_test_score"].tolist(), abs=0
    )
    assert search.best_estimator_.status_ == "optimal"


def test_without_dask_the_extra_is_named():
    program = """
import sys
sys.modules["distributed"] = None
try:
    import contree.distributed
except ModuleNotFoundError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'contree[distributed]'" in done.stdout
