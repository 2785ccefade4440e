"""``lambdaplus cite``."""

from __future__ import annotations

from typing import Annotated

import typer


def cite(
    bibtex: Annotated[bool, typer.Option("--bibtex", help="As BibTeX entries.")] = False,
) -> None:
    """Print what to cite: lambdaplus and the papers whose methods it implements."""
    from lambdaplus.cli.command_files import errors_of
    from lambdaplus.cli.references import PAPERS, this_software

    with errors_of("cite"):
        known = (this_software(), *PAPERS)
        if bibtex:
            typer.echo("\n\n".join(work.bibtex() for work in known))
        else:
            typer.echo("\n".join(map(str, known)))
