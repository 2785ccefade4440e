"""``lambdaplus metrics``."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lambdaplus.metrics import Declaration

WIDTH = 80


def metrics(
    name: Annotated[
        str | None, typer.Argument(help="A metric to describe in detail, such as ndcg.")
    ] = None,
) -> None:
    """List the metrics, or describe one: its options, its source, and its cost as an objective."""
    from lambdaplus.metrics import CATALOGUE, parse_metric

    if name is None:
        for declaration in CATALOGUE:
            typer.echo(_line(declaration))
        typer.echo("\nlambdaplus metrics NAME describes one metric with its options.")
        return
    by_name = {known: d for d in CATALOGUE for known in (d.name, *d.aliases)}
    wanted = name.partition("@")[0].partition("(")[0].strip()
    if wanted in by_name and "+" not in name:
        typer.echo(_details(by_name[wanted]))
        return
    try:
        parse_metric(name)  # the error suggests a similar name
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _line(declaration: Declaration) -> str:
    """Name and title, within 80 columns."""
    names = " ".join((str(declaration), *declaration.aliases))
    indent = 22
    start = names.ljust(indent) if len(names) < indent else f"{names}\n{'':{indent}}"
    title = textwrap.wrap(declaration.title, WIDTH - indent)
    return start + f"\n{'':{indent}}".join(title)


def _details(declaration: Declaration) -> str:
    entries = [
        ("names", ", ".join((str(declaration), *declaration.aliases))),
        ("objective", declaration.how_optimised),
        ("source", declaration.source),
    ]
    lines = [declaration.title, ""]
    for heading, text in entries:
        lines += textwrap.wrap(f"{heading:<11}{text}", WIDTH, subsequent_indent=" " * 11)
    if not declaration.parameters:
        return "\n".join([*lines, "options    none"])
    lines += ["", "Options:"]
    for option in declaration.parameters:
        allowed = f" ({' or '.join(map(str, option.choices))})" if option.choices else ""
        text = f"  {option.name}={option.default}  {option.help}{allowed}"
        lines += textwrap.wrap(text, WIDTH, subsequent_indent=" " * 6)
    first = declaration.parameters[0]
    cutoff = "@10" if declaration.cutoff != "no" else ""
    lines += ["", f"Example: {declaration.name}({first.name}={first.default}){cutoff}"]
    return "\n".join(lines)
