"""Make the links of the Markdown pages, which are written for the repository, work on the site.

A link to a page of the site leads to that page.  A link to another file leads to the repository
on the web; while pyproject.toml names no repository, only its text remains.  A link to a file
that does not exist is a warning, and so an error of the build.

A page that consists of one ``{include}`` shows a file from outside this folder.
"""

from __future__ import annotations

import re
from os.path import relpath
from pathlib import Path

from sphinx.util import logging

logger = logging.getLogger(__name__)

INCLUDE = re.compile(r"```\{include\} (\S+)\n```\s*")
FENCED = re.compile(r"(^```.*?^```)", re.DOTALL | re.MULTILINE)
LABEL = r"\[((?:[^][]|\[[^]]*\])*)\]"
INLINE = re.compile(rf"(!?){LABEL}\((?![a-z]+:|#)([^)\s]+)\)")
DEFINITION = re.compile(r"^\[([^]]+)\]: (?![a-z]+:|#)(\S+)$", re.MULTILINE)


def read(app, docname: str, source: list[str]) -> None:
    """Rewrite the links of one page before Sphinx parses it."""
    page = Path(app.env.doc2path(docname))
    if page.suffix != ".md":
        return
    text, home = source[0], page
    if included := INCLUDE.fullmatch(text):
        home = (page.parent / included[1]).resolve()
        app.env.note_dependency(str(home))
        text = home.read_text()
    links = Links(app, docname, page, home)
    parts = FENCED.split(text)  # code stands at the odd places
    parts[::2] = [links.rewrite(part) for part in parts[::2]]
    source[0] = "".join(parts)


class Links:
    """The links of one page, and where they lead on the site."""

    def __init__(self, app, docname: str, page: Path, home: Path):
        self.app, self.docname = app, docname
        self.page = page  # the file that Sphinx reads
        self.home = home  # the file in which the links were written

    def rewrite(self, text: str) -> str:
        for name, link in DEFINITION.findall(text):
            if self.target(link) is None:
                text = re.sub(rf"{LABEL}\[{re.escape(name)}\]", r"\1", text)
        text = DEFINITION.sub(lambda m: f"[{m[1]}]: {self.target(m[2]) or '#'}", text)
        return INLINE.sub(self._inline, text)

    def _inline(self, match: re.Match) -> str:
        image, label, link = match.groups()
        if image:
            return f"![{label}]({relpath((self.home.parent / link).resolve(), self.page.parent)})"
        target = self.target(link)
        return f"[{label}]({target})" if target else label

    def target(self, link: str) -> str | None:
        """Return what a link of the repository is on the site, None if it leads nowhere."""
        path, hash_, anchor = link.partition("#")
        file = (self.home.parent / path).resolve()
        if not file.exists():
            logger.warning("%s does not exist", link, location=self.docname, type="links")
            return None
        pages = pages_of(self.app)
        if file in pages:
            return relpath(pages[file], self.page.parent) + hash_ + anchor
        if self.app.config.repository is None:
            return None
        kind = "tree" if file.is_dir() else "blob"
        inside = file.relative_to(Path(self.app.srcdir).parent).as_posix()
        return f"{self.app.config.repository}/{kind}/main/{inside}{hash_}{anchor}"


def pages_of(app) -> dict[Path, Path]:
    """Return the Markdown files that the site shows, each with the page that shows it."""
    pages = {}
    for name in app.env.found_docs:
        page = Path(app.env.doc2path(name))
        if page.suffix == ".md":
            pages[page] = page
            if included := INCLUDE.fullmatch(page.read_text()):
                pages[(page.parent / included[1]).resolve()] = page
    return pages


def setup(app) -> dict:
    app.add_config_value("repository", None, "env", types=(str, type(None)))
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
