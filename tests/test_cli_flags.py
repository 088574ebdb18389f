"""Flags and parameters are one table; help is short and quick."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from sklearn.tree import DecisionTreeClassifier

from command_line import inside
from contree import ConTreeClassifier, ConTreeClassifierCV, size_error_path
from contree._parameters import PARAMETERS
from contree.cli.app import contree as group
from contree.cli.flags import COMMAND_DEFAULTS, SETTINGS, estimator_parameters

CART_ONLY = {one.name: one.default for one in PARAMETERS if one.instead}
CHOICE = ("cv", "scoring", "one_standard_error", "random_state")
ROOT = Path(__file__).resolve().parents[1]


def parsed(command: str, *arguments) -> dict:
    """Return the values of a command's flags, without running it."""
    with group.commands[command].make_context(command, list(arguments), **SETTINGS) as context:
        return context.params


def fit_parameters(*arguments) -> dict:
    return estimator_parameters(parsed("fit", "data.csv", "--target", "y", *arguments))


def test_the_table_is_the_estimator():
    defaults = {parameter.name: parameter.default for parameter in PARAMETERS}
    assert defaults == ConTreeClassifier().get_params()
    assert list(ConTreeClassifier._parameter_constraints) == list(defaults)


def test_every_parameter_that_changes_something_is_a_flag_with_its_default():
    flags = {flag for one in group.commands["fit"].params for flag in one.opts}
    assert {one.flag for one in PARAMETERS if one.is_flag} <= flags
    assert not {one.flag for one in PARAMETERS if not one.is_flag} & flags
    given = fit_parameters()
    others = {"categorical_features": "from_dtype", **CART_ONLY}
    assert {**ConTreeClassifier().get_params(), **COMMAND_DEFAULTS} == {**others, **given}
    assert CART_ONLY.keys().isdisjoint(given)
    assert set(COMMAND_DEFAULTS) == {"on_interrupt", "verbose"}
    ConTreeClassifier(**fit_parameters())._validate_params()


def test_what_is_no_flag_is_carts():
    """And with its default there."""
    cart = DecisionTreeClassifier().get_params()
    assert {name: cart[name] for name in CART_ONLY} == CART_ONLY
    assert cart.keys() <= ConTreeClassifier().get_params().keys()


