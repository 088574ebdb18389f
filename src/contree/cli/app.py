"""The group of all commands, and what every one of them has in common: how it ends.

0: fine.  1: something that the user can mend, said in one line.  2: a wrong flag.  130: Ctrl-C.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from typing import Any

import click

from contree.cli.demo import demo
from contree.cli.errors import UserError, note, one_line
from contree.cli.evaluate import evaluate
from contree.cli.fit import fit
from contree.cli.flags import SETTINGS, Commands
from contree.cli.path import path
from contree.cli.predict import predict
from contree.cli.show import show
from contree.cli.tune import tune

INTERRUPTED, BROKEN_PIPE = 130, 141


@click.group(
    cls=Commands,
    context_settings=SETTINGS,
    example="contree fit data.csv --target income --max-depth 4 --model tree.json",
)
@click.version_option(package_name="contree", message="contree %(version)s")
def contree() -> None:
    """Provably optimal decision trees, from a table in a file."""


for command in (fit, tune, path, predict, evaluate, show, demo):
    contree.add_command(command)


def run(arguments: list[str]) -> int:
    """Run a command and return its exit code."""
    warnings.showwarning = _show_warning
    if sys.stdout is None:  # closed by whoever started this process
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 (for as long as the process)
    try:
        signal.signal(
            signal.SIGTERM, signal.default_int_handler
        )  # of `timeout`, batch systems, ...
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="backslashreplace")  # names that the terminal cannot show
        with contree.make_context("contree", arguments) as context:
            code = contree.invoke(context)
        sys.stdout.flush()
        return code or 0
    except click.exceptions.Exit as end:  # of --help and --version
        return end.exit_code
    except click.UsageError as error:
        return _wrong_usage(error)
    except click.ClickException as error:  # one of ours
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        print("contree: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except MemoryError:
        UserError("there is not enough memory for this table").show()
        return 1
    except OSError as error:
        place = f"'{error.filename}'" if error.filename else "the output"
        UserError(f"cannot use {place}: {error.strerror or error}").show()
        return 1


def _wrong_usage(error: click.UsageError) -> int:
    """Say in one line which flag is wrong, and where to read on; show help if nothing is asked."""
    message = one_line(error.format_message()).rstrip(".")
    if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
        error.show()
    else:
        command = error.ctx.command_path if error.ctx else "contree"
        print(
            f"contree: {message[:1].lower()}{message[1:]}. See '{command} --help'.", file=sys.stderr
        )
    return error.exit_code


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    note(str(message))
