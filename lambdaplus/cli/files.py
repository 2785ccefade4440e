"""Runs as the command line names them."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from lambdaplus.evaluation.runs import Run

DataFile = Annotated[
    pathlib.Path | None, typer.Option(help="LETOR or svmlight file that the scores are of.")
]
Qrels = Annotated[pathlib.Path | None, typer.Option(help="TREC judgements.")]
Columns = Annotated[
    str, typer.Option(help="Columns of CSV and Parquet: qid, label, score[, docno].")
]
COLUMNS = "qid,label,score"


@contextmanager
def errors_of(command: str) -> Iterator[None]:
    """Print what was wrong with the input and exit with 2, instead of a traceback."""
    try:
        yield
    except (ValueError, OSError, ImportError, MemoryError) as error:
        typer.echo(f"lambdaplus {command}: {error}", err=True)
        raise typer.Exit(2) from None


def read_runs(
    files: list[pathlib.Path],
    data: pathlib.Path | None,
    qrels: pathlib.Path | None,
    columns: str,
) -> dict[str, Run]:
    """Runs by name: scores beside a LETOR file, TREC runs with qrels, or CSV and Parquet.

    Raises
    ------
    ValueError
        For files that can't be read.
    OSError
        For files that are not there.
    """
    from lambdaplus.datasets import read_letor, read_qrels, read_scores, read_table, read_trec_run

    if data is not None and qrels is not None:
        raise ValueError("pass either --data (LETOR) or --qrels (TREC), not both")
    runs: list[Run] = []
    if data is not None:
        documents = read_letor(data)
        runs = [read_scores(file, documents) for file in files]
    elif qrels is not None:
        judged = read_qrels(qrels)
        runs = [read_trec_run(file, judged) for file in files]
    else:
        names = [name.strip() for name in columns.split(",")]
        if len(names) not in (3, 4):
            raise ValueError("--columns takes the names of qid, label, score and perhaps docno")
        docno = names[3] if len(names) == 4 else None
        for file in files:
            if file.suffix not in (".csv", ".parquet"):
                raise ValueError(
                    f"{file} is neither .csv nor .parquet: for scores in lines pass --data, for "
                    "TREC runs --qrels"
                )
            runs.append(read_table(file, qid=names[0], label=names[1], score=names[2], docno=docno))
    alike = len({run.name for run in runs}) < len(runs)
    return {str(file) if alike else run.name: run for file, run in zip(files, runs, strict=True)}
