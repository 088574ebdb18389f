"""Whatever bytes a file has: a tree, or one line that says what is wrong."""

from __future__ import annotations

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from command_line import inside
from scale import scaled

BUDGET = settings(
    max_examples=scaled(200),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

ODD = "0|1|-1.5|1e999|inf|nan|NA|0x10|1_0|01|1,000|2024-01-05|9007199254740993|1.0|True|\u0663|?|"
NUMBERS = st.integers(-9, 9).map(str) | st.floats(width=16).map(str) | st.just("?") | st.just("")
TEXTS = st.sampled_from(
    ["red", "blue", "'a b'", '"c, d"', "'it\\'s'", '"say ""so"""', "?", "", "7"]
)
LABELS = st.sampled_from(["p", "q", "p", "q", "1", "0"])
ODD_VALUES = st.sampled_from([*ODD.split("|"), "9" * 400]) | st.text(max_size=5)
QUOTED = st.builds("{0}{1}{2}".format, st.sampled_from("'\" "), ODD_VALUES, st.sampled_from("'\" "))
ENDS = st.sampled_from(["\n", "\r\n", "\r", "\x00", "\x85"])
BY = st.sampled_from([",", ", ", ";", "\t", " "])


def rows(*more):
    """Return text in rows of three values, some of which are not as they should be."""
    good = st.builds("{0},{1},{2}\n".format, NUMBERS, TEXTS, LABELS)
    values = st.lists(st.one_of(ODD_VALUES, QUOTED, *more), max_size=4)
    one_odd = st.builds("{0},{1},{2}\n".format, ODD_VALUES | QUOTED, TEXTS, ODD_VALUES)
    bad = st.builds(lambda values, by, end: by.join(values) + end, values, BY, ENDS)
    lists = [
        st.lists(one, max_size=12) for one in (good, good, good | one_odd, good | one_odd | bad)
    ]
    return st.one_of(lists).map("".join)


HEADS = ["a,b,y\n"] * 6 + ['a,"b\n",y\n', ",,y\n", "a;b;y\n", "a,a,y\n", "", "\ufeffa,b,y\r\n"]
CSV = st.builds("{0}{1}".format, st.sampled_from(HEADS), rows())

KINDS = [
    "numeric",
    "REAL",
    "integer [1,10]",
    "string",
    "date",
    "relational",
    "{a,b}",
    "{0, 1}",
    "{}",
]
BAD_KINDS = ["{'a b', \"c\"", "{a}b}", "{?}", "{'}', b} % c", "", "blob", "{\n%x\n}"]
ATTRIBUTE = st.builds("@attribute {0} {1}\n".format, QUOTED, st.sampled_from(KINDS + BAD_KINDS))
THREE = ["@attribute a real\n@attribute 'b c' {red,blue}\n@attribute y string\n"] * 5
HEADERS = st.sampled_from(THREE) | st.lists(ATTRIBUTE, max_size=3).map("".join)
SPARSE = [
    "{0 1, 1 red, 2 p}",
    "{1 blue}",
    "{}",
    "{0 1",
    "1 red}",
    "{1}",
    "% c",
    "\\",
    "'a\\'",
    "{9 9}",
]
ARFF = st.builds("{0}@data\n{1}".format, HEADERS, rows(st.sampled_from(SPARSE)))


def content_of(text):
    """Return bytes: mostly text, or text in another encoding or cut anywhere, or anything."""
    plain = text.map(lambda one: one.encode("utf-8", "surrogatepass"))
    encodings = st.sampled_from(["utf-16", "utf-32", "latin-1"])
    encoded = st.builds(lambda one, name: one.encode(name, "replace"), text, encodings)
    cut = st.builds(lambda one, at: one[: len(one) * at // 100], plain, st.integers(1, 99))
    others = [encoded, cut, st.binary(max_size=60)]
    return st.integers(0, 15).flatmap(lambda number: dict(enumerate(others)).get(number, plain))


def ends_well(folder, *command: str) -> bool:
    """Run a command; tell whether it did its work.  If not, it must say why in one line."""
    result = inside(*command, folder=folder)
    said = [line for line in result.stderr.splitlines() if not line.startswith("contree: note:")]
    if result.returncode == 0:
        assert said == []
        return True
    assert result.returncode == 1, result.stderr
    assert result.stdout == ""
    assert len(said) == 1, said
    assert said[0].startswith("contree: ")
    return False


def fit(folder, name: str, content: bytes, *flags: str) -> None:
    """Fit a file; with the model, do all else that reads the file."""
    (folder / name).write_bytes(content)
    (folder / "m.json").unlink(missing_ok=True)
    fitted = ends_well(folder, "fit", name, "--max-depth", "1", "--model", "m.json", *flags)
    assert (folder / "m.json").exists() == fitted
    if fitted:
        assert ends_well(folder, "show", "--model", "m.json")
        ends_well(folder, "predict", "--model", "m.json", name)  # rows without a label may be bad
        assert ends_well(folder, "evaluate", "--model", "m.json", name)


@example(content=b"a,b,y\n, , \n")  # a warning of scikit-learn
@example(content=b"a,b,y\n,,\xc2\x85")  # a line break in a note
@example(content=b"a,b,y\n,,\x00")  # a label that NumPy shortens
@example(content=b"a,b,y\n0,red,p\n,red,p\n1e999,red,\n")  # infinity without a label
@BUDGET
@given(content=content_of(CSV))
def test_any_csv_is_fitted_or_told_why(content, tmp_path):
    fit(tmp_path, "data.csv", content, "--target", "y")


@example(content=b'@attribute a real\n@attribute y {p}\n@data\n"",p\n')  # a number "" in quotes
@BUDGET
@given(content=content_of(ARFF))
def test_any_arff_is_fitted_or_told_why(content, tmp_path):
    fit(tmp_path, "data.arff", content)
