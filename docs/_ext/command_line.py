"""Fills in the help of the commands: ``<!-- command line -->`` becomes typer's reference."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LINE = "<!-- command line -->"


def fill_in(app: Sphinx, page: str, source: list[str]) -> None:
    if LINE in source[0]:
        source[0] = source[0].replace(LINE, commands())


def commands() -> str:
    """A section for each command, in Markdown."""
    made = subprocess.run(
        [sys.executable, "-m", "typer", "lambdaplus.cli", "utils", "docs", "--name", "lambdaplus"],
        capture_output=True,
        text=True,
        check=True,
    )
    _, heading, sections = made.stdout.partition("\n## ")
    return heading + sections


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", fill_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
