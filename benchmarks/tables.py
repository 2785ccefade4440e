"""What the benchmarks print, and keep as Markdown and JSON in benchmarks/results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from lambdaplus.evaluation import Table

RESULTS = Path(__file__).parent / "results"


class Section(NamedTuple):
    """A titled table: names in the first column, numbers as text in the others."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    @property
    def table(self) -> Table:
        return Table(self.columns, self.rows, [self.note] if self.note else [])

    def markdown(self) -> str:
        return f"## {self.title}\n\n{self.table.to_markdown()}"


def show(sections: Sequence[Section]) -> None:
    console = Console(width=110)
    for section in sections:
        console.print(f"\n{section.title}", style="bold", markup=False)
        console.print(section.table)


def write(results: Path, text: str, numbers: Any) -> None:
    """Write ``results``.md and .json, what the site shows and the numbers behind it."""
    results.parent.mkdir(parents=True, exist_ok=True)
    results.with_suffix(".md").write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    written = json.dumps(numbers, indent=1) + "\n"
    results.with_suffix(".json").write_text(written, encoding="utf-8")
