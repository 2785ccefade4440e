"""Fills in the help of commands: ``<!-- commands of NAME -->`` becomes typer's reference."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LINE = re.compile(r"^<!-- commands of (.+) -->$", re.MULTILINE)


def fill_in(app: Sphinx, page: str, source: list[str]) -> None:
    source[0] = LINE.sub(lambda line: commands(line[1]), source[0])


def commands(program: str) -> str:
    """A section for each command of a program, in Markdown."""
    made = subprocess.run(
        [sys.executable, "-m", "typer", "lambdaplus.cli", "utils", "docs", "--name", program],
        capture_output=True,
        text=True,
        check=True,
    )
    _, heading, sections = made.stdout.partition("\n## ")
    return heading + sections


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", fill_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
