"""Flags: those of the estimator out of its table of parameters, and those of every reading command.

Help is printed in sections, one line for each flag, so that a command fits a screen.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from contree._parameters import PARAMETERS, Parameter, Range
from contree.cli.errors import UserError
from contree.cli.read import FORMATS
from contree.cli.reading import Reading

SETTINGS = {
    "help_option_names": ["-h", "--help"],
    "max_content_width": 100,
    "token_normalize_func": lambda text: text.replace("_", "-"),  # --max_depth is --max-depth
}

# Where a command must differ: Ctrl-C keeps the tree, and the terminal shows how it goes.
COMMAND_DEFAULTS = {"on_interrupt": "return", "verbose": 1}


SECTIONS = (
    "Options",
    "The tree and its search, as in ConTreeClassifier",
    "Reading the file",
)


class Flag(click.Option):
    """An option that stands in a section of the help."""

    def __init__(self, *names: Any, section: str = SECTIONS[0], **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.section = section


class WithExample(click.Command):
    """A command whose example stands as it is written, in one line."""

    def __init__(self, *names: Any, example: str, **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.example = example

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(f"\nExample: {self.example}\n")


class Commands(WithExample, click.Group):
    """A group of commands."""


class Command(WithExample):
    """A command whose flags stand in sections."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Option):
                section = sections.setdefault(getattr(parameter, "section", SECTIONS[0]), [])
                record = parameter.get_help_record(ctx)
                if record is not None:  # a hidden flag has none
                    section.append(record)
        for title, records in sorted(sections.items(), key=lambda one: SECTIONS.index(one[0])):
            with formatter.section(title):
                formatter.write_dl(records, col_max=42)


if TYPE_CHECKING:
    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # which takes no types before click 8.4


class ParameterType(ParamType):
    """The values of one parameter, read from text by its row of the table."""

    def __init__(self, parameter: Parameter) -> None:
        self.parameter = parameter
        self.name = parameter.name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        if value.lower() == "none" and None in self.parameter.allowed:
            return None
        for allowed in self.parameter.allowed:
            found = _read_as(allowed, value)
            if found is not None:
                return found
        values = self.parameter.values
        for in_python, here in (("dict", "NAME=X"), ("RandomState; ", ""), ("None", "none")):
            values = values.replace(in_python, here)
        self.fail(f"{value!r} is not allowed; allowed: {values}.", param, ctx)


def _read_as(allowed: Any, text: str) -> Any:
    """Return what the text means under one of the things that are allowed, else None."""
    if isinstance(allowed, Range):
        try:
            number = allowed.kind(text)
        except ValueError:
            return None
        return number if number in allowed else None
    if allowed is dict:
        name, equals, after = text.rpartition("=")
        value = _read_as(Range(int), after)
        value = _read_as(Range(float), after) if value is None else value
        return (name, value) if equals and value is not None else None
    return text if allowed is str or allowed == text else None


def estimator_flags(names: tuple[str, ...], **told: str) -> Callable[..., Any]:
    """Give a command one flag for each of these parameters of the estimator.

    `told` has the help by parameter where the command's flag means something else.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for parameter in reversed(PARAMETERS):
            if parameter.name in names and parameter.is_flag:
                meaning = told.get(parameter.name, parameter.meaning)
                function = _estimator_flag(parameter, meaning)(function)
        return function

    return decorate


def _estimator_flag(parameter: Parameter, meaning: str) -> Callable[..., Any]:
    default = COMMAND_DEFAULTS.get(parameter.name, parameter.default)
    if default is None or default is False:
        shown = ""
    else:
        shown = f" [{default:g}]" if isinstance(default, float) else f" [{default}]"
    settings: dict[str, Any] = {"cls": Flag, "section": SECTIONS[1], "help": meaning + shown}
    if bool in parameter.allowed and isinstance(default, bool):
        return click.option(parameter.flag, parameter.name, is_flag=True, **settings)
    words = [one for one in parameter.allowed if isinstance(one, str)]
    if len(words) == len(parameter.allowed):
        metavar = "|".join(words)
    elif dict in parameter.allowed:
        metavar = "|".join(["NAME=X", *words])
    else:
        kinds = [one.kind for one in parameter.allowed if isinstance(one, Range)]
        metavar = "SIZE" if str in parameter.allowed else "N" if kinds == [int] else "X"
        if None in parameter.allowed and default is not None:  # which no flag would mean otherwise
            metavar += "|none"
    return click.option(
        parameter.flag,
        parameter.name,
        type=ParameterType(parameter),
        default=default,
        multiple=dict in parameter.allowed,
        metavar=metavar,
        **settings,
    )


def estimator_parameters(flags: dict[str, Any]) -> dict[str, Any]:
    """Return the estimator's parameters by name out of the values of a command's flags, checked.

    Pairs become a dict; the names of its classes are still text.
    """
    found = {}
    for parameter in PARAMETERS:
        if parameter.name not in flags:
            continue
        value = flags[parameter.name]
        found[parameter.name] = _one_dict(parameter, value) if dict in parameter.allowed else value
    _check_memory_limit(found.get("memory_limit"))
    return found


def _check_memory_limit(given: Any) -> None:
    """Reject a text that is no size, before a file is read."""
    from contree._check_parameters import resolve_memory_limit

    try:
        resolve_memory_limit(given)
    except ValueError as error:
        raise click.UsageError(
            f"--memory-limit: '{given}' is no size: use a number of bytes, or a text such as 2GB, "
            "500MB or 1.5GiB"
        ) from error


def parameters_of(task: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters that an estimator of this task has; reject those for classes."""
    if task == "classification":
        return parameters
    if parameters.get("class_weight") is not None:
        raise UserError("--class-weight is for classes: use --sample-weight in a regression")
    return {name: value for name, value in parameters.items() if name != "class_weight"}


