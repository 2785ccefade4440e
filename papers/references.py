"""The papers that are reproduced, and the library, as in ``references.bib``."""

import re
from pathlib import Path


class Reference(dict[str, str]):
    """The fields of an entry of ``references.bib``."""

    def __str__(self) -> str:
        authors = self["author"].split(" and ")
        # The name of an organisation is in braces, and has no first name.
        *others, last = [a.strip("{}") if "{" in a else a.split()[-1] for a in authors]
        names = f"{', '.join(others)} & {last}" if others else last
        issue = self.get("series") or f"Version {self['version']},"
        return f"{names}: {self['title'].strip('{}')}. {issue} {self['year']}."


BIBTEX = Path(__file__).with_suffix(".bib").read_text(encoding="utf-8")
REFERENCES = [
    Reference(re.findall(r"^  (\w+) += \{(.*)\},$", entry, re.MULTILINE))
    for entry in BIBTEX.strip().split("\n\n")
]
LAMBDAPLUS, YUE, CHAKRABARTI, ELSAS, WELLECK = REFERENCES
