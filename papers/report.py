"""Findings as one page in Markdown: claims, figures, and folded readings, method and tables."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lambdaplus.evaluation import Table
from lambdaplus.study import versions_in_words
from papers.drawing import write_figures
from papers.paper import Claim, Findings, Paper
from papers.session import Session

PROGRAM = "python -m papers"
ANSWERS = {True: "**yes**", False: "no", None: "open"}


def run_paper(
    paper: Paper, data: Sequence[Path], out: Path, jobs: int = 1, **sizes: Any
) -> dict[str, Findings]:
    """Run a paper's experiments on each data set, and write ``findings.md`` and figures.

    Parameters
    ----------
    paper : Paper
    data : sequence of Path
        Folders in the published layout; the built-in digits if there are none.
    out : Path
        Gets a folder for each set, in which finished fits are kept and figures are drawn.
    jobs : int
    **sizes
        Of the experiment, if they are not the paper's own, or without data its small ones.

    Raises
    ------
    ValueError
        If two data folders have the same name, or a size makes no sense.
    OSError
        If ``out`` has a findings.md of another paper.
    """
    page = out / "findings.md"
    if page.exists() and not page.read_text(encoding="utf-8").startswith(f"# {paper.name}\n"):
        raise OSError(f"{page} is not of {paper.name}: give another folder as --out")
    sources: Sequence[Path | None] = data or [None]
    sessions = [Session(source, out, jobs) for source in sources]
    names = [session.name for session in sessions]
    if len(set(names)) < len(names):
        raise ValueError(f"two data folders have the same name: {', '.join(names)}")
    found = {}
    for session in sessions:
        session.folder = out / session.name
        found[session.name] = paper.run(session, **(sizes if data else {**paper.small, **sizes}))
    command = " ".join([PROGRAM, paper.name, *(names if data else [])])
    out.mkdir(parents=True, exist_ok=True)
    for name, findings in found.items():
        (out / name).mkdir(exist_ok=True)
        write_figures(findings.figures, out / name)
    page.write_text("\n".join(lines(paper, found, command)) + "\n", encoding="utf-8")
    return found


def lines(paper: Paper, found: Mapping[str, Findings], command: str) -> Iterator[str]:
    """The page."""
    yield from (f"# {paper.name}", "", paper.citation, "", claims_section(paper, found), "")
    for name, findings in found.items():
        for figure in findings.figures:
            yield from (f"![{figure} on {name}]({name}/{figure}.svg)", "")
    if (table := claims_table(found, others=True)).rows:
        yield from folded("Other readings", table.to_markdown())
    yield from folded("Method", method(paper, command))
    for name, findings in found.items():
        for title, table in findings.tables.items():
            yield from folded(f"{title} ({name})", table.to_markdown())


def folded(title: str, text: str) -> Iterator[str]:
    yield from (f"<details>\n<summary>{title}</summary>\n", text, "", "</details>", "")


def claims_section(paper: Paper, found: Mapping[str, Findings]) -> str:
    """How many claims hold, and a table with a row for each and a column for each data set."""
    counts = []
    for name, findings in found.items():
        of_paper = [claim for claim, other in by_reading(findings.claims) if not other]
        answers = [claim.holds for claim in of_paper if claim.holds is not None]
        counts.append(f"{sum(answers)} of {len(answers)} on {name}")
    text = _paragraph(f"Claims that hold, of those that are decided: {', '.join(counts)}.")
    table = claims_table(found, others=False)
    return f"## The paper's claims\n\n{text}\n\n{table.to_markdown()}"


def by_reading(claims: Sequence[Claim]) -> Iterator[tuple[Claim, bool]]:
    """Claims, and whether an earlier one says the same by the paper's own reading."""
    said = set()
    for claim in claims:
        yield claim, claim.statement in said
        said.add(claim.statement)


def claims_table(found: Mapping[str, Findings], others: bool) -> Table:
    """Verdicts and evidence by the paper's reading of each claim, or by others."""
    rows = dict[tuple[str, str], dict[str, str]]()
    for name, findings in found.items():
        for claim, other in by_reading(findings.claims):
            if other == others:
                place = ", ".join(filter(None, [claim.place, claim.reading]))
                row = rows.setdefault((claim.statement, place), {})
                row[name] = f"{ANSWERS[claim.holds]}: {claim.evidence}"
    return Table(
        ("claim", "in the paper, as read", *found),
        [(*claim, *(row.get(name, "") for name in found)) for claim, row in rows.items()],
    )


def method(paper: Paper, command: str) -> str:
    text = _paragraph(f"{paper.figures} {paper.protocol}")
    return f"{text}\n\nMeasured by `{command}` ({versions_in_words()})."


def _paragraph(text: str) -> str:
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)
