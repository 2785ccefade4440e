"""``lambdaplus explain``."""

import pathlib
from itertools import chain
from typing import Annotated

import typer

from lambdaplus.cli.command_files import COLUMNS, Columns, DataFile, Qrels, errors_of, read_runs
from lambdaplus.compute.arguments import number_of


def explain(
    metric: Annotated[str, typer.Argument(help="A metric such as ndcg@10.")],
    run: Annotated[
        pathlib.Path | None,
        typer.Argument(help="A file as for lambdaplus evaluate; or pass --labels and --scores."),
    ] = None,
    labels: Annotated[
        str | None, typer.Option(help="Labels such as '2,0,1', or '2,0,1;1,0' for two queries.")
    ] = None,
    scores: Annotated[str | None, typer.Option(help="Scores, in the same format.")] = None,
    data: DataFile = None,
    qrels: Qrels = None,
    columns: Columns = COLUMNS,
) -> None:
    """Show the value of a metric under each convention, and why the values differ."""
    from rich.console import Console

    from lambdaplus.evaluation.explanation import explain, explain_run
    from lambdaplus.metrics import parse_metric

    with errors_of("explain"):
        wanted = parse_metric(metric)
        if run is not None:
            if labels is not None or scores is not None:
                raise ValueError("pass a run, or --labels and --scores, not both")
            [only] = read_runs([run], data, qrels, columns).values()
            explanation = explain_run(wanted, only)
        elif labels is not None and scores is not None:
            y, s = _numbers(labels, "--labels"), _numbers(scores, "--scores")
            sizes = [len(query) for query in y]
            if sizes != [len(query) for query in s]:
                raise ValueError("--labels and --scores must have the same length in each query")
            flat = [[*chain(*queries)] for queries in (y, s)]
            explanation = explain(wanted, *flat, group=sizes)
        else:
            raise ValueError("pass a run, or --labels and --scores")
        Console().print(explanation.table)


def _numbers(text: str, option: str) -> list[list[float]]:
    try:
        return [[number_of(part) for part in query.split(",")] for query in text.split(";")]
    except ValueError as error:
        raise ValueError(f"{option} {text!r}: {error}") from None
