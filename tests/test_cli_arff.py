"""ARFF as it is found: what the header declares, loose rows, and what cannot be read."""

from __future__ import annotations

import json

import pytest

from command_line import fails, inside, works
from contree import ConTreeClassifier

HEAD = "@relation r\n@attribute a numeric\n@attribute c {red, blue}\n@attribute y {no, yes}\n"
ROWS = "1,red,no\n2,red,yes\n3,blue,yes\n4,blue,yes\n"


def fitted(folder, text: str | bytes, *flags: str):
    """Return the estimator of a file that fits without a target, and the notes."""
    content = text if isinstance(text, bytes) else text.encode()
    (folder / "data.arff").write_bytes(content)
    command = ["fit", "data.arff", "--model", "m.json", "--quiet", "--max-depth", "1"]
    result = inside(*command, *flags, folder=folder)
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""
    return ConTreeClassifier.from_json((folder / "m.json").read_text()), result.stderr


def known(clf) -> list[tuple[str, tuple | None]]:
    """Return the features with their categories, None for numbers."""
    names = clf.feature_names_in_.tolist()
    return list(zip(names, clf.categories_ or [None] * len(names), strict=True))


TYPES = {
    "numeric": (["1", "2"], None),
    "REAL": (["1.5", "2e3"], None),
    "integer [1,10]": (["1", "10"], None),
    "INTEGER[0,9]": (["1", "9"], None),
    "real [-1.5, 5]  % a range": (["1", "5"], None),
    "{1, 2, 3}": (["1", "3"], (1, 3)),
    "{0, 1}": (["0", "1"], (0, 1)),
    "{05, 10}": (["05", "10"], ("05", "10")),
    "{red,blue}": (["red", "blue"], ("blue", "red")),
    "{ red , blue , }": (["red", "blue"], ("blue", "red")),
    "{red blue}": (["red", "blue"], ("blue", "red")),
    "{red,\n  blue,\n  green}": (["red", "blue"], ("blue", "red")),
    "{'<50', '>50, or so', 'it\\'s'}": (["'>50, or so'", "'it\\'s'"], (">50, or so", "it's")),
    '{"big one", small}': (['"big one"', "small"], ("big one", "small")),
    "{big one, small}": (["big one", "small"], ("big one", "small")),
    "{%5, '%6'}": (["'%5'", "'%6'"], ("%5", "%6")),
    "{'a}b', c}": (["'a}b'", "c"], ("a}b", "c")),
    "{caf\u00e9, th\u00e9}": (["caf\u00e9", "th\u00e9"], ("caf\u00e9", "th\u00e9")),
    "string": (["some text", "'more'"], ("more", "some text")),
}


@pytest.mark.parametrize("kind", TYPES)
def test_an_attribute_is_what_its_header_says(kind, tmp_path):
    (first, second), expected = TYPES[kind]
    rows = f"{first},no\n{second},yes\n" * 4
    head = f"@RELATION r\n@Attribute\t'the  one'\t{kind}\n@ATTRIBUTE y {{no, yes}}\n"
    clf, notes = fitted(tmp_path, f"{head}@DATA\n{rows}")
    assert known(clf) == [("the  one", expected)]
    assert clf.errors_ == 0
    assert clf.classes_.tolist() == ["no", "yes"]
    assert notes == ""


LOOSE = {
    "comments": "% a\n1,red,no\n\n  % b\n2,red,yes,% c\n3,blue,yes\n4,blue,yes\n%",
    "blanks": " 1 ,  red,no \n2,\tred ,yes\t\n3,blue,yes\n4,blue,yes",
    "tabs for commas": "1\tred\tno\n2 red yes\n3\tblue yes\n4,blue yes\n",
    "commas at the end": "1,red,no,\n2,red,yes,\n3,blue,yes,\n4,blue,yes,\n",
    "quotes": "1,'red',\"no\"\n2,\"red\",'yes'\n'3','blue','yes'\n4,blue,yes\n",
    "carriage returns": "1,red,no\r\n2,red,yes\r\n3,blue,yes\r\n4,blue,yes\r\n",
    "sparse": "{0 1}\n{0 2, 2 yes}\n{0 3,1 blue,2 'yes'}\n{ 0 4, 1 \"blue\", 2 yes }\n",
}


