"""Findings as one page in Markdown: the claims with their evidence, then the tables, folded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lambdaplus.study import versions_in_words
from papers.paper import Claim, Findings, Paper
from papers.session import Session

PROGRAM = "python -m papers"


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
        Of the experiment, if they are not the paper's own.

    Raises
    ------
    ValueError
        If two data folders have the same name, or a size makes no sense.
    OSError
        If ``out`` has a findings.md that is none of this paper.
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
        found[session.name] = paper.run(session, **sizes)
    command = " ".join([PROGRAM, paper.name, *(names if data else [])])
    out.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(lines(paper, found, command)) + "\n", encoding="utf-8")
    return found


def lines(paper: Paper, found: Mapping[str, Findings], command: str) -> Iterator[str]:
    """The page."""
    yield from (f"# {paper.name}", "", paper.citation, "")
    for name, findings in found.items():
        counts = Counter(claim.verdict for claim in findings.claims)
        yield f"{name}: {', '.join(f'{n} {verdict}' for verdict, n in counts.items())}."
    yield from ("", "## The paper's claims", "")
    statements: dict[tuple[str, str], list[tuple[str, Claim]]] = {}
    for name, findings in found.items():
        for claim in findings.claims:
            statements.setdefault((claim.place, claim.statement), []).append((name, claim))
    for number, ((place, statement), of_sets) in enumerate(statements.items(), start=1):
        yield f"{number}. *{place}.* {statement}"
        same: dict[tuple[str, str], list[str]] = {}
        for name, claim in of_sets:
            same.setdefault((claim.verdict, claim.evidence), []).append(name)
        for (verdict, evidence), sets in same.items():
            yield f"    - **{verdict}**, {', '.join(sets)}: {evidence}"
    yield from ("", "## How", "")
    yield from (f"- {line}" for line in paper.protocol)
    yield from ("", f"Measured by `{command}` ({versions_in_words()}).", "")
    for name, findings in found.items():
        yield from (f"## {name}", "")
        for title, table in findings.tables.items():
            yield f"<details>\n<summary>{title}</summary>\n"
            yield from (table.to_markdown(), "", "</details>", "")
