"""``lambdaplus evaluate``."""

from __future__ import annotations

import pathlib
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lambdaplus.cli.command_files import (
    COLUMNS,
    Columns,
    DataFile,
    Qrels,
    errors_of,
    read_runs,
    refuse_overwriting,
    write_whole,
)
from lambdaplus.evaluation.conventions import CONVENTIONS, TIES, in_words
from lambdaplus.evaluation.significance import TESTS

if TYPE_CHECKING:
    from lambdaplus.evaluation import Evaluation

FORMATS = ("terminal", "markdown")


def evaluate(
    runs: Annotated[
        list[pathlib.Path],
        typer.Argument(
            help="Files with one score per line (with --data), TREC runs (with --qrels), or CSV or "
            "Parquet files with the columns qid, label and score."
        ),
    ],
    data: DataFile = None,
    qrels: Qrels = None,
    columns: Columns = COLUMNS,
    metrics: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated; see lambdaplus metrics. Default: ndcg@10,map,mrr,p@10; without "
            "queries: auc,map."
        ),
    ] = None,
    convention: Annotated[
        str,
        typer.Option(
            help=f"Rules of the metrics: {in_words(CONVENTIONS)}. --ties and --empty change it."
        ),
    ] = "lambdaplus",
    ties: Annotated[
        str | None,
        typer.Option(help=f"Equal scores: {in_words(TIES)}."),
    ] = None,
    empty: Annotated[
        str | None,
        typer.Option(help="Value of queries on which a metric is undefined: skip, 0 or 1."),
    ] = None,
    judged: Annotated[
        bool, typer.Option("--judged", help="Leave out documents without a judgement.")
    ] = False,
    baseline: Annotated[
        str | None, typer.Option(help="Run to compare the others with; default: all pairs.")
    ] = None,
    test: Annotated[str, typer.Option(help=f"{in_words(TESTS)}.")] = "wilcoxon",
    form: Annotated[
        str, typer.Option("--format", help=f"Tables for {in_words(FORMATS)}.")
    ] = "terminal",
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Also print the differences of each pair of runs.")
    ] = False,
    per_query: Annotated[
        pathlib.Path | None, typer.Option(help="CSV file to write: run, qid, metric, value.")
    ] = None,
) -> None:
    """Evaluate runs; if there are several, test their differences for significance."""
    from lambdaplus.evaluation import compare_runs
    from lambdaplus.evaluation.scoring import evaluate_run
    from lambdaplus.evaluation.significance import check_options
    from lambdaplus.metrics.names import split_names

    with errors_of("evaluate"):
        if form not in FORMATS:
            raise ValueError(f"--format {form!r} is not {in_words(FORMATS)}")
        options: dict[str, Any] = {"convention": convention, "ties": ties, "judged": judged}
        if empty is not None:
            options["empty"] = int(empty) if empty in ("0", "1") else empty
        if per_query is not None:
            refuse_overwriting(per_query, [*runs, data, qrels])
        read = read_runs(runs, data, qrels, columns)
        whole = any(run.qid is None for run in read.values())
        names = split_names(metrics or ("auc,map" if whole else "ndcg@10,map,mrr,p@10"))
        evaluations = {name: evaluate_run(run, names, **options) for name, run in read.items()}
        check_options(test)
        if len(evaluations) == 1:
            if baseline is not None or pairs:
                raise ValueError("--baseline and --pairs need at least two runs to compare")
            tables = [next(iter(evaluations.values())).table]
        else:
            options = {"baseline": baseline, "test": test}
            comparison = compare_runs(evaluations, **options)
            # Narrow to fit 80 columns; the footnotes are below the first table.
            by_pair = replace(comparison.pair_table, narrow=True, foot=())
            tables = [comparison.table, *([by_pair] if pairs else [])]
        if per_query is not None:
            write_whole(per_query, _per_query(evaluations))
        for table in tables:
            if form == "terminal":
                from rich.console import Console

                Console().print(table)
            else:
                typer.echo(table.to_markdown())


def _per_query(evaluations: dict[str, Evaluation]) -> str:
    """Values as CSV."""
    import polars as pl

    from lambdaplus.data.safe_csv import safe_csv

    tables = []
    for run, evaluation in evaluations.items():
        for metric, values in evaluation.per_query.items():
            whole = len(values) != evaluation.n_queries  # one ranking of all rows
            qid = ["all"] if whole else list(map(str, evaluation.qid.tolist()))
            columns = {"run": run, "qid": qid, "metric": metric, "value": values}
            tables.append(pl.DataFrame(columns))
    return safe_csv(pl.concat(tables))
