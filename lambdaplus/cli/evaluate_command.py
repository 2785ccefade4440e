"""``lambdaplus evaluate``: its options."""

from __future__ import annotations

from pathlib import Path

import typer

from lambdaplus.evaluation.conventions import CONVENTIONS, in_words


def evaluate(
    runs: list[Path] = typer.Argument(
        ...,
        help="Files with one score per line (with --data), TREC runs (with --qrels), or CSV or "
        "Parquet files with the columns qid, label and score.",
    ),
    data: Path | None = typer.Option(
        None, help="LETOR or svmlight file with the labels and queries of the scores."
    ),
    qrels: Path | None = typer.Option(
        None, help="TREC, MS MARCO or BEIR file with the judgements."
    ),
    columns: str | None = typer.Option(
        None,
        help="Columns of CSV and Parquet files: qid, label, score[, docno]. qid is none: the "
        "table has no queries, and all rows are one ranking. Default: qid,label,score.",
    ),
    metrics: str | None = typer.Option(
        None,
        help="Comma-separated; see lambdaplus metrics. Default: ndcg@10,map,mrr,p@10; without "
        "queries: auc,map.",
    ),
    convention: str = typer.Option(
        "lambdaplus", help=f"Rules of the metrics: {in_words(CONVENTIONS)}."
    ),
    baseline: str | None = typer.Option(
        None, help="Run to compare the others with; default: all pairs."
    ),
    pairs: bool = typer.Option(
        False, "--pairs", help="Also print the differences of each pair of runs."
    ),
    per_query: Path | None = typer.Option(None, help="CSV file to write: run, qid, metric, value."),
) -> None:
    from lambdaplus.cli.evaluation import evaluate_and_show  # not for --help

    evaluate_and_show(runs, data, qrels, columns, metrics, convention, baseline, pairs, per_query)