def test_docs_say_what_the_table_says():
    text = (ROOT / "docs" / "options.md").read_text().split("## Arguments of `fit`")[0]
    rows = [
        [cell.strip().replace("`", "") for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("| `")
    ]
    assert [row[0] for row in rows] == [parameter.name for parameter in PARAMETERS]
    for (_, default, values, meaning), parameter in zip(rows, PARAMETERS, strict=True):
        assert default == repr(parameter.default)
        assert values == parameter.values
        assert meaning.startswith(parameter.meaning)


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda one: one.name)
def test_the_default_is_allowed(parameter):
    ConTreeClassifier(**{parameter.name: parameter.default})._validate_params()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--max-depth", "4"], {"max_depth": 4}),
        (["--max_depth", "4"], {"max_depth": 4}),
        (["--max-depth", "none"], {"max_depth": None}),
        (["--max-depth", "None"], {"max_depth": None}),
        (["--time-limit", "none"], {"time_limit": None}),
        (["--memory-limit", "none"], {"memory_limit": None}),
        (["--class-weight", "none"], {"class_weight": None}),
        (["--random-state", "7"], {"random_state": 7}),
        (["--random-state", "none"], {"random_state": None}),
        (["--min-samples-leaf", "5"], {"min_samples_leaf": 5}),
        (["--min-samples-leaf", "0.05"], {"min_samples_leaf": 0.05}),
        (["--max-gap", "0.1"], {"max_gap": 0.1}),
        (["--time-limit", "1.5"], {"time_limit": 1.5}),
        (["--time-limit", "inf"], {"time_limit": float("inf")}),
        (["--n-jobs", "-1"], {"n_jobs": -1}),
        (["--memory-limit", "2GB"], {"memory_limit": "2GB"}),
        (["--memory-limit", "1000"], {"memory_limit": 1000}),
        (["--warm-start"], {"warm_start": True}),
        (["--class-weight", "balanced"], {"class_weight": "balanced"}),
        (
            ["--class-weight", "a=b=2", "--class-weight", "no=0.5"],
            {"class_weight": {"a=b": 2, "no": 0.5}},
        ),
        (["--search-options", "cache=0"], {"search_options": {"cache": 0}}),
        (["--on-interrupt", "raise"], {"on_interrupt": "raise"}),
    ],
)
def test_a_flag_means_what_the_parameter_means(arguments, expected):
    parameters = fit_parameters(*arguments)
    assert {name: parameters[name] for name in expected} == expected
    assert [type(parameters[n]) for n in expected] == [type(v) for v in expected.values()]
    ConTreeClassifier(**parameters)._validate_params()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--max-depth", "2.5"],
        ["--max-depth", "-1"],
        ["--max-depth", "many"],
        ["--max-gap", "none"],
        ["--random-state", "-1"],
        ["--random-state", "4294967296"],
        ["--random-state", "1.5"],
        ["--min-samples-leaf", "0"],
        ["--min-samples-leaf", "1.5"],
        ["--min-weight-fraction-leaf", "0.6"],
        ["--time-limit", "nan"],
        ["--class-weight", "heavy"],
        ["--class-weight", "balanced", "--class-weight", "a=1"],
        ["--n-jobs", "0"],
        ["--n-jobs", "100000"],
        ["--search", "fast"],
        ["--nonsense"],
        ["--delimiter", "::"],
        ["--encoding", "klingon"],
        ["--encoding", "hex"],
        ["--thousands", ""],
        ["--memory-limit", "lots"],
    ],
)
def test_a_wrong_flag_is_an_error_of_usage(arguments):
    with pytest.raises(click.UsageError):
        fit_parameters(*arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--max-depth", "2.5"], "value for '--max-depth': '2.5' is not allowed; allowed: int, 0"),
        (["--random-state", "any"], "allowed: int, 0 to 2**32 - 1; none."),
        (["--n-jobs", "0"], "value for '--n-jobs': '0' is not allowed"),
        (["--holdout", "2"], "--holdout must be a share between 0 and 1, such as 0.2."),
        (["--warm-start"], "Add --model."),
        (["--memory-limit", "lots"], "--memory-limit: 'lots' is no size"),
        (["--delimiter", "::"], "'::' must be one character, or tab."),
        (["--nonsense"], "no such option"),
    ],
)
def test_usage_errors_end_with_2_and_say_one_line(arguments, said):
    result = inside("fit", "data.csv", "--target", "y", *arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert re.fullmatch(r"contree: .*\. See 'contree fit --help'\.\n", result.stderr)
    assert said in result.stderr


@pytest.mark.parametrize("command", [None, *group.commands])
def test_help_fits_a_screen_and_has_an_example(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    target = group if command is None else group.commands[command]
    settings = {"info_name": command or "contree", "max_content_width": 80, "terminal_width": 80}
    with click.Context(target, **settings) as context:
        text = target.get_help(context)
    lines = text.splitlines()
    assert len(lines) <= 50
    assert max(map(len, lines)) <= 80
    assert re.search(r"^Example: contree ", text, flags=re.MULTILINE)


def test_help_imports_nothing_heavy():
    program = (
        "import sys; sys.argv = ['contree', 'fit', '--help']\n"
        "from contree.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'pandas', 'scipy', 'sklearn', 'rich', 'pyarrow', 'matplotlib'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout
    assert out.splitlines()[-1] == "[]"
    assert "--max-depth" in out


def test_python_dash_m_is_the_command():
    result = subprocess.run(
        [sys.executable, "-m", "contree", "--version"], capture_output=True, text=True
    )
    assert re.fullmatch(r"contree \d+\.\d+\.\d+\S*\n", result.stdout)
    assert result.returncode == 0


@pytest.mark.parametrize("library", ["click", "pandas"])
def test_a_library_that_is_not_installed_names_the_extra(library, tmp_path):
    program = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "sys.argv = ['contree', 'fit', 'data.csv', '--target', 'y']\n"
        "from contree.cli import main; main()"
    )
    (tmp_path / "data.csv").write_text("a,y\n1,2\n")
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path
    )
    assert result.returncode == 1
    assert re.fullmatch(r"contree: .*contree\[cli\].*\n", result.stderr)
    assert library in result.stderr


def test_import_contree_is_lazy_and_complete():
    program = (
        "import sys, contree\n"
        "assert 'sklearn' not in sys.modules\n"
        "assert set(contree.__all__) <= set(dir(contree))\n"
        "for name in contree.__all__: getattr(contree, name)\n"
        "from contree import ConTreeClassifier, export\n"
        "try: contree.nonsense\n"
        "except AttributeError as error: print(error)\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.stdout == "module 'contree' has no attribute 'nonsense'\n"
    assert result.stderr == ""


def test_every_parameter_of_the_cross_validation_is_a_flag_of_tune():
    flags = {one.name: one for one in group.commands["tune"].params}
    parameters = ConTreeClassifierCV().get_params()
    assert set(parameters) - {"categorical_features"} <= set(flags)
    found = parsed("tune", "data.csv", "--target", "y")
    given = {**estimator_parameters(found), **{n: found[n] for n in CHOICE}}
    others = {"categorical_features": "from_dtype"}
    assert {**others, **given} == {**parameters, "verbose": COMMAND_DEFAULTS["verbose"]}


def test_every_argument_of_size_error_path_is_a_flag_of_path():
    arguments = dict(inspect.signature(size_error_path).parameters)
    flags = {one.name for one in group.commands["path"].params}
    assert set(arguments) - {"X", "y", "categorical_features"} <= flags
    found = estimator_parameters(parsed("path", "data.csv", "--target", "y"))
    expected = {name: arguments[name].default for name in found}
    assert found == {**expected, **COMMAND_DEFAULTS}
