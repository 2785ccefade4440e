"""Write the generated parts of the pages, so that they can be read without building the site.

    python docs/generate.py [PAGE ...]

or ``make pages``.  A part begins with a line ``<!-- KIND -->`` or ``<!-- KIND: ARGUMENTS -->`` and
ends with ``<!-- end -->``, which is added where it is missing.  Kinds:

- ``results: NAME``: the command of ``benchmarks/results/NAME.json`` and its tables, folded;
  ``results: NAME: TITLE`` the table of this title, or those whose title begins so;
  ``table: NAME: TITLE`` these, not folded;
- those of `references` and `evidence_tables`.

The numbers of sentences are those of `sentences`.  Tests fail if a page is not as written here.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import evidence_tables
import references
import sentences

from lambdaplus.evaluation import Table

DOCS = Path(__file__).parent
RESULTS = DOCS.parent / "benchmarks" / "results"
END = "<!-- end -->"


def results(name: str, title: str = "") -> str:
    kept = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    versions = f" ({kept['versions']})" if "versions" in kept else ""
    shown = tables_of(kept, title)
    made = f"Measured by `{kept['command']}`{versions}."
    if len(shown) < len(kept["tables"]):
        made += f" `python benchmarks/tables.py {name}` shows all tables."
    folded = [
        f"<details>\n<summary>{heading}</summary>\n\n{table}\n\n</details>"
        for heading, table in shown
    ]
    return "\n\n".join([made, *folded])


def table(name: str, title: str = "") -> str:
    kept = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return "\n\n".join(shown for _, shown in tables_of(kept, title))


def tables_of(kept: dict, title: str) -> list[tuple[str, str]]:
    """The table of this title, or else those whose title begins so: title and Markdown."""
    found = {
        one["title"]: Table(one["columns"], one["rows"], one["foot"]).to_markdown()
        for one in kept["tables"]
        if one["title"].startswith(title)
    }
    if not found:
        raise ValueError(f"no table begins with {title!r}")
    return [(title, found[title])] if title in found else list(found.items())


KINDS = {"results": results, "table": table, **references.KINDS, **evidence_tables.KINDS}
PART = re.compile(
    rf"^<!-- ({'|'.join(KINDS)})(?:: (.*))? -->\n(?:(?:(?!<!-- ).*\n)*?{END}$)?", re.MULTILINE
)


def generated(page: str) -> str:
    """The text of a page with its parts written anew."""
    return PART.sub(_part, page)


def _part(found: re.Match[str]) -> str:
    kind, arguments = found.groups()
    text = KINDS[kind](*(arguments.split(": ", 1) if arguments else ()))
    begin = found[0].partition("\n")[0]
    return f"{begin}\n\n{text}\n\n{END}" + ("" if found[0].endswith(END) else "\n")


def pages() -> list[Path]:
    """The README, all pages, and the notebooks with all tables beside the results."""
    return [
        DOCS.parent / "README.md",
        *sorted(DOCS.rglob("*.md")),
        *sorted(RESULTS.glob("*.md")),
    ]


def main() -> None:
    for page in map(Path, sys.argv[1:]) if sys.argv[1:] else pages():
        before = page.read_text(encoding="utf-8")
        name = page.resolve().relative_to(DOCS.parent).as_posix()
        after = sentences.rewritten(name, generated(before))
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(page)


if __name__ == "__main__":
    main()
