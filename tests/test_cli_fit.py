"""``contree fit``: the tree, the model file, pictures, limits, Ctrl-C and full disks."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from command_line import COMMAND, fails, inside, works
from contree import ConTreeClassifier, ConTreeClassifierCV, cli
from contree.export.certificate import certificate

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals and terminals")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with breast-cancer data in a file, and a hard set."""
    folder = tmp_path_factory.mktemp("fit")
    data = load_breast_cancer(as_frame=True)
    frame = data.frame.rename(columns={"target": "diagnosis"})
    frame["diagnosis"] = data.target_names[data.target]
    frame["cost"] = np.where(frame["diagnosis"] == "malignant", 2.5, 1.0)
    frame.to_csv(folder / "cancer.csv", index=False)
    rng = np.random.default_rng(0)
    hard = pd.DataFrame(rng.normal(size=(4000, 12))).rename(columns=str)
    hard.assign(y=rng.integers(0, 3, size=4000)).to_csv(folder / "hard.csv", index=False)
    return folder


def test_fit_without_a_limit_of_depth(folder):
    flags = ["--drop", "cost", "--max-depth", "none", "--random-state", "3", "--model", "deep.json"]
    out = works("fit", "cancer.csv", "--target", "diagnosis", *flags, folder=folder, run=inside)
    assert "This tree fits these rows without errors (optimal)." in out
    assert re.search(r"contree +0 ", out)
    assert re.search(r"CART +0 ", out)
    read = ConTreeClassifier.from_json((folder / "deep.json").read_text())
    assert (read.max_depth, read.random_state, read.status_) == (None, 3, "optimal")
    limits = ["--drop", "cost", "--max-depth", "none", "--max-leaf-nodes", "3"]
    out = works("path", "cancer.csv", "--target", "diagnosis", *limits, folder=folder, run=inside)
    assert "trees of any depth; optimal" in out
    result = inside("tune", "cancer.csv", "--target", "diagnosis", *limits, folder=folder)
    assert result.returncode == 2
    assert "--max-depth must be a number" in result.stderr


def test_fit_shows_the_tree_cart_and_the_proof_and_writes_all(folder):
    flags = ["--drop", "cost", "--max-depth", "2"]
    files = ["--model", "tree.json", "--plot", "tree.svg", "--html", "tree.html"]
    out = works("fit", "cancer.csv", "--target", "diagnosis", *flags, *files, folder=folder)
    frame = pd.read_csv(folder / "cancer.csv")
    X, y = frame.drop(columns=["diagnosis", "cost"]), frame["diagnosis"]
    clf = ConTreeClassifier(2).fit(X, y)
    assert clf.export_text() in out
    assert re.search(rf"contree +{clf.errors_} ", out)
    errors = int(re.search(r"CART +(\d+) ", out)[1])
    assert errors >= clf.errors_
    assert f"fewer than {clf.errors_} errors on these rows (optimal)" in out
    assert "written: tree.json, tree.svg, tree.html" in out

    read = ConTreeClassifier.from_json((folder / "tree.json").read_text())
    assert (read.predict(X) == clf.predict(X)).all()
    assert read.get_params() == {**clf.get_params(), "on_interrupt": "return", "verbose": 1}
    assert "<svg" in (folder / "tree.svg").read_text()
    assert "<html" in (folder / "tree.html").read_text()


def test_weights_and_limits_are_those_of_the_estimator(folder):
    flags = ["--class-weight", "malignant=3", "--sample-weight", "cost", "--min-samples-leaf", "20"]
    flags += ["--max-depth", "2", "--model", "weighted.json"]
    works("fit", "cancer.csv", "--target", "diagnosis", *flags, folder=folder, run=inside)
    read = ConTreeClassifier.from_json((folder / "weighted.json").read_text())
    frame = pd.read_csv(folder / "cancer.csv")
    clf = ConTreeClassifier(2, min_samples_leaf=20, class_weight={"malignant": 3})
    clf.fit(frame.drop(columns=["diagnosis", "cost"]), frame["diagnosis"], frame["cost"])
    assert read.errors_ == clf.errors_
    assert read.class_weight == {"malignant": 3}
    said = fails("fit", "cancer.csv", "-t", "diagnosis", "--class-weight", "bad=3", folder=folder)
    assert "there is no label 'bad'; the labels are 'benign', 'malignant'" in said


