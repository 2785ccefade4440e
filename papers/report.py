"""Findings as one page in Markdown: a table of the claims, the method, and folded tables."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lambdaplus.evaluation import Table
from lambdaplus.study import versions_in_words
from papers.paper import Findings, Paper
from papers.session import Session

PROGRAM = "python -m papers"
ANSWERS = {True: "**yes**", False: "no", None: "not tested"}


def run_paper(
    paper: Paper, data: Sequence[Path], out: Path, jobs: int = 1, **sizes: Any
) -> dict[str, Findings]:
    """Run a paper's experiments on each data set, and write ``findings.md``.

    Parameters
    ----------
    paper : Paper
    data : sequence of Path
        Folders in the published layout; the built-in digits if there are none.
    out : Path
        Gets a folder for each set, in which finished fits are kept.
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
    page.write_text("\n".join(lines(paper, found, command)) + "\n", encoding="utf-8")
    return found


def lines(paper: Paper, found: Mapping[str, Findings], command: str) -> Iterator[str]:
    """The page."""
    yield from (f"# {paper.name}", "", paper.citation, "")
    yield from (claims_section(paper, found), "", method_section(paper, command), "")
    for name, findings in found.items():
        for title, table in findings.tables.items():
            yield f"<details>\n<summary>{title} ({name})</summary>\n"
            yield from (table.to_markdown(), "", "</details>", "")


def claims_section(paper: Paper, found: Mapping[str, Findings]) -> str:
    """How many claims hold, and a table with a row for each and a column for each data set."""
    counts, rows = [], dict[tuple[str, str], dict[str, str]]()
    for name, findings in found.items():
        answers = [claim.holds for claim in findings.claims if claim.holds is not None]
        counts.append(f"{sum(answers)} of {len(answers)} on {name}")
        for claim in findings.claims:
            place = ", ".join(filter(None, [claim.place, claim.reading]))
            row = rows.setdefault((claim.statement, place), {})
            row[name] = f"{ANSWERS[claim.holds]}: {claim.evidence}"
    table = Table(
        ("claim", "in the paper, as read", *found),
        [(*claim, *(row.get(name, "") for name in found)) for claim, row in rows.items()],
    )
    holding = f"Claims that hold, of those that can be tested: {', '.join(counts)}."
    text = _paragraph(f"{holding} {paper.figures}")
    return f"## The paper's claims\n\n{text}\n\n{table.to_markdown()}"


def method_section(paper: Paper, command: str) -> str:
    measured = f"Measured by `{command}` ({versions_in_words()})."
    return f"## Method\n\n{_paragraph(paper.protocol)}\n\n{measured}"


def _paragraph(text: str) -> str:
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)
