"""What a preset found: claims with verdicts, and the tables and plots that they rest on.

Examples
--------
>>> from papers.findings import Claim
>>> claim = Claim("Table 7", "A is better than B.", True, "MAP .52 against .48.")
>>> claim.verdict
'confirmed'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lambdaplus.evaluation import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VERDICTS: Mapping[bool | None, str] = {
    True: "confirmed",
    False: "not confirmed",
    None: "cannot be tested here",
}


@dataclass(frozen=True)
class Claim:
    """A statement of a paper, and whether it holds here.

    Attributes
    ----------
    place : str
        Where the paper says it, such as "Table 7".
    statement : str
        In a sentence; the same words for every data set.
    holds : bool or None
        None: it cannot be tested on this data or with these programs.
    evidence : str
        Our figures in a sentence, or why there are none.
    """

    place: str
    statement: str
    holds: bool | None
    evidence: str

    @property
    def verdict(self) -> str:
        return VERDICTS[self.holds]


@dataclass(frozen=True, eq=False)
class Exhibit:
    """A table or a plot.

    Attributes
    ----------
    name : str
        Of its files, such as "table_7".
    caption : str
    content : Table or matplotlib Figure
    long : bool
        Whether findings.md goes without it.
    """

    name: str
    caption: str
    content: Table | Figure
    long: bool = False


@dataclass(frozen=True, eq=False)
class Section:
    """Exhibits under a title, with what there is to say of them."""

    title: str
    exhibits: tuple[Exhibit, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Findings:
    """What a preset found on one data set.

    Attributes
    ----------
    data : str
        Name of the set.
    protocol : tuple of str
        What was done, and where it departs from the paper.
    sections : tuple of Section
    claims : tuple of Claim
        The same statements, in the same order, for every data set.
    """

    data: str
    protocol: tuple[str, ...]
    sections: tuple[Section, ...]
    claims: tuple[Claim, ...]