def interrupted(folder, *arguments, sign: bytes) -> tuple[bytes, str]:
    """Return what a command says on a terminal, where Ctrl-C follows a sign of life, and prints."""
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=follower,
        cwd=folder,
        start_new_session=True,
    ) as process:
        os.close(follower)
        shown = b""
        while sign not in shown:
            shown += os.read(leader, 4096)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        with contextlib.suppress(OSError):  # which is how a terminal ends
            while True:
                shown += os.read(leader, 4096)
        out = process.stdout.read().decode()
    os.close(leader)
    assert process.returncode == 130
    assert b"Traceback" not in shown
    assert not list(folder.glob(".*.tmp"))
    return shown, out


def test_an_interrupted_fit_writes_its_best_tree(folder):
    """A live line shows on a terminal; Ctrl-C ends the search, and the model is there."""
    command = ["fit", "hard.csv", "--target", "y", "--max-depth", "6", "--model", "cut.json"]
    shown, out = interrupted(folder, *command, sign=b"bound")
    assert b"kept in 'cut.json'" in shown
    clf = ConTreeClassifier.from_json((folder / "cut.json").read_text())
    assert clf.status_ == "interrupted"
    assert clf.lower_bound_ <= clf.objective_
    assert "(interrupted)" in out
    bound = clf.lower_bound_
    assert ("Nothing is proved yet" if bound == 0 else f"at least {bound} error") in out


def test_accuracy_says_on_which_rows(folder):
    """--holdout fits on the rest alone, and both parts are counted as scikit-learn counts them."""
    command = ["fit", "cancer.csv", "--target", "diagnosis", "--drop", "cost", "--max-depth", "2"]
    out = works(*command, folder=folder, run=inside)
    assert "on the 569 training rows; for other rows use --holdout 0.2 or contree tune" in out
    assert "held out" not in out
    flags = ["--holdout", "0.2", "--random-state", "4", "--model", "part.json"]
    out = works(*command, *flags, folder=folder, run=inside)
    frame = pd.read_csv(folder / "cancer.csv").drop(columns="cost")
    kept, held = train_test_split(
        frame.index, test_size=114, random_state=4, stratify=frame["diagnosis"]
    )
    model = ConTreeClassifier.from_json((folder / "part.json").read_text())
    for rows, words in ((kept, "455 training rows\n"), (held, "114 rows held out")):
        part = frame.loc[rows]
        wrong = (model.predict(part.drop(columns="diagnosis")) != part["diagnosis"]).sum()
        table = out.split(words)[1]
        assert re.search(r"contree +(\d+) +(\S+)", table).groups() == (
            str(wrong),
            f"{1 - wrong / len(part):.4f}",
        )
        assert re.search(r"CART +\d+ ", table.split("held out")[0])
    best = ConTreeClassifier(2).fit(*_parts(frame.loc[sorted(kept)]))
    assert model.errors_ == best.errors_


def _parts(frame):
    return frame.drop(columns="diagnosis"), frame["diagnosis"]


def test_rows_held_out_of_a_regression(folder):
    command = ["fit", "cancer.csv", "--target", "cost", "--drop", "diagnosis", "--task"]
    flags = ["regression", "--max-depth", "1", "--holdout", "0.5", "--sample-weight", "mean area"]
    out = works(*command, *flags, folder=folder, run=inside)
    training, held = out.split("rows held out")
    for part in (training, held):
        assert re.search(r"contree +-?0\.\d{4} +\S+ +\S+\n", part)
        assert re.search(r"CART +-?0\.\d{4} ", part)


def test_a_holdout_that_leaves_no_rows_is_refused(folder):
    (folder / "few.csv").write_text("a,y\n1,0\n2,1\n3,1\n")
    said = fails("fit", "few.csv", "--target", "y", "--holdout", "0.1", folder=folder, run=inside)
    assert "--holdout 0.1 of 3 rows" in said
    works("fit", "few.csv", "--target", "y", "--holdout", "0.4", folder=folder, run=inside)


def test_nothing_proved_is_said():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 8)), rng.integers(0, 3, size=3000)
    clf = ConTreeClassifier(6, time_limit=0.05, search="paper").fit(X, y)
    assert clf.lower_bound_ == 0 < clf.errors_
    text = certificate(clf)
    assert text.startswith("Nothing is proved yet: a tree of depth 6 or less")
    assert "at least" not in text
    text = certificate(ConTreeClassifier(6, time_limit=0, ccp_alpha=0.01).fit(X, y))
    assert text.startswith("Nothing is proved yet: a tree of depth 6 or less")
    assert "may have an objective of 30 on these rows, the cost of one leaf" in text


