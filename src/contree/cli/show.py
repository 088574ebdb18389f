"""``contree show``: the tree of a model file, in a form that people or programs read."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from contree.cli.errors import as_user_errors
from contree.cli.flags import Command, Flag, model_flag

if TYPE_CHECKING:
    from contree.cli.model_file import Model

FORMATS = ("text", "dot", "json", "sql", "python", "c", "html", "svg")


@click.command(
    cls=Command,
    short_help="a model as text, picture or code",
    example="contree show --model tree.json --format sql",
)
@model_flag
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    cls=Flag,
    help="how to show it [text]",
)
@click.option("-o", "--output", metavar="PATH", cls=Flag, help="write here [standard output]")
def show(model: str, form: str, output: str | None) -> int:
    """Show the tree of a model file, with what is proved of it, or turn it into code."""
    from contree.cli.model_file import read_model
    from contree.cli.outputs import fill, reserved

    with reserved((model,), output=(output, 0)) as drafts:
        known = read_model(model)
        with as_user_errors():
            content = _content(known, form)
        if drafts:
            fill(drafts["output"], content)
        else:
            sys.stdout.buffer.write(content)
    return 0


def _content(known: Model, form: str) -> bytes:
    clf = known.estimator
    if form == "html":
        from contree.export.page import page

        return page(clf, title=known.target or "Decision tree")
    if form == "svg":
        from contree.cli.errors import needed
        from contree.cli.outputs import picture

        needed("matplotlib", "--format svg")
        return picture(clf.plot(), "tree.svg")
    if form == "text":
        from contree.export.certificate import certificate

        return f"{clf.export_text()}\n{certificate(clf)}\n".encode()
    if form == "json":
        return known.to_json().encode()
    text: str = getattr(clf, f"to_{form}")()
    return (text if text.endswith("\n") else f"{text}\n").encode()