def _one_dict(parameter: Parameter, values: tuple[Any, ...]) -> Any:
    words = [value for value in values if isinstance(value, str)]
    if words:
        if len(values) > 1:
            raise click.UsageError(f"{parameter.flag} {words[0]} stands alone.")
        return words[0]
    return dict(pair for pair in values if pair is not None) or None


def _one_character(_: click.Context, flag: click.Parameter, value: str | None) -> str | None:
    """Return the character that a flag means."""
    value = {"\\t": "\t", "tab": "\t", "space": " "}.get(value or "", value)
    if value is not None and len(value) != 1:
        raise click.BadParameter(f"'{value}' must be one character, or tab.")
    return value


def _encoding(_: click.Context, flag: click.Parameter, value: str | None) -> str | None:
    try:
        "a".encode(value or "utf-8")
    except (LookupError, ValueError) as error:
        raise click.BadParameter(
            f"'{value}' is no encoding of text; try utf-8, latin-1, cp1252 or utf-16."
        ) from error
    return value


READING: tuple[tuple[str, dict[str, Any]], ...] = (
    (
        "--format",
        {
            "type": click.Choice(FORMATS),
            "metavar": "NAME",
            "help": f"{', '.join(FORMATS)} [by the name of the file]",
        },
    ),
    (
        "--delimiter",
        {"metavar": "CHAR", "callback": _one_character, "help": "between the columns [, or tab]"},
    ),
    (
        "--encoding",
        {"metavar": "NAME", "callback": _encoding, "help": "of the text, such as latin-1 [utf-8]"},
    ),
    ("--decimal", {"metavar": "CHAR", "callback": _one_character, "help": "the decimal point [.]"}),
    (
        "--thousands",
        {
            "metavar": "CHAR",
            "callback": _one_character,
            "help": "between thousands, such as , in 1,000",
        },
    ),
    (
        "--na-values",
        {
            "metavar": "TEXT",
            "multiple": True,
            "help": "what means missing [NA, NaN, null, ...]",
        },
    ),
    ("--no-header", {"is_flag": True, "help": "the columns have no names: 1, 2, 3, ..."}),
)


def reading_flags(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the FILE argument and the flags of `Reading` to a command, which gets one `Reading`."""

    @wraps(function)  # with the flags that it has already
    def command(**flags: Any) -> Any:
        names = [flag.removeprefix("--").replace("-", "_") for flag, _ in READING]
        reading = Reading(**{name: flags.pop(name) for name in names})
        return function(**flags, reading=reading)

    for flag, settings in reversed(READING):
        command = click.option(flag, cls=Flag, section=SECTIONS[2], **settings)(command)
    return click.argument("file", metavar="FILE")(command)


def quiet_flag(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option("-q", "--quiet", is_flag=True, cls=Flag, help="print errors only")(function)


def model_flag(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "-m", "--model", metavar="PATH", required=True, cls=Flag, help="a model file"
    )(function)
