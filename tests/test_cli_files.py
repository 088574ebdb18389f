"""Files of every kind that ``contree fit`` reads, and those that it cannot: each is told why."""

from __future__ import annotations

import gzip
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

from command_line import COMMAND, contree, fails, inside, works
from contree import ConTreeClassifier
from scale import IS_LONG

BAD = {
    "empty": (b"", "is empty"),
    "blank lines": (b"\n\n\n", "is empty"),
    "only a header": (b"a,b,y\n", "no rows"),
    "a short row": (b"a,b,y\n1,2,x\n3,4\n5,6,z\n", "line 3 has 2 fields, the first line has 3"),
    "a long row": (b"a,b,y\n1,2,x\n3,4,z,9\n", "line 3 has 4 fields"),
    "a long first row": (b"a,b,y\n1,2,x,7\n3,4,z\n", "line 2 has 4 fields"),
    "an open quote": (b'a,b,y\n1,"2,x\n3,4,z\n', "line 3 has 2 fields"),
    "Latin-1": (b"a,y\n1,caf\xe9\n2,x\n", "byte 0xe9 in line 2 is not utf-8: add --encoding"),
    "UTF-16": ("a,y\n1,x\n".encode("utf-16"), "--encoding utf-16"),
    "semicolons": (b"a;b;y\n1;2;x\n", "--delimiter ';'"),
    "the target is near": (b"a,Y \n1,x\n2,z\n", "did you mean 'Y'?"),
    "the target is not there": (b"a,b,c\n1,2,3\n", "no column 'y'; the columns are 'a', 'b', 'c'"),
    "many columns": (b"x," * 3 + b",".join(b"c%d" % i for i in range(5000)), "occurs more"),
    "names twice": (b"a,b,a,y\n1,2,3,x\n", "'a' occurs more than once"),
    "thousands": (b'a,y\n"1,000",x\n"2,500",z\n7,x\n', "'1,000': add --thousands ,"),
    "decimal commas": (b'a,y\n"1,5",x\n"2,25",z\n', "add --decimal ,"),
    "continental": (b'a,y\n"1.000,5",x\n"2.500",z\n', "--thousands . --decimal ,"),
    "a question mark": (b"a,y\n?,x\n3,z\n4,x\n5,x\n", "add --na-values '?'"),
    "text that is a name": (b"c,y\n1a,x\n2b,z\n3c,x\n", "'c (3)' looks like an identifier"),
    "dates": (b"when,y\n2024-01-05,x\n2024-01-06,z\n", "dates: make numbers of them"),
    "infinite": (b"a,y\n1,x\ninf,z\n", "infinite numbers in 'a'"),
    "no label at all": (b"a,y\n1,\n2,\n3,\n", "'y' has no values at all"),
    "one column": (b"y\nx\nx\nz\n", "no column left to learn from"),
    "identifiers": (
        b"a,y\n" + b"".join(b"%d,u%d\n" % (i, i) for i in range(60)),
        "60 different values in 60 rows",
    ),
    "a workbook": (b"PK\x03\x04\x14\x00", "Excel workbook: save it as CSV"),
    "Parquet by another name": (b"PAR1....PAR1", "--format parquet"),
    "a torn archive": (gzip.compress(b"a,y\n" + b"1,x\n" * 10_000)[:30], "damaged"),
}


# These run as users run them, the others in this process, which takes less time.
END_TO_END = {"empty", "Latin-1", "thousands"}  # in a process of its own; the others in this one


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_told_why(case, tmp_path):
    content, expected = BAD[case]
    (tmp_path / "data.csv").write_bytes(content)
    command = ["fit", "data.csv", "--target", "y", "--model", "m.json"]
    said = fails(*command, folder=tmp_path, run=contree if case in END_TO_END else inside)
    assert expected in said
    assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--drop", "b"], "--drop: there is no column 'b'"),
        (["--drop", "y"], "'y' is the target"),
        (["--sample-weight", "w"], "--sample-weight: there is no column 'w'"),
        (["--search-options", "fast=1"], "search_options has no option 'fast'"),
        (["--initial-tree", "none.json"], "cannot read the model 'none.json'"),
        (["--categorical", "b"], "--categorical: there is no column 'b'"),
        (["--numeric", "b"], "--numeric: there is no column 'b'"),
        (["--numeric", "a", "--categorical", "a"], "'a' is in --categorical and in --numeric"),
    ],
)
def test_a_flag_that_does_not_fit_the_file_is_told_why(flags, said, tmp_path):
    (tmp_path / "data.csv").write_text("a,y\n1,x\n2,x\n3,z\n")
    assert said in fails("fit", "data.csv", "-t", "y", *flags, folder=tmp_path, run=inside)


def test_no_such_file_and_no_such_format(tmp_path):
    for name, said in (("none.csv", "No such file"), ("a.parquet", "Parquet"), ("a.arff", "ARFF")):
        if said != "No such file":
            (tmp_path / name).write_bytes(b"junk")
        assert said in fails("fit", name, "--target", "y", folder=tmp_path, run=inside)


