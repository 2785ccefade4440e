"""Inserts the results of a benchmark, with headings below that of the page.

A line ``<!-- results: NAME -->`` becomes ``benchmarks/results/NAME.md`` without its title.  In it,
``<!-- chart: NAME: TEXT -->`` becomes the figure of docs/figures, in its light and dark variant.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
LINE = re.compile(r"^<!-- results: (\S+) -->$", re.MULTILINE)

CHART = re.compile(r"^<!-- chart: (\S+): (.*) -->$", re.MULTILINE)
VARIANT = """```{{image}} /figures/out/{name}-{variant}.svg
:class: only-{variant}
:alt: {text}
```"""


def fill_in(app: Sphinx, page: str, source: list[str]) -> None:
    source[0] = LINE.sub(results, source[0])


def results(line: re.Match[str]) -> str:
    file = RESULTS / f"{line[1]}.md"
    if not file.exists():
        return "Not measured for this version yet."
    above = re.findall("^#+(?= )", line.string[: line.start()], re.MULTILINE)[-1]
    without_title = re.sub(r"\A# .*\n", "", file.read_text())
    return CHART.sub(chart, re.sub("^#(?=#)", above, without_title, flags=re.MULTILINE))


def chart(line: re.Match[str]) -> str:
    return "\n".join(
        VARIANT.format(name=line[1], text=line[2], variant=variant) for variant in ("light", "dark")
    )


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", fill_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
