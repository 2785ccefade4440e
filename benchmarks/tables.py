"""Prints tables of benchmarks, and writes them to benchmarks/results for the documentation."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from lambdaplus.evaluation import Table
from lambdaplus.study import versions_in_words

RESULTS = Path(__file__).parent / "results"


def keep(name: str, command: str, tables: Mapping[str, Table], **numbers: Any) -> None:
    """Print tables, and write them, the command and further numbers to ``results/NAME.json``."""
    console = Console(width=140)
    for title, table in tables.items():
        console.print(f"\n{title}", style="bold", markup=False)
        console.print(table)
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
