"""Findings as Markdown: claims point by point, then the tables.

Examples
--------
>>> from papers.findings import Claim, Findings
>>> from papers.markdown import markdown_of
>>> from papers.preset import Preset
>>> preset = Preset("nobody-1999", "Nobody, 1999.", "nothing", {}, object, lambda *_: found)
>>> found = Findings("mine", (), (), (Claim("Table 1", "It is so.", False, "0 of 3."),))
>>> print(markdown_of(preset, [found], "python -m papers ...").split("## ")[1])
The paper's claims
<BLANKLINE>
1. *Table 1.* It is so.
    - **not confirmed**, mine: 0 of 3.
<BLANKLINE>
<BLANKLINE>
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lambdaplus.evaluation import Table
from lambdaplus.study import versions_in_words
from papers.findings import Claim, Findings
from papers.preset import Preset


def markdown_of(preset: Preset, found: Sequence[Findings], command: str) -> str:
    """The findings on all data sets, as text.

    Parameters
    ----------
    preset : Preset
    found : sequence of Findings
    command : str
        What made it.
    """
    return "\n".join(_lines(preset, found, command)) + "\n"


def _lines(preset: Preset, found: Sequence[Findings], command: str) -> Iterator[str]:
    yield from (f"# {preset.name}", "", preset.paper, "")
    yield from ("Made by", "", f"    {command}", "")
    yield from ("## The paper's claims", "")
    for number, ((place, statement), said) in enumerate(by_statement(found).items(), start=1):
        yield f"{number}. *{place}.* {statement}"
        for data, claim in said:
            yield f"    - **{claim.verdict}**, {data}: {claim.evidence}"
    yield ""
    for one in found:
        yield from (f"## {one.data}", "")
        for line in one.protocol:
            yield f"- {line}"
        yield ""
        for section in one.sections:
            yield from (f"### {section.title}", "")
            for note in section.notes:
                yield from (note, "")
            for exhibit in section.exhibits:
                if isinstance(exhibit.content, Table) and not exhibit.long:
                    yield from (exhibit.caption, "", exhibit.content.to_markdown(), "")
    yield f"Versions: {versions_in_words()}."


def by_statement(found: Sequence[Findings]) -> dict[tuple[str, str], list[tuple[str, Claim]]]:
    """For each place and statement, the data sets with what they say to it."""
    joined: dict[tuple[str, str], list[tuple[str, Claim]]] = {}
    for one in found:
        for claim in one.claims:
            joined.setdefault((claim.place, claim.statement), []).append((one.data, claim))
    return joined
