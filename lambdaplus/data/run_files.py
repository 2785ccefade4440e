"""Readers of runs: scores for a LETOR file, TREC runs and qrels, CSV and Parquet."""

from __future__ import annotations

import math
import os
from numbers import Real
from pathlib import Path

import numpy as np

from lambdaplus.data.frame_columns import finite_column, identifier_column
from lambdaplus.data.frames import read_frame
from lambdaplus.data.queries import rows_by_query
from lambdaplus.data.ranking_data import RankingData
from lambdaplus.data.run import Run
from lambdaplus.data.text_files import fields_of_lines, finite_number

Judgements = dict[str, dict[str, float]]


def read_scores(path: str | os.PathLike[str], data: RankingData) -> Run:
    """Read scores of the documents of a LETOR or svmlight file, one number per line.

    Parameters
    ----------
    path : path
        A file with one line for each row of the data, in the same order; .gz and .xz are supported.
    data : RankingData

    Raises
    ------
    ValueError
        For a line that is not a finite number, and for too few or too many lines.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lambdaplus.data import RankingData, read_scores
    >>> data = RankingData([[0.1], [0.7]], labels=[0, 1], qid=["q1", "q1"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "scores.txt")
    ...     _ = file.write_text("0.25\\n0.5\\n")
    ...     read_scores(file, data).scores.tolist()
    [0.25, 0.5]
    """
    file = Path(path)
    scores = []
    for number, fields in fields_of_lines(file):
        if len(fields) != 1:
            raise ValueError(f"{file}, line {number}: one score is expected, not {len(fields)}")
        scores.append(finite_number(fields[0], "score", file, number))
    if len(scores) != len(data.labels):
        raise ValueError(f"{file} has {len(scores)} scores for {len(data.labels)} documents")
    return Run(_name(file), data.labels, np.array(scores), data.qid)


def read_qrels(path: str | os.PathLike[str]) -> Judgements:
    """Read TREC relevance judgements: lines of query, iteration, document number, label.

    Returns
    -------
    dict of str to dict of str to float
        Label by query and document number.  A label below 0 marks an unjudged document.

    Raises
    ------
    ValueError
        For a malformed line or a document that is judged twice, with the line number; for a file
        without judgements.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lambdaplus.data import read_qrels
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "qrels.txt")
    ...     _ = file.write_text("q1 0 d1 1\\nq1 0 d2 0\\n")
    ...     read_qrels(file)
    {'q1': {'d1': 1.0, 'd2': 0.0}}
    """
    file = Path(path)
    found: Judgements = {}
    for number, fields in fields_of_lines(file):
        if len(fields) != 4:
            raise ValueError(
                f"{file}, line {number}: a judgement has 4 fields (query, iteration, document, "
                f"label), this line has {len(fields)}"
            )
        query, _, document, label = fields
        labels = found.setdefault(query, {})
        if document in labels:
            raise ValueError(f"{file}, line {number}: {document} of {query} is judged twice")
        labels[document] = finite_number(label, "label", file, number)
    if not found:
        raise ValueError(f"{file} has no judgements")
    return found


def read_trec_run(path: str | os.PathLike[str], qrels: Judgements) -> Run:
    """Read a TREC run: lines of query, Q0, document number, rank, score, tag.

    Parameters
    ----------
    path : path
        Ranks in the file are ignored: documents are ranked by score, as in trec_eval.
    qrels : dict
        Judgements from `read_qrels`.  All judged queries are included: for a query that is not in
        the run, no document is returned.  Queries of the run that are not judged are left out.  As
        in trec_eval, a label below 0 marks an unjudged document: it counts as label 0, and is left
        out by metrics of judged documents such as bpref.

    Raises
    ------
    ValueError
        For a malformed line or a document that is returned twice, with the line number; if no query
        of the run is judged.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lambdaplus.data import read_trec_run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "bm25.run")
    ...     _ = file.write_text("q1 Q0 d2 1 7.5 bm25\\nq1 Q0 d9 2 6.5 bm25\\n")
    ...     run = read_trec_run(file, {"q1": {"d1": 1.0, "d2": 0.0}})
    >>> run.docno.tolist(), run.returned.tolist(), run.judged.tolist()
    (['d2', 'd9', 'd1'], [True, True, False], [True, False, True])
    """
    file = Path(path)
    scores: Judgements = {}
    for number, fields in fields_of_lines(file):
        if len(fields) != 6:
            raise ValueError(
                f"{file}, line {number}: a line of a run has 6 fields (query, Q0, document, rank, "
                f"score, tag), this one has {len(fields)}"
            )
        query, _, document, _, score, _ = fields
        documents = scores.setdefault(query, {})
        if document in documents:
            raise ValueError(f"{file}, line {number}: {document} of {query} is returned twice")
        documents[document] = finite_number(score, "score", file, number)
    for query, judgements in qrels.items():
        for document, value in judgements.items():
            if not isinstance(value, Real) or not math.isfinite(value):
                raise ValueError(
                    f"the label of {document} in {query} is {value!r}, not a finite number"
                )
    if not scores.keys() & qrels.keys():
        raise ValueError(f"no query of {file} is among the {len(qrels)} judged ones")
    rows = []  # qid, label, score, docno, returned, judged
    for query, judgements in qrels.items():
        found = scores.get(query, {})
        below = math.nextafter(min(found.values(), default=0.0), -math.inf)
        known = {document: value for document, value in judgements.items() if value >= 0.0}
        # Documents that are neither returned nor judged are only added if a query has no others.
        rows += [
            (
                query,
                known.get(document, 0.0),
                found.get(document, below),
                document,
                document in found,
                document in known,
            )
            for document in {**found, **known} or judgements
        ]
    qid, label, column, docno, returned, judged = (np.array(c) for c in zip(*rows, strict=True))
    return Run(_name(file), label, column, qid, docno, returned, judged)


def read_table(
    path: str | os.PathLike[str],
    *,
    qid: str = "qid",
    label: str = "label",
    score: str = "score",
    docno: str | None = None,
) -> Run:
    """Read a run from a CSV or Parquet file; the rows of a query do not have to be adjacent.

    Parameters
    ----------
    path : path
        The name ends in .csv or .parquet.
    qid, label, score : str
        Names of the columns.
    docno : str, optional
        Column of document numbers.

    Raises
    ------
    ValueError
        For a missing column (the message lists the others), a label or score that is not a finite
        number, and an identifier that is empty or a float of 2**53 or more.
    ImportError
        If polars is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lambdaplus.data import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "ours.csv")
    ...     _ = file.write_text("qid,label,score\\n1,0,0.5\\n2,1,0.75\\n1,1,0.25\\n")
    ...     read_table(file).qid.tolist()
    [1, 1, 2]
    """
    file = Path(path)
    wanted = [qid, label, score, *([docno] if docno else [])]
    named = [qid, *([docno] if docno else [])]
    frame = read_frame(file, wanted, text=named)
    ids = {name: identifier_column(file, frame[name]) for name in named}
    columns = {name: finite_column(file, frame[name]) for name in (label, score)}
    rows = rows_by_query(ids[qid])
    numbers = ids[docno].astype(np.str_)[rows] if docno else None
    return Run(_name(file), columns[label][rows], columns[score][rows], ids[qid][rows], numbers)


def _name(file: Path) -> str:
    return file.name.split(".")[0]