GOOD = {
    "a byte order mark": (b"\xef\xbb\xbfa,y\n1,x\n2,x\n3,z\n", [], "|--- a <= 2.5"),
    "carriage returns": (b"a,y\r\n1,x\r\n2,x\r\n3,z\r\n", [], "class: z "),
    "quoted line breaks": (b'"a\nb",y\n1,"x\nq"\n2,"x\nq"\n3,z\n', [], "|--- a\\nb <= 2.5"),
    "Latin-1": (b"a,y\n1,\xe9\n2,\xe9\n3,z\n", ["--encoding", "latin-1"], "class: é "),
    "thousands": (b'a,y\n"1,000",x\n"2,000",z\n9,x\n', ["--thousands", ","], "a <= 1500"),
    "continental": (
        b"a;y\n1.000,5;x\n9,5;x\n2.000,5;z\n",
        ["--delimiter", ";", "--thousands", ".", "--decimal", ","],
        "a <= 1500",
    ),
    "missing": (b"a,y\n?,x\n3,z\n4,x\n5,x\n", ["--na-values", "?"], "or missing"),
    "no names": (b"1,x\n2,x\n3,z\n", ["--no-header", "--target", "2"], "|--- 1 <= 2.5"),
    "text dropped": (b"id,a,y\nu,1,x\nv,2,x\nw,3,z\n", ["--drop", "id"], "a <= 2.5"),
    "text": (b"c,y\nred,x\nblue,z\nred,x\n", [], "|--- c in {red}"),
    "digits by choice": (b"c,y\n1,x\n7,z\n3,x\n7,z\n", ["--categorical", "c"], "c in {7}"),
    "a name by choice": (b"c,y\na,x\nb,z\nc,x\n", ["--categorical", "c"], "c in {"),
    "a label is missing": (b"a,y\n1,x\n2,\n3,z\n", [], "2 rows, 1 feature"),
    "leading zeros": (b"a,y\n1,01\n2,01\n3,02\n", [], "class: 01 "),
    "neighbouring floats": (
        b"a,y\n0.1000000000000000055,x\n0.10000000000000002,z\n0.1,x\n",
        [],
        "0 errors",
    ),
}


@pytest.mark.parametrize("case", GOOD)
def test_a_good_file_gives_a_tree(case, tmp_path):
    content, flags, expected = GOOD[case]
    (tmp_path / "data.csv").write_bytes(content)
    target = [] if "--target" in flags else ["--target", "y"]
    out = works("fit", "data.csv", *target, *flags, folder=tmp_path, run=inside)
    assert expected in out
    assert "(optimal)" in out


def test_every_format_gives_the_same_tree(tmp_path):
    rng = np.random.default_rng(7)
    frame = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b c", "d"])
    frame.iloc[3, 1] = np.nan
    frame["y"] = np.where(frame["a"] + frame["d"] > 0.2, "yes", "no")
    frame.to_csv(tmp_path / "data.csv", index=False)
    frame.to_csv(tmp_path / "data.tsv.gz", index=False, sep="\t")
    frame.to_parquet(tmp_path / "data.parquet")
    rows = "\n".join(
        ",".join(map(str, row)) for row in frame.astype(object).fillna("?").itertuples(index=False)
    )
    (tmp_path / "data.arff").write_text(
        "@relation r\n@attribute a numeric\n@attribute 'b c' numeric\n@attribute d real\n"
        f"@attribute y {{no, yes}}\n@data\n{rows}\n"
    )
    flags = ["--target", "y", "--max-depth", "2"]
    trees = [
        works("fit", name, *flags, folder=tmp_path, run=inside).split("Proved")[0]
        for name in ("data.csv", "data.tsv.gz", "data.parquet", "data.arff")
    ]
    content = (tmp_path / "data.tsv.gz").read_bytes()
    trees.append(works("fit", "-", *flags, "--format", "tsv", stdin=content).split("Proved")[0])
    assert len(set(trees)) == 1
    assert "80 rows, 3 features" in trees[0]


def test_columns_may_be_declared_either_way(tmp_path):
    """Text is categories, digits are numbers; --categorical and --numeric override."""
    rows = "".join(f"{i % 5},{i % 3},{'ab'[i % 3 == 1]}\n" for i in range(30))
    (tmp_path / "data.csv").write_text("a,c,y\n" + rows)
    fit = ["fit", "data.csv", "--target", "y", "--max-depth", "1"]
    here = {"folder": tmp_path, "run": inside}
    assert "10 errors" in works(*fit, **here)  # no threshold parts 1 from 0 and 2
    assert "|--- c in {1}" in works(*fit, "--categorical", "a,c", **here)
    result = inside(*fit, "--one-hot", "c", folder=tmp_path)
    assert "|--- c in {1}" in result.stdout
    assert "--one-hot means --categorical now" in result.stderr
    said = fails("fit", "data.csv", "-t", "c", "--numeric", "y", **here)
    assert "the column 'y' holds text: leave the column out of --numeric" in said