def test_an_interrupted_path_writes_the_sizes_so_far(folder):
    command = ["path", "hard.csv", "--target", "y", "--max-depth", "5", "-o", "sizes.csv"]
    shown, out = interrupted(folder, *command, sign=b"bound")
    assert b"the sizes so far are shown" in shown
    written = pd.read_csv(folder / "sizes.csv")
    assert (written["lower_bound"] <= written["errors"]).all()
    assert "interrupted" in out


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupted_tune_says_that_it_has_no_tree(folder, jobs):
    command = ["tune", "hard.csv", "-t", "y", "--max-depth", "5", "--model", "none.json"]
    shown, out = interrupted(folder, *command, "--n-jobs", jobs, sign=b"paths of trees")
    assert b"before depth and size were chosen" in shown
    assert out == ""
    assert not (folder / "none.json").exists()


def test_an_interrupt_before_the_command_has_begun(monkeypatch, capsys):
    def early():
        raise KeyboardInterrupt

    monkeypatch.setattr("contree.cli._command", early)
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 130
    assert capsys.readouterr().err == "contree: interrupted\n"


def test_a_closed_standard_output_is_no_crash(folder):
    command = f"{COMMAND} fit cancer.csv -t diagnosis --max-depth 1 --model closed.json >&-"
    result = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert (folder / "closed.json").exists()


def test_a_time_limit_is_no_error_and_a_warm_start_goes_on(folder):
    command = ["fit", "hard.csv", "--target", "y", "--max-depth", "5", "--model", "warm.json"]
    out = works(*command, "--time-limit", "0", folder=folder)
    assert "(time_limit)" in out
    first = ConTreeClassifier.from_json((folder / "warm.json").read_text())
    works(*command, "--time-limit", "1", "--warm-start", folder=folder, run=inside)
    second = ConTreeClassifier.from_json((folder / "warm.json").read_text())
    assert second.objective_ <= first.objective_
    assert second.warm_start
    works(
        *command,
        "--time-limit",
        "0",
        "--initial-tree",
        "warm.json",
        "-q",
        folder=folder,
        run=inside,
    )
    third = ConTreeClassifier.from_json((folder / "warm.json").read_text())
    assert third.objective_ <= second.objective_


@pytest.mark.parametrize("place", ["nowhere/tree.json", "cancer.csv/tree.json", "."])
def test_a_place_that_cannot_be_written_to_is_found_out_before_the_search(folder, place):
    # The search for this depth takes hours: the command must end before it.
    command = ["fit", "hard.csv", "--target", "y", "--max-depth", "8", "--model", place]
    assert "cannot write" in fails(*command, folder=folder)


def on_a_small_disk(options: str, folder: Path) -> list[str]:
    """Return the words before a command that give it a folder `disk` of its own file system."""
    script = f'mount -t tmpfs -o {options} tmpfs disk && exec "$@"'
    words = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    (folder / "disk").mkdir(exist_ok=True)
    if (
        shutil.which("unshare") is None
        or subprocess.run([*words, "true"], cwd=folder, capture_output=True).returncode
    ):
        pytest.skip("NOT TESTED: this machine lets nobody mount a small disk")
    return words


@pytest.mark.parametrize(
    ("options", "said"), [("size=16k", "No space left"), ("ro", "Read-only file system")]
)
def test_a_full_or_read_only_disk_is_found_out_before_the_search(folder, options, said):
    prefix = on_a_small_disk(options, folder)
    command = ["fit", "hard.csv", "--target", "y", "--max-depth", "8", "--model", "disk/m.json"]
    assert said in fails(*command, folder=folder, prefix=prefix)


def test_a_device_is_written_to_and_not_replaced(folder):
    command = ["fit", "cancer.csv", "-t", "diagnosis", "--max-depth", "1", "-q"]
    works(*command, "--model", "/dev/null", folder=folder, run=inside)
    assert not Path("/dev/null").is_file()
    assert "No space left" in fails(*command, "--model", "/dev/full", folder=folder, run=inside)
    text = works(*command, "--model", "/dev/stdout", folder=folder)
    assert json.loads(text)["table"] == {"target": "diagnosis"}


def test_an_old_model_stays_when_the_new_one_fails(folder):
    (folder / "kept.json").write_text("old")
    command = ["fit", "cancer.csv", "-t", "diagnosis", "--model", "kept.json"]
    assert inside(*command, "--memory-limit", "lots", folder=folder).returncode == 2
    assert "no label 'x'" in fails(*command, "--class-weight", "x=1", folder=folder, run=inside)
    assert (folder / "kept.json").read_text() == "old"
    assert not list(folder.glob(".kept*"))


def test_a_reader_that_goes_away_is_no_error(folder):
    shell = f"{COMMAND} fit cancer.csv -t diagnosis --max-depth 1 | true; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, cwd=folder)
    assert result.returncode in (0, 141)
    assert "Traceback" not in result.stderr


