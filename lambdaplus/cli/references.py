"""``lambdaplus cite``: the library, and the papers whose methods it implements.

Examples
--------
>>> from lambdaplus.cli.references import WELLECK
>>> print(WELLECK)
Welleck: Efficient AUC optimization for information ranking applications. ECIR 2016.
>>> print(WELLECK.bibtex().splitlines()[0])
@inproceedings{welleck-2016,
"""

from __future__ import annotations

import importlib.metadata
from typing import Annotated, NamedTuple

import typer

from lambdaplus.cli.command_files import errors_of


class Reference(NamedTuple):
    """A paper in proceedings, such as ``SIGIR``; its authors have their first names first."""

    authors: tuple[str, ...]
    title: str
    proceedings: str
    short: str
    year: int
    pages: str
    doi: str = ""

    def __str__(self) -> str:
        *others, last = [author.split()[-1] for author in self.authors]
        names = f"{', '.join(others)} & {last}" if others else last
        return f"{names}: {self.title}. {self.short} {self.year}."

    def bibtex(self) -> str:
        """The BibTeX entry, with a key such as ``yue-2007``."""
        key = f"{self.authors[0].split()[-1].lower()}-{self.year}"
        fields = {
            "author": " and ".join(self.authors),
            "title": f"{{{self.title}}}",  # the second pair of braces keeps capitals
            "booktitle": self.proceedings,
            "year": str(self.year),
            "pages": self.pages,
            "doi": self.doi,
        }
        return _entry("inproceedings", key, fields)


YUE = Reference(
    ("Yisong Yue", "Thomas Finley", "Filip Radlinski", "Thorsten Joachims"),
    "A support vector method for optimizing average precision",
    "Proceedings of the 30th Annual International ACM SIGIR Conference on Research and "
    "Development in Information Retrieval",
    "SIGIR",
    2007,
    "271--278",
    "10.1145/1277741.1277790",
)
CHAKRABARTI = Reference(
    ("Soumen Chakrabarti", "Rajiv Khanna", "Uma Sawant", "Chiru Bhattacharyya"),
    "Structured learning for non-smooth ranking losses",
    "Proceedings of the 14th ACM SIGKDD International Conference on Knowledge Discovery and "
    "Data Mining",
    "KDD",
    2008,
    "88--96",
    "10.1145/1401890.1401906",
)
ELSAS = Reference(
    ("Jonathan L. Elsas", "Vitor R. Carvalho", "Jaime G. Carbonell"),
    "Fast learning of document ranking functions with the committee perceptron",
    "Proceedings of the 2008 International Conference on Web Search and Data Mining",
    "WSDM",
    2008,
    "55--64",
)
WELLECK = Reference(
    ("Sean J. Welleck",),
    "Efficient AUC optimization for information ranking applications",
    "Advances in Information Retrieval: 38th European Conference on IR Research",
    "ECIR",
    2016,
    "159--170",
    "10.1007/978-3-319-30671-1_12",
)
PAPERS = (YUE, CHAKRABARTI, ELSAS, WELLECK)
RELEASED = 2026  # the year of this version


class Software(NamedTuple):
    """An installed package, described by its metadata."""

    name: str
    title: str
    author: str
    version: str
    license: str
    year: int

    def __str__(self) -> str:
        return f"{self.author}: {self.name} {self.version}. {self.title}. {self.year}."

    def bibtex(self) -> str:
        """The BibTeX entry."""
        fields = {
            "author": f"{{{self.author}}}",  # one name, not first and last
            "title": f"{{{self.name}: {self.title}}}",
            "version": self.version,
            "year": str(self.year),
            "license": self.license,
        }
        return _entry("software", self.name, fields)


def this_software() -> Software:
    """The installed version of lambdaplus."""
    about = importlib.metadata.metadata("lambdaplus")
    return Software(
        about["Name"],
        about["Summary"],
        about["Author"],
        about["Version"],
        about["License-Expression"],
        RELEASED,
    )


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name:<9} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])


def cite(
    bibtex: Annotated[bool, typer.Option("--bibtex", help="As BibTeX entries.")] = False,
) -> None:
    """Print what to cite: lambdaplus and the papers whose methods it implements."""
    with errors_of("cite"):
        known = (this_software(), *PAPERS)
        if bibtex:
            typer.echo("\n\n".join(work.bibtex() for work in known))
        else:
            typer.echo("\n".join(map(str, known)))
