"""``lambdaplus metrics``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lambdaplus.cli.command_files import errors_of

if TYPE_CHECKING:
    from lambdaplus.evaluation import Table
    from lambdaplus.metrics import Declaration


def metrics(
    name: Annotated[
        str | None, typer.Argument(help="A metric to describe in detail, such as ndcg.")
    ] = None,
) -> None:
    """List the metrics, or describe one: its options, its source, and its cost as an objective."""
    from rich.console import Console

    from lambdaplus.evaluation import Table
    from lambdaplus.metrics import CATALOGUE, parse_metric

    with errors_of("metrics"):
        if name is None:
            rows = [(_names(declaration), declaration.title) for declaration in CATALOGUE]
            foot = [
                "lambdaplus metrics NAME describes one metric with its options.",
                "Training uses all ranks: map@5 and map@10 train the same model, as do metrics "
                "whose pairs are weighted by map, such as p@5 and recall@10.",
            ]
            Console().print(Table(("metric", "what it is"), rows, foot))
            return
        by_name = {spelling: d for d in CATALOGUE for spelling in (d.name, *d.aliases)}
        wanted = name.partition("@")[0].partition("(")[0].strip()
        if wanted in by_name and "+" not in name:
            Console().print(_details(by_name[wanted]))
        else:
            parse_metric(name)  # the error suggests a similar name


def _names(declaration: Declaration) -> str:
    return ", ".join((str(declaration), *declaration.aliases))


def _surrogate(declaration: Declaration) -> str:
    """What the objective weights pairs by, unless it is the metric itself."""
    from lambdaplus.metrics.names import default_surrogate

    metric = declaration(None if declaration.cutoff == "no" else 10)
    surrogate = default_surrogate(metric)
    if surrogate == metric:
        return ""
    weighted = metric if surrogate.declaration == declaration else declaration  # with any cutoff
    return f"; pairs of {weighted} are weighted by {surrogate}"


def _details(declaration: Declaration) -> Table:
    from lambdaplus.evaluation import Table

    rows = [
        ("what it is", declaration.title),
        ("objective", declaration.cost_of_objective + _surrogate(declaration)),
        ("source", declaration.source),
    ]
    for option in declaration.parameters:
        choices = f" ({' or '.join(option.choices)})" if option.choices else ""
        rows.append((f"{option.name}={option.default}", option.help + choices))
    foot = ["objective: cost of a gradient for n documents with L distinct labels"]
    if declaration.parameters:
        first, cutoff = declaration.parameters[0], "@10" if declaration.cutoff != "no" else ""
        foot += [f"Example: {declaration.name}({first.name}={first.default}){cutoff}"]
    return Table(("metric", _names(declaration)), rows, foot)
