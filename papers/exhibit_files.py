"""The tables and plots of findings as files: Markdown and CSV, PNG and SVG."""

from __future__ import annotations

import csv
from pathlib import Path

from lambdaplus.evaluation import Table
from lambdaplus.study.figures import save_plot
from papers.findings import Exhibit, Findings


def write_exhibits(findings: Findings, folder: Path) -> None:
    """Write ``tables/`` and ``plots/`` of a data set into its folder.

    Raises
    ------
    ImportError
        Without matplotlib, if there are plots.
    """
    for section in findings.sections:
        for exhibit in section.exhibits:
            _write(exhibit, folder / findings.data)


def _write(exhibit: Exhibit, folder: Path) -> None:
    if not isinstance(exhibit.content, Table):
        (folder / "plots").mkdir(parents=True, exist_ok=True)
        save_plot(exhibit.content, folder / "plots", exhibit.name)
        return
    tables = folder / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    markdown = exhibit.content.to_markdown()
    (tables / f"{exhibit.name}.md").write_text(markdown + "\n", encoding="utf-8")
    with (tables / f"{exhibit.name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(exhibit.content.columns)
        for row in exhibit.content.cells:
            writer.writerow([repr(c.value) if isinstance(c.value, float) else c.value for c in row])
