"""Readers of runs from files of scores and from tables."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from lambdaplus.data.merged_numbers import refuse_merged
from lambdaplus.data.ranking_data import RankingData
from lambdaplus.data.table_files import TableFile
from lambdaplus.data.text_fields import fields_of_lines, finite_number
from lambdaplus.lists.runs import Run
from lambdaplus.saved_model.words import require


def read_scores(path: str | os.PathLike[str], data: RankingData) -> Run:
    """Read the scores of a data set, one number per line.

    Parameters
    ----------
    path : str or path-like
        A file with one line for each row of the data, in the same order; .gz and .xz are supported.
    data : RankingData

    Returns
    -------
    Run

    Raises
    ------
    FileNotFoundError, ValueError
        If the file does not exist, a line is not a finite number (the message gives the line), or
        there are not as many lines as rows.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lambdaplus.data import RankingData, read_scores
    >>> data = RankingData([[0.5], [0.1]], [1, 0], [7, 7], "test")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "new.txt")
    ...     _ = file.write_text("0.3\\n0.7\\n")
    ...     run = read_scores(file, data)
    >>> run.name, run.scores.tolist()
    ('new', [0.3, 0.7])
    """
    file = Path(path)
    scores, texts = [], list[str]()
    for where, fields in fields_of_lines(file):
        if len(fields) != 1:
            raise ValueError(f"{where}: there must be one score, not {len(fields)}")
        scores.append(finite_number(fields[0], f"{where}: the score"))
        texts += fields
    if len(scores) != len(data.labels):
        raise ValueError(f"{file} has {len(scores)} scores for {len(data.labels)} documents")
    if np.unique(scores).size < len(scores):
        seen = dict[Any, dict[float, str]]()
        for query, text in zip(data.qid.tolist(), texts, strict=True):
            refuse_merged(str(file), [text], seen.setdefault(query, {}))
    return Run(run_name(file), data.labels, np.array(scores), data.qid)


def read_table(
    path: str | os.PathLike[str],
    *,
    qid: str | None = "qid",
    label: str = "label",
    score: str = "score",
    docno: str | None = None,
) -> Run:
    """Read a run from a CSV or Parquet file.

    Parameters
    ----------
    path : str or path-like
        A file as in `read_columns`.  The rows of a query do not have to be adjacent.
    qid, label, score : str
        Names of the columns; with ``qid=None``, all rows are one ranking.
    docno : str, optional
        Column of document numbers.

    Returns
    -------
    Run

    Raises
    ------
    FileNotFoundError, ValueError, ImportError
        As in `read_columns`; there must be a row, and a score must be a finite number as well.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lambdaplus.data import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "new.csv")
    ...     _ = file.write_text("query,clicked,score\\na,1,0.3\\na,0,0.7\\n")
    ...     run = read_table(file, qid="query", label="clicked")
    >>> run.labels.tolist(), run.scores.tolist()
    ([1.0, 0.0], [0.3, 0.7])
    """
    table = TableFile.read(Path(path))
    named = [name for name in (qid, label, score, docno) if name]
    if twice := [name for name in named if named.count(name) > 1]:
        raise ValueError(f"{path}: the column {twice[0]!r} cannot be used for two purposes")
    require(
        table.file,
        table.names,
        named,
        "Pass the names of its columns; on the command line, in the order of qid, label, score, "
        "such as --columns query,grade,score, or --columns none,label,score without queries",
    )
    queries = table.identifiers(qid) if qid else None
    documents = table.identifiers(docno).astype(np.str_) if docno else None
    labels, scores = table.finite_numbers(label), table.scores(score)
    run = Run(run_name(table.file), labels, scores, queries, documents)
    return run.by_query() if qid else run


def run_name(file: Path) -> str:
    """The name of the run in a file: up to the first dot."""
    return file.name.split(".")[0]
