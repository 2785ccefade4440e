"""Inserts what a benchmark measured: its command, and its tables, folded.

A line ``<!-- results: NAME -->`` becomes the tables of ``benchmarks/results/NAME.json``, which
`benchmarks/tables.py` writes; ``<!-- results: NAME: TITLE -->`` those whose title begins so; and
``<!-- table: NAME: TITLE -->`` shows these, not folded.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from lambdaplus.evaluation import Table

if TYPE_CHECKING:
    from sphinx.application import Sphinx

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
LINE = re.compile(r"^<!-- (results|table): ([\w-]+)(?:: (.*))? -->$", re.MULTILINE)


def fill_in(app: Sphinx, page: str, source: list[str]) -> None:
    source[0] = LINE.sub(results, source[0])


def results(line: re.Match[str]) -> str:
    what, name, title = line.groups()
    kept = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    versions = f" ({kept['versions']})" if "versions" in kept else ""
    parts = [f"Measured by `{kept['command']}`{versions}."] if what == "results" else []
    for table in kept["tables"]:
        if table["title"].startswith(title or ""):
            shown = Table(table["columns"], table["rows"], table["foot"]).to_markdown()
            summary = f"<summary>{table['title']}</summary>"
            folded = f"<details>\n{summary}\n\n{shown}\n\n</details>"
            parts.append(folded if what == "results" else shown)
    return "\n\n".join(parts)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", fill_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
