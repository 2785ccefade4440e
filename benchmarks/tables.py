"""Tables of the benchmarks, for the terminal, Markdown and JSON."""

from __future__ import annotations

from typing import NamedTuple

from rich.console import Console
from rich.table import Table


class Section(NamedTuple):
    """A titled table: names in the first column, numbers as text in the others."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str = ""

    def markdown(self) -> str:
        lines = [f"## {self.title}", ""]
        lines += [f"| {' | '.join(self.columns)} |", "|---" * len(self.columns) + "|"]
        lines += [f"| {' | '.join(row)} |" for row in self.rows]
        return "\n".join([*lines, *(["", self.note] if self.note else [])])


def show(sections: list[Section]) -> None:
    console = Console(width=110)
    for section in sections:
        table = Table(title=section.title)
        for i, column in enumerate(section.columns):
            table.add_column(column, justify="right" if i else "left")
        for row in section.rows:
            table.add_row(*row)
        console.print(table)
        if section.note:
            console.print(section.note)
