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
    if readings := other_readings(found):
        yield from folded("Other readings", readings)
    yield from folded("Method", method(paper, command))
    for name, findings in found.items():
        for title, table in findings.tables.items():
            yield from folded(f"{title} ({name})", table.to_markdown())


def folded(title: str, text: str) -> Iterator[str]:
    yield from (f"<details>\n<summary>{title}</summary>\n", text, "", "</details>", "")


def claims_section(paper: Paper, found: Mapping[str, Findings]) -> str:
    """How many claims hold, and a table with a row for each and a column for each data set."""
    counts, of_paper = list[str](), dict[str, list[Claim]]()
    for name, findings in found.items():
        of_paper[name] = list(by_the_paper(findings.claims).values())
        answers = [claim.holds for claim in of_paper[name] if claim.holds is not None]
        what = " decidable claims hold" if not counts else ""
        counts.append(f"on {name}, {sum(answers)} of {len(answers)}{what}")
    text = _paragraph(f"O{'; '.join(counts)[1:]}.")
    return f"## The paper's claims\n\n{text}\n\n{claims_table(of_paper).to_markdown()}"


def by_the_paper(claims: Sequence[Claim]) -> dict[str, Claim]:
    """The first claim of each statement, which has the paper's own reading."""
    first = dict[str, Claim]()
    for claim in claims:
        first.setdefault(claim.statement, claim)
    return first


def other_readings(found: Mapping[str, Findings]) -> str:
    """A table of the readings that change a verdict, and where others do not."""
    changed = set()
    for findings in found.values():
        of_paper = by_the_paper(findings.claims)
        changed |= {
            (claim.statement, claim.reading)
            for claim in findings.claims
            if claim.holds != of_paper[claim.statement].holds
        }
    rows, same = dict[str, list[Claim]](), dict[str, None]()
    for name, findings in found.items():
        of_paper = by_the_paper(findings.claims)
        for claim in findings.claims:
            if (claim.statement, claim.reading) in changed:
                rows.setdefault(name, []).append(claim)
            elif claim is not of_paper[claim.statement]:
                same[f"{claim.place}, {claim.reading}"] = None
    parts = [claims_table(rows).to_markdown()] if rows else []
    if same:
        parts.append(_paragraph(f"The same verdicts as by the paper's reading: {'; '.join(same)}."))
    return "\n\n".join(parts)


def claims_table(found: Mapping[str, Sequence[Claim]]) -> Table:
    """A row for each claim, and a column of verdicts and evidence for each data set."""
    rows = dict[tuple[str, str], dict[str, str]]()
    for name, claims in found.items():
        for claim in claims:
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
