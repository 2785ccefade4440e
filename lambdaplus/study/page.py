"""A self-contained HTML page with sortable tables and a filter, which can also be printed.

Examples
--------
>>> import pathlib, tempfile
>>> from lambdaplus.study.page import write_page
>>> with tempfile.TemporaryDirectory() as folder:
...     parts = [("one", "One", ["<p>1</p>"])]
...     path = write_page(pathlib.Path(folder, "a.html"), "A & B", "", parts)
...     "<h1>A &amp; B</h1>" in path.read_text()
True
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path

from lambdaplus.study.markup import section, text

Part = tuple[str, str, Iterable[str]]


def write_page(path: Path, title: str, lead: str, parts: Sequence[Part]) -> Path:
    """Write a page of sections with links to them; a section without content is left out.

    Parameters
    ----------
    path : Path
    title : str
    lead : str
        HTML below the title.
    parts : sequence of (str, str, iterable of str)
        Name, title and HTML of each section.
    """
    made = [(name, heading, section(name, heading, *content)) for name, heading, content in parts]
    template = files("lambdaplus.study").joinpath("report_template.html")
    page = string.Template(template.read_text(encoding="utf-8")).substitute(
        title=text(title),
        lead=lead,
        links="\n".join(
            f'<li><a href="#{name}">{text(heading)}</a></li>'
            for name, heading, content in made
            if content
        ),
        content="\n".join(content for *_, content in made if content),
    )
    path.write_text(page, encoding="utf-8")
    return path
