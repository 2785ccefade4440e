"""Links to notebooks in Markdown, which lie beside the results and are no pages, are downloads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LINK = re.compile(r"\]\(((?:\.\./)+benchmarks/results/\w+\.md)[^)]*\)")


def as_downloads(app: Sphinx, page: str, source: list[str]) -> None:
    source[0] = LINK.sub(r"](<path:\1>)", source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", as_downloads)
    return {"parallel_read_safe": True}