@pytest.mark.parametrize("case", LOOSE)
def test_loose_rows_are_read_as_strict_ones(case, tmp_path):
    strict, _ = fitted(tmp_path, f"{HEAD}@data\n{ROWS}")
    loose, notes = fitted(tmp_path, f"{HEAD}@data\n{LOOSE[case]}")
    assert loose.export_text() == strict.export_text()
    assert known(loose) == known(strict)
    assert notes == ""


def test_missing_values(tmp_path):
    """? is missing unless it is quoted and declared; other texts by --na-values."""
    head = "@relation r\n@attribute c {'?', b}\n@attribute n real\n@attribute y {0, 1}\n@data\n"
    rows = "'?',1,0\n?,-9,1\nb,'?',1\nb,4,1\n"
    clf, notes = fitted(tmp_path, head + rows, "--na-values", "-9")
    assert known(clf) == [("c", ("?", "b")), ("n", None)]
    assert "missing values in 'c (1)', 'n (2)'" in notes
    assert clf.classes_.tolist() == [0, 1]


def test_rows_without_a_label_are_left_out(tmp_path):
    clf, notes = fitted(tmp_path, f"{HEAD}@data\n5,red,?\n{ROWS}6,blue,?\n")
    assert "2 rows without 'y' left out, the first is row 1" in notes
    assert clf.tree_.n_node_samples[0] == 4
    command = ["evaluate", "-m", "m.json", "data.arff", "--json"]
    assert json.loads(works(*command, folder=tmp_path, run=inside))["rows"] == 4


def test_many_declared_classes_are_no_regression(tmp_path):
    values = ",".join(map(str, range(48)))
    rows = "".join(f"{i},{i % 48}\n" for i in range(96))
    head = f"@relation r\n@attribute a real\n@attribute y {{{values}}}\n@data\n"
    clf, _ = fitted(tmp_path, head + rows)
    assert clf.classes_.tolist() == list(range(48))


def test_a_name_for_each_row_is_left_out(tmp_path):
    names = [f"animal{i}" for i in range(30)]
    rows = "".join(f"{name},{i},{'no' if i < 9 else 'yes'}\n" for i, name in enumerate(names))
    head = f"@relation r\n@attribute name {{{','.join(names)}}}\n@attribute a real\n"
    text = f"{head}@attribute y {{no,yes}}\n@data\n{rows}"
    clf, notes = fitted(tmp_path, text)
    assert known(clf) == [("a", None)]
    assert "left out: 'name (30)' looks like an identifier" in notes
    clf, _ = fitted(tmp_path, text, "--categorical", "name")
    assert len(clf.categories_[0]) == 30


def test_values_that_the_header_lacks_are_noted(tmp_path):
    clf, notes = fitted(tmp_path, f"{HEAD}@data\n{ROWS}5,Green,yes\n")
    assert known(clf)[1] == ("c", ("Green", "blue", "red"))
    assert "'c' has values that its header lacks: 'Green'" in notes


def test_weights_of_rows_are_noted(tmp_path):
    rows = ROWS.replace("yes\n", "yes,{2}\n") + "{0 7}, {0.5}\n"
    clf, notes = fitted(tmp_path, f"{HEAD}@data\n{rows}")
    assert "the weights in braces behind 4 rows are not used" in notes
    assert clf.tree_.n_node_samples[0] == 5


def test_comments_may_be_in_any_encoding(tmp_path):
    content = f"% caf\u00e9\n{HEAD}@data\n% caf\u00e9\n{ROWS}".encode("latin-1")
    clf, _ = fitted(tmp_path, content)
    assert clf.tree_.n_node_samples[0] == 4
    (tmp_path / "bad.arff").write_bytes(content + "1,caf\u00e9,no\n".encode("latin-1"))
    said = fails("fit", "bad.arff", folder=tmp_path, run=inside)
    assert "byte 0xe9 in line 12 is not utf-8: add --encoding" in said
    content = f"{HEAD}@data\n{ROWS}".encode("utf-16")
    assert known(fitted(tmp_path, content, "--encoding", "utf-16")[0])[0] == ("a", None)


