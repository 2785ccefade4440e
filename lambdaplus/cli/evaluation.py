"""``lambdaplus evaluate``: what it does, with its options as arguments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import polars as pl

from lambdaplus.cli.terminal import Terminal, errors_of
from lambdaplus.compute.messages import refuse_missing
from lambdaplus.data import Run, read_letor, read_qrels, read_scores, read_table, read_trec_run
from lambdaplus.data.table_files import NO_QID
from lambdaplus.evaluation import Evaluation, compare_runs
from lambdaplus.evaluation.evaluate_run import evaluate_run
from lambdaplus.metrics.names import split_names
from lambdaplus.saved_model.files import KINDS, table_kind


def evaluate_and_show(
    runs: list[Path], data: Path | None, qrels: Path | None, columns: str | None,
    metrics: str | None, convention: str, baseline: str | None, pairs: bool, per_query: Path | None,
) -> None:  # fmt: skip
    """Evaluate runs, and print the tables."""
    with errors_of("evaluate"):
        if per_query is not None:
            _refuse_overwriting(per_query, [*runs, data, qrels])
        read = _read_runs(runs, data, qrels, columns)
        grouped = all(run.qid is not None for run in read.values())
        names = split_names(metrics or ("ndcg@10,map,mrr,p@10" if grouped else "auc,map"))
        evaluations = {
            name: evaluate_run(run, names, convention=convention) for name, run in read.items()
        }
        if len(evaluations) == 1:
            if baseline is not None or pairs:
                raise ValueError("--baseline and --pairs need at least two runs to compare")
            tables = [next(iter(evaluations.values())).table]
        else:
            comparison = compare_runs(evaluations, baseline=baseline)
            # Narrow to fit 80 columns; the footnotes are below the first table.
            by_pair = replace(comparison.pair_table, narrow=True, foot=())
            tables = [comparison.table, *([by_pair] if pairs else [])]
        if per_query is not None:
            per_query.write_text(_per_query(evaluations).write_csv(), encoding="utf-8")
        for shown in tables:
            Terminal().print(shown)


def _per_query(evaluations: dict[str, Evaluation]) -> pl.DataFrame:
    tables = []
    for run, evaluation in evaluations.items():
        for metric, values in evaluation.per_query.items():
            over_all = len(values) != evaluation.n_queries  # one ranking of all rows
            qid = ["all"] if over_all else list(map(str, evaluation.qid.tolist()))
            columns = {"run": run, "qid": qid, "metric": metric, "value": values}
            tables.append(pl.DataFrame(columns))
    return pl.concat(tables).with_columns(pl.col("value").fill_nan(None))


def _refuse_overwriting(out: Path, inputs: Iterable[Path | None]) -> None:
    """Raise a ValueError if the output is a folder or an input, possibly under another name."""
    if out.is_dir():
        raise ValueError(f"--per-query {out} is a folder: pass a file, as {out / 'per-query.csv'}")
    refuse_missing(out.parent)
    if not out.parent.is_dir():
        raise ValueError(f"--per-query {out}: {out.parent} is a file, not a folder")
    for file in inputs:
        if file is not None and file.exists() and out.exists() and out.samefile(file):
            raise ValueError(
                f"{out} is an input of this command and would be overwritten: pass another file"
            )


def _read_runs(
    files: list[Path], data: Path | None, qrels: Path | None, columns: str | None
) -> dict[str, Run]:
    """Read runs by name: scores for a LETOR file, TREC runs with qrels, or CSV and Parquet."""
    for file in (*files, data, qrels):
        if file is not None:
            refuse_missing(file)
    if data is not None and qrels is not None:
        raise ValueError("pass either --data (LETOR) or --qrels (TREC), not both")
    if columns is not None and not (data is None and qrels is None):
        raise ValueError("--columns is for CSV and Parquet files, not for --data and --qrels")
    if data is not None:
        documents = read_letor(data)
        runs = [read_scores(file, documents) for file in files]
    elif qrels is not None:
        judged = read_qrels(qrels)
        runs = [read_trec_run(file, judged) for file in files]
    else:
        runs = [_read_table(file, columns) for file in files]
    alike = len({run.name for run in runs}) < len(runs)
    by_name = {str(file) if alike else run.name: run for file, run in zip(files, runs, strict=True)}
    if len(by_name) < len(files):
        raise ValueError("a run is given twice")
    return by_name


def _read_table(file: Path, columns: str | None) -> Run:
    if not table_kind(file):
        raise ValueError(
            f"{file} is not {KINDS}: pass --data for a file with one score per line, or --qrels "
            "for a TREC run"
        )
    if columns is None:
        return read_table(file)
    names = [name.strip() for name in columns.split(",")]
    if len(names) not in (3, 4):
        raise ValueError("--columns needs the names of qid, label and score[, docno]")
    qid = None if names[0] == NO_QID else names[0]
    docno = names[3] if len(names) == 4 else None
    return read_table(file, qid=qid, label=names[1], score=names[2], docno=docno)
