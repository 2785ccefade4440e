"""Prints tables of benchmarks, and writes them to benchmarks/results for the documentation.

    python benchmarks/tables.py NAME [TITLE]

shows the tables of ``benchmarks/results/NAME.json``, or those whose title begins so.  A star marks
what is significant after Holm's correction for the number of tests in the table.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console

from lambdaplus.evaluation import Table
from lambdaplus.evaluation.significance import holm
from lambdaplus.study import versions_in_words

RESULTS = Path(__file__).parent / "results"
LEVEL = 0.05
STAR = "*: p < .05, with Holm's correction over the table"


class Tested(NamedTuple):
    """A cell of a table: a difference, the p-value of its test, and what follows its star."""

    text: str
    p: float
    more: str = ""


def starred(table: Table) -> Table:
    """The table with a star at each of its tested cells that is significant."""
    p = [cell.p for row in table.rows for cell in row if isinstance(cell, Tested)]
    if not p:
        return table
    corrected = iter(holm(np.array(p)))
    rows = [
        [
            cell.text + "*" * bool(next(corrected) < LEVEL) + cell.more
            if isinstance(cell, Tested)
            else cell
            for cell in row
        ]
        for row in table.rows
    ]
    return replace(table, rows=rows, foot=[*table.foot, STAR])


def keep(name: str, command: str, tables: Mapping[str, Table], **numbers: Any) -> None:
    """Print tables, and write them, the command and further numbers to ``results/NAME.json``."""
    tables = {title: starred(table) for title, table in tables.items()}
    show(tables)
    kept = {
        "command": command,
        "versions": versions_in_words(),
        "tables": [
            {"title": title, "columns": table.columns, "rows": table.rows, "foot": table.foot}
            for title, table in tables.items()
        ],
        **numbers,
    }
    text = json.dumps(kept, indent=1, default=float)
    # A line for each row: for lists and dictionaries that contain no others.
    text = re.sub(r"[\[{][^\[\]{}]*[\]}]", lambda found: re.sub(r"\n *", " ", found[0]), text)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def show(tables: Mapping[str, Table]) -> None:
    console = Console(width=140)
    for title, table in tables.items():
        console.print(f"\n{title}", style="bold", markup=False)
        console.print(table)


def main() -> None:
    names = sorted(file.stem for file in RESULTS.glob("*.json"))
    name, *begin = sys.argv[1:] or [""]
    if name not in names:
        sys.exit(f"usage: tables.py NAME [TITLE]; NAME is one of {', '.join(names)}")
    kept = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    print(kept["command"])
    show({
        one["title"]: Table(one["columns"], one["rows"], one["foot"])
        for one in kept["tables"]
        if one["title"].startswith(*(begin or [""]))
    })  # fmt: skip


if __name__ == "__main__":
    main()