def test_a_picture_needs_a_known_ending(folder):
    command = ["fit", "cancer.csv", "-t", "diagnosis", "--plot", "tree.gif"]
    assert ".svg, .png, .pdf" in fails(*command, folder=folder, run=inside)


def test_demo_shows_a_tree_and_cart(folder):
    out = works("demo", run=inside)
    assert re.search(r"contree +9 +0\.9842", out)
    assert re.search(r"CART +\d+", out)
    assert "fewer than 9 errors" in out


def test_contree_without_a_command_shows_help():
    result = inside()
    assert result.returncode == 2
    assert "Commands:" in result.stderr


def test_tune_shows_the_curve_and_fits_the_choice(folder):
    flags = ["--drop", "cost", "--max-depth", "2", "--cv", "3", "--one-standard-error"]
    files = ["--plot", "curve.svg", "--model", "tuned.json"]
    out = works("tune", "cancer.csv", "-t", "diagnosis", *flags, *files, folder=folder)
    frame = pd.read_csv(folder / "cancer.csv")
    X, y = frame.drop(columns=["diagnosis", "cost"]), frame["diagnosis"]
    search = ConTreeClassifierCV(2, cv=3, one_standard_error=True).fit(X, y)
    for number, candidate in enumerate(search.cv_results_["params"]):
        score = search.cv_results_["mean_test_score"][number]
        marked = "  chosen" * (number == search.best_index_)
        depth, leaves = candidate.values()
        assert re.search(rf"^ +{depth} +{leaves} +{score:.4f} +0\.\d+{marked}$", out, flags=re.M)
    assert search.best_estimator_.export_text() in out
    read = ConTreeClassifier.from_json((folder / "tuned.json").read_text())
    assert read.errors_ == search.best_estimator_.errors_
    assert "<svg" in (folder / "curve.svg").read_text()
    bad = ["tune", "cancer.csv", "-t", "diagnosis", "--scoring", "none"]
    assert "scoring" in fails(*bad, folder=folder, run=inside)


def test_no_file_is_written_over_that_is_read(folder):
    before = (folder / "cancer.csv").read_bytes()
    command = ["fit", "cancer.csv", "-t", "diagnosis", "--max-depth", "1"]
    said = fails(*command, "--model", "./cancer.csv", folder=folder, run=inside)
    assert "used twice" in said
    assert (folder / "cancer.csv").read_bytes() == before
    said = fails(*command, "--html", "same", "--model", "same", folder=folder, run=inside)
    assert "used twice" in said
    assert not (folder / "same").exists()


def test_output_that_cannot_be_written_is_an_error(folder):
    shell = f"{COMMAND} fit cancer.csv -t diagnosis --max-depth 1 > /dev/full"
    result = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, cwd=folder)
    assert result.returncode == 1
    assert re.fullmatch(r"contree: .*No space left on device\n", result.stderr)


def test_path_shows_every_size(folder):
    flags = ["--drop", "cost", "--max-depth", "2", "--plot", "path.svg", "--output", "path.csv"]
    out = works("path", "cancer.csv", "-t", "diagnosis", *flags, folder=folder)
    frame = pd.read_csv(folder / "cancer.csv")
    X, y = frame.drop(columns=["diagnosis", "cost"]), frame["diagnosis"]
    written = pd.read_csv(folder / "path.csv")
    assert list(written["leaves"]) == [1, 2, 3, 4]
    for leaves, errors, bound in written.itertuples(index=False):
        alone = ConTreeClassifier(2, max_leaf_nodes=leaves).fit(X, y)
        assert errors == bound == alone.errors_
        assert re.search(rf"^ +{leaves} +{errors} +optimal$", out, flags=re.M)
    assert "ccp_alpha, from" in out
    assert "<svg" in (folder / "path.svg").read_text()


def test_a_path_that_is_cut_off_says_what_is_proved(folder):
    flags = ["--max-depth", "4", "--max-leaf-nodes", "6", "--time-limit", "0.5", "-o", "cut.csv"]
    out = works("path", "hard.csv", "-t", "y", *flags, folder=folder, run=inside)
    for leaves, bound in pd.read_csv(folder / "cut.csv")[["leaves", "lower_bound"]].to_numpy():
        proved = f"at least {bound:,}" if bound > 0 else "nothing yet"
        assert re.search(rf"^ +{leaves} +[\d,]+ +(optimal|{proved})$", out, flags=re.M)
    assert "time_limit" in out
    assert "at least 0" not in out
