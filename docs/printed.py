"""Writes below the code of a page what it prints.

    python docs/printed.py [PAGE ...]

A block of ``text`` that follows a block of Python holds its output.  Without pages, all pages that
show output.  `tests/repository/test_docs.py` fails if an output is stale.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
SHOWN = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
FRAMEWORKS = ("lightgbm", "xgboost", "scikit-learn")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def shows_output(text: str) -> bool:
    return any(block[2] is not None for block in SHOWN.finditer(text))


def run(code: Any, names: dict[str, Any]) -> str:
    """What the code prints, without spaces at the end of lines."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    return "".join(f"{line.rstrip()}\n" for line in printed.getvalue().strip("\n").splitlines())


def filled(text: str) -> str:
    """The page with the outputs of today."""
    names: dict[str, Any] = {"__name__": "__main__"}

    def fill(block: re.Match[str]) -> str:
        try:
            printed = run(block[1], names)
        except ModuleNotFoundError as error:  # an optional tool
            print(f"not run: {error}", file=sys.stderr)
            return block[0]
        return (
            block[0] if block[2] is None else f"```python\n{block[1]}```\n\n```text\n{printed}```\n"
        )

    return SHOWN.sub(fill, text)


def parts(output: str) -> tuple[list[str], list[float]]:
    """The words of an output, and its numbers."""
    return NUMBER.sub("", output).split(), list(map(float, NUMBER.findall(output)))


def frameworks_are_locked() -> bool:
    """Whether versions are the first of constraints.txt, those of the oldest Python, as here."""
    locked = (DOCS.parent / "constraints.txt").read_text(encoding="utf-8")
    first = {name: re.search(f"^{name}==(\\S+)", locked, re.MULTILINE) for name in FRAMEWORKS}
    return all(line and line[1] == version(name) for name, line in first.items())


def main() -> None:
    os.environ["OMP_NUM_THREADS"] = "1"
    warnings.simplefilter("ignore")
    pages = [Path(name).resolve() for name in sys.argv[1:]] or sorted(DOCS.glob("*.md"))
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for page in pages:
            text = page.read_text(encoding="utf-8")
            if shows_output(text):
                page.write_text(filled(text), encoding="utf-8")


if __name__ == "__main__":
    main()