def test_dates_are_told_from_text(tmp_path):
    days = pd.date_range("2024-01-01", periods=60)
    frame = pd.DataFrame({"when": days, "day": days.date, "c": ["red", "blue"] * 30})
    frame["y"] = [0, 1] * 30
    frame.to_parquet(tmp_path / "data.parquet")
    fit = ["fit", "data.parquet", "--target", "y"]
    said = fails(*fit, folder=tmp_path, run=inside)
    assert "the columns 'when', 'day' hold dates: make numbers of them" in said
    assert "--drop when,day" in said
    assert "c in {" in works(*fit, "--drop", "when,day", folder=tmp_path, run=inside)


def test_many_categories_are_noted(tmp_path):
    rows = "".join(f"c{i % 40},{i % 2}\n" for i in range(200))
    (tmp_path / "data.csv").write_text("c,y\n" + rows)
    result = inside("fit", "data.csv", "-t", "y", "--max-depth", "1", folder=tmp_path)
    assert "many categories in 'c (40)'" in result.stderr
    assert "0 errors" in result.stdout


def test_categories_of_parquet_are_categories(tmp_path):
    frame = pd.DataFrame({"c": pd.Categorical(["1", "5", "3", "5"] * 5), "y": [0, 1, 0, 1] * 5})
    frame.to_parquet(tmp_path / "data.parquet")
    flags = ["--target", "y", "--model", "m.json", "--quiet"]
    works("fit", "data.parquet", *flags, folder=tmp_path, run=inside)
    clf = ConTreeClassifier.from_json((tmp_path / "m.json").read_text())
    assert clf.categories_ == ((1, 3, 5),)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_a_pipe_is_a_file_too():
    script = f"{COMMAND} fit <(printf 'a,y\\n1,x\\n2,x\\n3,z\\n') --target y"
    out = subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout
    assert "a <= 2.5" in out


def test_missing_values_are_named_and_used(tmp_path):
    (tmp_path / "data.csv").write_text("a,b,y\n,1,x\n,2,x\n3,1,z\n4,2,z\n")
    result = inside("fit", "data.csv", "--target", "y", folder=tmp_path)
    assert "missing values in 'a (2)'" in result.stderr
    assert "--drop" in result.stderr
    assert "0 errors" in result.stdout


def test_an_unnamed_column_is_noted(tmp_path):
    (tmp_path / "data.csv").write_text(",a,y\n0,1,x\n1,2,x\n2,3,z\n")
    result = inside("fit", "data.csv", "--target", "y", folder=tmp_path)
    assert "--drop 'column 1'" in result.stderr
    assert result.returncode == 0


def test_integers_that_float64_cannot_tell_apart_are_noted(tmp_path):
    (tmp_path / "data.csv").write_text(f"a,y\n{2**53},x\n{2**53 + 1},z\n{2**53},x\n")
    result = contree("fit", "data.csv", "--target", "y", folder=tmp_path)
    assert "'a' has integers beyond 2**53" in result.stderr
    assert result.returncode == 0


def test_very_many_columns(tmp_path):
    rng = np.random.default_rng(0)
    count = 100_000 if IS_LONG else 20_000
    values = rng.integers(0, 50, size=(6, count))
    with open(tmp_path / "wide.csv", "w") as file:
        file.write(",".join(f"c{i}" for i in range(count)) + ",y\n")
        for row in values:
            file.write(",".join(map(str, row)) + f",{'p' if row[777] > 25 else 'n'}\n")
    flags = ["--target", "y", "--max-depth", "1", "--model", "m.json"]
    out = works("fit", "wide.csv", *flags, folder=tmp_path)
    assert f"{count:,} features" in out
    assert "contree                  0" in out
    clf = ConTreeClassifier.from_json((tmp_path / "m.json").read_text())
    table = pd.DataFrame(values, columns=[f"c{i}" for i in range(count)])
    predicted = clf.predict(table[clf.feature_names_in_])
    assert predicted.tolist() == ["p" if row[777] > 25 else "n" for row in values]


def test_very_many_rows(tmp_path):
    rng = np.random.default_rng(0)
    count = 1_000_000 if IS_LONG else 200_000
    a, b = rng.integers(0, 1000, size=(2, count))
    y = (a > 400) & (b > 300) ^ (rng.random(len(a)) < 0.01)
    pd.DataFrame({"a": a, "b": b, "y": y.astype(int)}).to_csv(tmp_path / "m.csv", index=False)
    flags = ["--target", "y", "--max-depth", "2", "--quiet"]
    assert works("fit", "m.csv", *flags, "--model", "m.json", folder=tmp_path) == ""
    predict = ["predict", "--model", "m.json", "m.csv"]
    lines = works(*predict, folder=tmp_path, run=inside).split()
    assert len(lines) == count + 1
    wrong = np.count_nonzero(np.array(lines[1:]) != np.where((a > 400) & (b > 300), "1", "0"))
    assert wrong == 0
