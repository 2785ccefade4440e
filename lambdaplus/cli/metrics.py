"""``lambdaplus metrics``."""

from __future__ import annotations


def metrics() -> None:
    """List the metrics with their options, and how each is optimised."""
    from rich.console import Console
    from rich.table import Table

    from lambdaplus.metrics import CATALOGUE

    table = Table()
    for heading in ("name", "what", "options", "objective", "source"):
        table.add_column(heading)
    for declared in CATALOGUE:
        name = " ".join((str(declared), *declared.aliases)).replace("[", r"\[")
        options = [f"{p.name}={p.default}: {p.help}" for p in declared.parameters]
        table.add_row(
            name, declared.title, "\n".join(options), declared.how_optimised, declared.source
        )
    Console().print(table)
