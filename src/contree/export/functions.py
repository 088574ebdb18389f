"""A tree as a function in Python or C that needs nothing else.

Both are nested ifs.  Compilers limit how deep these may nest, so the subtrees at every sixteenth
level become functions of their own.
"""

from __future__ import annotations

import keyword
import math

import numpy as np
from sklearn.utils.validation import check_is_fitted

from contree._fitted_tree import FittedTree
from contree.export.category_wording import refuse_categories
from contree.export.wording import Wording, wording_of

LEVELS = 16  # Python allows 100 levels of indentation, C99 127 of blocks

# Of C11 and C++; `main` would clash with the program's own.
C_WORDS = """auto bool break case catch char class const continue default delete do double else enum
    extern false float for friend goto if inline int long main namespace new operator private
    protected public register restrict return short signed sizeof static struct switch template
    this throw true try typedef typename union unsigned using virtual void volatile while"""


def to_python(estimator, feature_names=None, class_names=None, name="predict") -> str:
    """Return the source of a Python function that predicts one row as the estimator does.

    Parameters
    ----------
    estimator : ConTreeClassifier or ConTreeRegressor
        A fitted estimator.
    feature_names : sequence of str, default=None
        Names for the comments, as in :func:`contree.export_text`.
    class_names : sequence, default=None
        The value that the function returns for each class, in the order of ``classes_``: strings or
        numbers.  None: the labels themselves.
    name : str, default="predict"
        The name of the function.

    Returns
    -------
    source : str
        Defines ``name(x)``, for a sequence ``x`` of the features' values, without imports.
        Thresholds are exact, and a missing value, None or NaN, goes where ``predict`` sends it.
    """
    check_is_fitted(estimator, "tree_")
    refuse_categories(estimator, "to_python")
    if not _is_name(name) or keyword.iskeyword(name):
        raise ValueError(f"name must be a name that Python allows, in ASCII; got {name!r}.")
    tree, wording = estimator.tree_, wording_of(estimator, feature_names, class_names)

    def write(node: int, depth: int) -> list[str]:
        indent = "    " * depth
        if node in starts and depth > 1:
            return [f"{indent}return _{name}_{node}(x)"]
        if tree.feature[node] < 0:
            result = _python_literal(wording.result(node))
            return [f"{indent}return {result}  # {_counts(wording, node)}"]
        return [
            f"{indent}if {_python_condition(tree, node)}:  # {wording.feature(node)!a}",
            *write(int(tree.children_left[node]), depth + 1),
            f"{indent}else:",
            *write(int(tree.children_right[node]), depth + 1),
        ]

    starts = _starts(tree)
    lines: list[str] = []
    for node in reversed(starts):  # preorder backwards: what is called comes first
        lines += ["", "", f"def {name if node == 0 else f'_{name}_{node}'}(x):"]
        if node == 0:
            what = "value" if wording.table is None else "class"
            lines.append(
                f'    """Return the {what} of a row of {estimator.n_features_in_} numbers."""'
            )
        lines += write(node, 1)
    return "\n".join(lines[2:]) + "\n"


def to_c(estimator, feature_names=None, class_names=None, name="contree_predict") -> str:
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
        where ``predict`` sends it.
    """
    check_is_fitted(estimator, "tree_")
    refuse_categories(estimator, "to_c")
    if not _is_name(name) or name in C_WORDS.split():
        raise ValueError(f"name must be a name that C allows; got {name!r}.")
    tree, wording = estimator.tree_, wording_of(estimator, feature_names, class_names)

    def write(node: int, depth: int) -> list[str]:
        indent = "    " * depth
        if node in starts and depth > 1:
            return [f"{indent}return {name}_{node}(x);"]
        if tree.feature[node] < 0:
            return [f"{indent}return {_c_result(wording, node)};  /* {_counts(wording, node)} */"]
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
    starts = _starts(tree)
    for node in reversed(starts):
        head = f"{kind} {name}" if node == 0 else f"static {kind} {name}_{node}"
        lines += ["", f"{head}(const double *x) {{"]
        if tree.feature[node] < 0:
            lines.append("    (void)x;")
        lines += [*write(node, 1), "}"]
    return "\n".join(lines) + "\n"


def _c_preamble(wording: Wording, name: str) -> list[str]:
    """Return the comment on what the function returns, and the table of classes if it has one."""
    n = len(wording.features)
    if wording.table is None:
        return [f"/* The value of a row of {n} numbers. */"]
    return [
        f"/* The class of a row of {n} numbers, as an index into {name}_classes. */",
        f"const char *const {name}_classes[{len(wording.table)}] = {{",
        *(f"    {_c_string(one)}," for one in wording.table),
        "};",
    ]


def _c_result(wording: Wording, node: int) -> str:
    if wording.table is None:
        return float(wording.result(node)).hex()
    return str(int(wording.tree.value[node, 0].argmax()))


def _starts(tree: FittedTree) -> list[int]:
    """Return the nodes, in preorder, that get a function of their own: the root and deep tests."""
    own = (tree.node_depth % LEVELS == 0) & (tree.feature >= 0)
    own[0] = True
    return np.flatnonzero(own).tolist()


def _is_name(name) -> bool:
    return isinstance(name, str) and name.isidentifier() and name.isascii()


def _python_literal(label) -> str:
    """Return a label as source text that means it without any import."""
    value = label.item() if isinstance(label, np.generic) else label
    plain = type(value) in (str, int, bool, type(None))
    if not plain and not (type(value) is float and math.isfinite(value)):
        raise ValueError(
            f"to_python can return only strings and finite numbers; the class {label!r} "
            "is neither. Give class_names."
        )
    return ascii(value)


def _counts(wording: Wording, node: int) -> str:
    what = wording.loss(node) if wording.table is None else wording.details(node)
    return f"{wording.rows(node)}, {what}"


# Every comparison with NaN is false, in both languages: how a test is put decides where it goes.


def _python_condition(tree: FittedTree, node: int) -> str:
    value, threshold = f"x[{int(tree.feature[node])}]", float(tree.threshold[node])
    if threshold == math.inf:
        return f"{value} is not None and {value} == {value}"
    if tree.missing_go_to_left[node]:
        return f"{value} is None or not {value} > {threshold!r}"
    return f"{value} is not None and {value} <= {threshold!r}"


def _c_condition(tree: FittedTree, node: int) -> str:
    value, threshold = f"x[{int(tree.feature[node])}]", float(tree.threshold[node])
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
