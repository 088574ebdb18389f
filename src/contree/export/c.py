"""A tree as a function in C that needs nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from contree._fitted_tree import FittedTree
from contree.export.category_sets import known_side
from contree.export.functions import categorical_tests, columns, counts, is_name, starts
from contree.export.wording import Wording, wording_of

# Of C11 and C++; `main` would clash with the program's own.
C_WORDS = """auto bool break case catch char class const continue default delete do double else enum
    extern false float for friend goto if inline int long main namespace new operator private
    protected public register restrict return short signed sizeof static struct switch template
    this throw true try typedef typename union unsigned using virtual void volatile while"""


def to_c(
    estimator: Any,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[Any] | None = None,
    name: str = "contree_predict",
) -> str:
    """Return the source of a C function that predicts one row as the estimator does.

    Parameters
    ----------
    estimator : ConTreeClassifier or ConTreeRegressor
        A fitted estimator.
    feature_names, class_names
        Names for the comments and the table of classes, as in :func:`contree.export_text`.
    name : str, default="contree_predict"
        The name of the function.

    Returns
    -------
    source : str
        C99.  For a classifier ``int name(const double *x)`` returns the index of the class, and the
        table ``name_classes`` holds the classes' names in UTF-8.  For a regressor
        ``double name(const double *x)`` returns the number.  Thresholds are exact, and NaN goes
        where ``predict`` sends it.  For a feature of categories ``x`` holds the category's code:
        its position in the table ``name_categories_3``, here of feature 3.  ``double
        name_code(int feature, const char *category)`` finds it.  For a category that is not there
        it returns -1, which counts as missing.

    Examples
    --------
    >>> from contree import ConTreeClassifier
    >>> clf = ConTreeClassifier(max_depth=1).fit([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
    >>> print(clf.to_c(feature_names=["dose"]), end="")
    /* The class of a row of 1 number, as an index into contree_predict_classes. */
    const char *const contree_predict_classes[2] = {
        "no",
        "yes",
    };
    <BLANKLINE>
    int contree_predict(const double *x) {
        if (x[0] <= 0x1.8000000000000p+0) {  /* 'dose <= 1.5' */
            return 0;  /* 1 row, counts [1, 0] */
        } else {
            return 1;  /* 2 rows, counts [0, 2] */
        }
    }
    """
    check_is_fitted(estimator, "tree_")
    if not is_name(name) or name in C_WORDS.split():
        raise ValueError(f"name must be a name that C allows; got {name!r}.")
    tree, wording = estimator.tree_, wording_of(estimator, feature_names, class_names)

    def write(node: int, depth: int) -> list[str]:
        indent = "    " * depth
        if node in own and depth > 1:
            return [f"{indent}return {name}_{node}(x);"]
        if tree.feature[node] < 0:
            return [f"{indent}return {_c_result(wording, node)};  /* {counts(wording, node)} */"]
        comment = _c_comment(f"{wording.feature(node)} {wording.relation(node)}")
        return [
            f"{indent}if ({_c_condition(tree, node)}) {{  /* {comment} */",
            *write(int(tree.children_left[node]), depth + 1),
            f"{indent}}} else {{",
            *write(int(tree.children_right[node]), depth + 1),
            f"{indent}}}",
        ]

    lines = _c_preamble(wording, name)
    kind = "double" if wording.table is None else "int"
    own = starts(tree)
    for node in reversed(own):
        head = f"{kind} {name}" if node == 0 else f"static {kind} {name}_{node}"
        lines += ["", f"{head}(const double *x) {{"]
        if tree.feature[node] < 0:
            lines.append("    (void)x;")
        lines += [*write(node, 1), "}"]
    return "\n".join(lines) + "\n"


def _c_preamble(wording: Wording, name: str) -> list[str]:
    """Return the comment on what the function returns, and the tables."""
    row, tables = columns(wording), _c_categories(wording, name)
    if wording.table is None:
        return [f"/* The value of a row of {row}. */", *tables]
    return [
        f"/* The class of a row of {row}, as an index into {name}_classes. */",
        *_c_table(f"{name}_classes", wording.table),
        *tables,
    ]


def _c_table(name: str, texts: list[str]) -> list[str]:
    return [
        f"const char *const {name}[{len(texts)}] = {{",
        *(f"    {_c_string(one)}," for one in texts),
        "};",
    ]


def _c_categories(wording: Wording, name: str) -> list[str]:
    """Return the categories of the features that are tested for them, and what finds a code."""
    tree = wording.tree
    tested = {int(tree.feature[n]): tree.categories_of(n) for n in categorical_tests(tree)}
    if not tested:
        return []
    lines, cases = [], []
    for f, known in sorted(tested.items()):
        table = f"{name}_categories_{f}"
        lines += [
            f"/* Feature {f}, {_c_comment(wording.features[f])}: x[{f}] is a position in this "
            "table. Any other number, such as -1, is a missing or unknown category. */",
            *_c_table(table, [str(one) for one in known]),
        ]
        cases.append(f"    if (feature == {f}) {{ table = {table}; n = {len(known)}; }}")
    return [
        *lines,
        "/* The position of a category, in UTF-8, in the table of a feature; -1 if not there. */",
        f"double {name}_code(int feature, const char *category) {{",
        "    const char *const *table = 0;",
        "    const char *a, *b;",
        "    int n = 0, i;",
        *cases,
        "    for (i = 0; i < n; i++) {",
        "        for (a = table[i], b = category; *a && *a == *b; a++) b++;",
        "        if (*a == *b) return i;",
        "    }",
        "    return -1;",
        "}",
    ]


def _c_result(wording: Wording, node: int) -> str:
    if wording.table is None:
        return float(wording.result(node)).hex()
    return str(int(wording.tree.value[node, 0].argmax()))


# Every comparison with NaN is false: how a test is put decides where it goes.


def _c_condition(tree: FittedTree, node: int) -> str:
    value, threshold = f"x[{int(tree.feature[node])}]", float(tree.threshold[node])
    if tree.tests_categories(node):
        codes, is_left = known_side(tree, node)
        one_of = " || ".join(f"{value} == {code}" for code in codes)
        return one_of if is_left else f"!({one_of})"
    if threshold == math.inf:
        return f"{value} == {value}"
    if tree.missing_go_to_left[node]:
        return f"!({value} > {threshold.hex()})"
    return f"{value} <= {threshold.hex()}"


def _c_comment(text: str) -> str:
    """Return text that cannot end a comment nor continue a line."""
    return ascii(text).replace("*/", "* /").replace("/*", "/ *")


def _c_string(text: str) -> str:
    """Return a C string literal; everything but harmless ASCII as octal escapes of its UTF-8."""
    harmless = (chr(c) for c in range(32, 127) if chr(c) not in '"\\?')
    keep = {ord(c): c for c in harmless}
    utf8 = text.encode("utf-8", errors="backslashreplace")
    return '"' + "".join(keep.get(byte, f"\\{byte:03o}") for byte in utf8) + '"'