def test_declared_columns_can_be_overridden(tmp_path):
    head = "@relation r\n@attribute a {1,2,3}\n@attribute n real\n@attribute y {no,yes}\n@data\n"
    rows = "1,1,no\n2,2,yes\n3,1,no\n"
    clf, _ = fitted(tmp_path, head + rows, "--numeric", "a", "--categorical", "n")
    assert known(clf) == [("a", None), ("n", (1, 2))]


def test_a_model_of_arff_predicts_csv_and_back(tmp_path):
    fitted(tmp_path, f"{HEAD}@data\n{ROWS}")
    (tmp_path / "new.csv").write_text("c,a\nblue,3\nred,1\nviolet,1\n")
    command = ["predict", "--model", "m.json"]
    result = inside(*command, "new.csv", folder=tmp_path)
    assert result.stdout.split() == ["prediction", "yes", "no", "no"]
    assert "'c' has values that training did not: 'violet'" in result.stderr
    out = works(*command, "data.arff", "--keep", "c", folder=tmp_path, run=inside)
    assert out.split()[:3] == ["c,prediction", "red,no", "red,yes"]
    fitted(tmp_path, "@attribute a {0,1}\n@attribute y {n,p}\n@data\n0,n\n1,p\n")
    (tmp_path / "new.csv").write_text("a\n1\n0.0\n\n")
    assert works(*command, "new.csv", folder=tmp_path, run=inside).split()[1:] == ["p", "n"]


BAD = {
    "no data": (HEAD, "there is no line @data"),
    "junk": ("junk", "there is no line @data"),
    "no attribute": ("@relation r\n@data\n1,2\n", "no @attribute line"),
    "no rows": (f"{HEAD}@data\n", "no rows"),
    "a date": (
        HEAD.replace("{red, blue}", 'date "yyyy-MM-dd"') + "@data\n1,2024-05-06,no\n2,?,yes\n",
        "the column 'c' holds dates: make numbers of them",
    ),
    "a relation": (
        HEAD.replace("{red, blue}", "relational\n@attribute d real\n@end c") + "@data\n",
        "line 3: the attribute 'c' is relational, a table in each row: make it plain columns",
    ),
    "no type": (HEAD.replace("numeric", ""), "line 2: the attribute 'a' has the type ''"),
    "another type": (HEAD.replace("numeric", "blob"), "has the type 'blob': write numeric"),
    "no name": ("@attribute\n@data\n", "line 1: write @attribute, a name and a type"),
    "an open list": (HEAD.replace("blue}", "blue"), "line 3: the list of values of 'c' has no }"),
    "twice": (HEAD + "@attribute a real\n@data\n", "the column name 'a' occurs more than once"),
    "a short row": (f"{HEAD}@data\n{ROWS}1,red\n", "line 10 has 2 values, the header has 3"),
    "a long row": (f"{HEAD}@data\n1,2,3,4\n", "line 6 has 4 values, the header has 3"),
    "an open quote": (f"{HEAD}@data\n1,'red,no\n", "line 6: a quotation mark is opened"),
    "text for a number": (f"{HEAD}@data\n{ROWS}x,red,no\n", "line 10: 'a' is numeric and has 'x'"),
    "an underscore": (f"{HEAD}@data\n1_0,red,no\n", "'a' is numeric and has '1_0'"),
    "infinity": (f"{HEAD}@data\n{ROWS}inf,red,no\n", "infinite numbers in 'a'"),
    "a wrong position": (f"{HEAD}@data\n{{3 yes}}\n", "line 6: a sparse row has pairs"),
    "no pairs": (f"{HEAD}@data\n{{yes}}\n", "pairs of a position from 0 to 2"),
    "an open row": (f"{HEAD}@data\n{{0 1, 1 red\n", "line 6: a sparse row has pairs"),
    "no label": (f"{HEAD}@data\n1,red,?\n", "'y' has no values at all"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arff_is_told_why(case, tmp_path):
    content, expected = BAD[case]
    (tmp_path / "data.arff").write_text(content)
    said = fails("fit", "data.arff", "--model", "m.json", folder=tmp_path, run=inside)
    assert expected in said
    assert [path.name for path in tmp_path.iterdir()] == ["data.arff"]


def test_a_target_is_needed_elsewhere(tmp_path):
    (tmp_path / "data.csv").write_text("a,y\n1,2\n")
    result = inside("fit", "data.csv", folder=tmp_path)
    assert result.returncode == 2
    assert "--target is missing" in result.stderr
