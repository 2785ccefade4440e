"""``lambdaplus cite``: the library, and the papers whose methods it implements."""

import re
from importlib.resources import files
from typing import Annotated

import typer

from lambdaplus.cli.command_files import errors_of

BIBTEX = files("lambdaplus.cli").joinpath("references.bib").read_text(encoding="utf-8")


class Reference(dict[str, str]):
    """The fields of an entry of ``references.bib``."""

    def __str__(self) -> str:
        authors = self["author"].split(" and ")
        # The name of an organisation is in braces, and has no first name.
        *others, last = [a.strip("{}") if "{" in a else a.split()[-1] for a in authors]
        names = f"{', '.join(others)} & {last}" if others else last
        issue = self.get("series") or f"Version {self['version']},"
        return f"{names}: {self['title'].strip('{}')}. {issue} {self['year']}."


REFERENCES = [
    Reference(re.findall(r"^  (\w+) += \{(.*)\},$", entry, re.MULTILINE))
    for entry in BIBTEX.strip().split("\n\n")
]
LAMBDAPLUS, YUE, CHAKRABARTI, ELSAS, WELLECK = REFERENCES


def cite(
    bibtex: Annotated[bool, typer.Option("--bibtex", help="As BibTeX entries.")] = False,
) -> None:
    """Print what to cite: lambdaplus and the papers whose methods it implements."""
    with errors_of("cite"):
        typer.echo(BIBTEX.strip() if bibtex else "\n".join(map(str, REFERENCES)))
