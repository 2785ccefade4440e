"""Findings as one page that needs nothing else, with tables and plots as files beside it.

Examples
--------
>>> import pathlib, tempfile
>>> from papers.findings import Claim, Findings
>>> from papers.preset import Preset
>>> from papers.report import write_report
>>> preset = Preset("nobody-1999", "Nobody, 1999.", "nothing", {}, object, lambda *_: found)
>>> found = Findings("mine", ("One run.",), (), (Claim("Table 1", "It is so.", False, "0 of 3."),))
>>> with tempfile.TemporaryDirectory() as folder:
...     page = write_report(preset, [found], pathlib.Path(folder), "python -m papers ...")
...     "not confirmed" in page.read_text()
True
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from lambdaplus.evaluation import Cell, Table
from lambdaplus.study import versions_in_words
from lambdaplus.study.figures import file_name, save_plot
from lambdaplus.study.markup import details, figure_of, paragraphs, table_of, text
from lambdaplus.study.page import Part, write_page
from papers.findings import VERDICTS, Claim, Exhibit, Findings, Section
from papers.preset import Preset


def write_report(preset: Preset, found: Sequence[Findings], folder: Path, command: str) -> Path:
    """Write ``report.html``; tables as Markdown and CSV, plots as PNG and SVG in a folder a set.

    Parameters
    ----------
    preset : Preset
    found : sequence of Findings
        One for each data set.
    folder : path
    command : str
        What made it.

    Returns
    -------
    Path
        Of report.html, which loads nothing.

    Raises
    ------
    ImportError
        Without matplotlib, if there are plots.
    """
    parts: list[Part] = [("claims", "The paper's claims", _claims(found))]
    for one in found:
        named = f"{one.data}: " if len(found) > 1 else ""
        for section in one.sections:
            pieces = list(_section(section, folder / one.data))
            name = file_name(f"{one.data} {section.title}").lower()
            parts.append((name, f"{named}{section.title}", pieces))
    parts.append(("protocol", "Protocol", _protocol(found, command)))
    return write_page(folder / "report.html", preset.name, _lead(preset, found), parts)


def _lead(preset: Preset, found: Sequence[Findings]) -> str:
    counts = Counter(claim.verdict for one in found for claim in one.claims)
    said = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS.values())
    sets = ", ".join(one.data for one in found)
    return (
        f'<p class="lead">{text(preset.paper)}</p>\n'
        f'<p class="lead">Run again on {text(sets)}; of its claims, {text(said)}.</p>'
    )


def by_statement(found: Sequence[Findings]) -> dict[tuple[str, str], list[tuple[str, Claim]]]:
    """For each place and statement, the data sets with what they say to it."""
    joined: dict[tuple[str, str], list[tuple[str, Claim]]] = {}
    for one in found:
        for claim in one.claims:
            joined.setdefault((claim.place, claim.statement), []).append((one.data, claim))
    return joined


def _claims(found: Sequence[Findings]) -> Iterator[str]:
    items = []
    for (place, statement), said in by_statement(found).items():
        evidence = "\n".join(
            f"<p>{badge(claim)} <strong>{text(data)}</strong>: {text(claim.evidence)}</p>"
            for data, claim in said
        )
        items.append(
            f'<li><span class="place">{text(place)}</span> {text(statement)}\n{evidence}</li>'
        )
    yield '<ol class="claims">\n' + "\n".join(items) + "\n</ol>"


def badge(claim: Claim) -> str:
    """The verdict as the page shows it."""
    return f'<span class="verdict" data-holds="{claim.holds}">{text(claim.verdict)}</span>'


def _section(section: Section, folder: Path) -> Iterator[str]:
    yield paragraphs(section.notes)
    for exhibit in section.exhibits:
        yield _exhibit(exhibit, folder)


def _exhibit(exhibit: Exhibit, folder: Path) -> str:
    if isinstance(exhibit.content, Table):
        tables = folder / "tables"
        tables.mkdir(parents=True, exist_ok=True)
        markdown = exhibit.content.to_markdown()
        (tables / f"{exhibit.name}.md").write_text(markdown + "\n", encoding="utf-8")
        _write_csv(exhibit.content, tables / f"{exhibit.name}.csv")
        table = table_of(exhibit.content, exhibit.caption, best=exhibit.best)
        if exhibit.long:
            return details(exhibit.caption, table)
        return f'{table}\n<div class="note">{paragraphs(exhibit.content.foot)}</div>'
    plots = folder / "plots"
    plots.mkdir(parents=True, exist_ok=True)
    inline = save_plot(exhibit.content, plots, exhibit.name)
    # Several data sets in one page: their ids must differ.
    inline = inline.replace(f"{exhibit.name}-", f"{file_name(folder.name)}-{exhibit.name}-")
    return figure_of(inline, exhibit.caption)


def _write_csv(table: Table, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(table.columns)
        for row in table.rows:
            values = [c.value if isinstance(c, Cell) else c for c in row]
            writer.writerow([repr(v) if isinstance(v, float) else v for v in values])


def _protocol(found: Sequence[Findings], command: str) -> Iterator[str]:
    for one in found:
        if len(found) > 1:
            yield f"<h3>{text(one.data)}</h3>"
        yield "<ul>" + "\n".join(f"<li>{text(line)}</li>" for line in one.protocol) + "</ul>"
    yield f"<pre>{text(command)}</pre>\n<p>Versions: {text(versions_in_words())}.</p>"
