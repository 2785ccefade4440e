"""A paper, its claims, and the findings on one data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lambdaplus.evaluation import Table
from papers.drawing import Panel


class Claim(NamedTuple):
    """A statement of a paper, and whether it holds here.

    Attributes
    ----------
    place : str
        Where the paper says it, such as "Table 7".
    statement : str
        In a sentence; the same words for every data set.
    holds : bool or None
        None: this data says nothing about it, or does not decide it.
    evidence : str
        Our figures, short enough for a cell of a table.
    reading : str
        How the paper is read for this claim, if not as its `Paper.protocol` says.  Of claims with
        the same statement, the first has the paper's reading, and only this one is counted.
    """

    place: str
    statement: str
    holds: bool | None
    evidence: str
    reading: str = ""

    @property
    def verdict(self) -> str:
        verdicts = {True: "confirmed", False: "not confirmed", None: "open"}
        return verdicts[self.holds]


class Findings(NamedTuple):
    """Claims in the paper's order, the tables that they rest on by title, and figures by name."""

    claims: list[Claim]
    tables: dict[str, Table]
    figures: Mapping[str, Sequence[Panel]] = {}


@dataclass(frozen=True)
class Paper:
    """A paper's experiment.

    Attributes
    ----------
    citation : str
    shows : str
        What is run, in a line.
    fits : dict of str to str
        Published sets that it fits, with what they are.
    figures : str
        What the figures in the evidence of claims are.
    protocol : str
        What is done, and where it departs from the paper.
    run : callable
        From a `~papers.session.Session`, and sizes of the experiment by name, to `Findings`.
    small : dict of str to int
        Sizes for the built-in digits, which only show how it works, within a few minutes.
    """

    name: str
    citation: str
    shows: str
    fits: Mapping[str, str]
    figures: str
    protocol: str
    run: Callable[..., Findings]
    small: Mapping[str, int] = field(default_factory=dict)
