"""Runs, which are scores of a system for a set of queries, and their readers."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from lambdaplus.data.arguments import (
    flags_of_rows,
    identifiers,
    number_of,
    plain,
    refuse_rounding,
)
from lambdaplus.data.letor import numbered_lines
from lambdaplus.data.queries import Queries, rows_by_query
from lambdaplus.data.ranking_data import RankingData
from lambdaplus.data.table_files import TableFile

Judgements = dict[str, dict[str, float]]


@dataclass(frozen=True, eq=False)
class Run:
    """Scores and labels of documents, (n,) arrays; the rows of a query must be adjacent.

    Documents that were not returned have scores below those of the others, and documents that were
    not judged have label 0, and are ignored by metrics such as bpref.
    """

    name: str
    labels: Any
    scores: Any
    qid: Any
    docno: Any = None
    returned: Any = None
    judged: Any = None

    @property
    def queries(self) -> Queries:
        """The checked queries of the run."""
        labels, qid = plain(self.labels, "labels"), identifiers(self.qid)
        queries = Queries(labels, qid=qid)
        if self.returned is None:
            return queries
        returned = flags_of_rows(self.returned, queries.n_documents, "returned")
        counts = np.add.reduceat(returned.astype(np.int64), queries.boundaries[:-1])
        return Queries(labels, qid=qid, returned=counts)


def read_scores(path: str | os.PathLike[str], data: RankingData) -> Run:
    """Read scores of the documents of a LETOR or svmlight file, one number per line.

    A ValueError is raised for a line that is not a finite number, and for too few or too many.

    Parameters
    ----------
    path : path
        A file with one line for each row of the data, in the same order; .gz and .xz are supported.
    data : RankingData
    """
    file = Path(path)
    scores = []
    for where, fields in _fields_of_lines(file):
        if len(fields) != 1:
            raise ValueError(f"{where}: one score is expected, not {len(fields)}")
        scores.append(_finite_number(fields[0], f"{where}: the score"))
    if len(scores) != len(data.labels):
        raise ValueError(f"{file} has {len(scores)} scores for {len(data.labels)} documents")
    return Run(_name(file), data.labels, np.array(scores), data.qid)


def read_qrels(path: str | os.PathLike[str]) -> Judgements:
    """Read TREC relevance judgements: lines of query, iteration, document number, label.

    A ValueError is raised for a malformed line or a document that is judged twice, with the line
    number, and for a file without judgements.

    Returns
    -------
    dict of str to dict of str to float
        Label by query and document number.  A label below 0 marks an unjudged document.
    """
    fields = "query", "iteration", "document", "label"
    judgements = _values_of_documents(Path(path), "judgement", fields, "label", "judged")
    if not judgements:
        raise ValueError(f"{path} has no judgements")
    return judgements


def read_trec_run(path: str | os.PathLike[str], qrels: Judgements) -> Run:
    """Read a TREC run: lines of query, Q0, document number, rank, score, tag.

    A ValueError is raised for a malformed line or a document that is returned twice, with the line
    number, and if no query of the run is judged.

    Parameters
    ----------
    path : path
        Ranks in the file are ignored: documents are ranked by score, as in trec_eval.
    qrels : dict
        Judgements from `read_qrels`.  All judged queries are included: for a query that is not in
        the run, no document is returned.  Queries of the run that are not judged are left out.  As
        in trec_eval, a label below 0 marks an unjudged document: it counts as label 0, and is left
        out by metrics of judged documents such as bpref.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lambdaplus.data import read_qrels, read_trec_run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     qrels, file = pathlib.Path(folder, "qrels.txt"), pathlib.Path(folder, "bm25.run")
    ...     _ = qrels.write_text("q1 0 d1 1\\nq1 0 d2 0\\n")
    ...     _ = file.write_text("q1 Q0 d2 1 7.5 bm25\\nq1 Q0 d9 2 6.5 bm25\\n")
    ...     run = read_trec_run(file, read_qrels(qrels))
    >>> run.docno.tolist(), run.returned.tolist(), run.judged.tolist()
    (['d2', 'd9', 'd1'], [True, True, False], [True, False, True])
    """
    file = Path(path)
    fields = "query", "Q0", "document", "rank", "score", "tag"
    scores = _values_of_documents(file, "line of a run", fields, "score", "returned")
    for query, judgements in qrels.items():
        for document, value in judgements.items():
            if not isinstance(value, Real) or not math.isfinite(value):
                raise ValueError(
                    f"the label of {document} in {query} is {value!r}, not a finite number"
                )
    if not scores.keys() & qrels.keys():
        raise ValueError(f"no query of {file} is among the {len(qrels)} judged ones")
    rows = []
    for query, judgements in qrels.items():
        found = scores.get(query, {})
        below = math.nextafter(min(found.values(), default=0.0), -math.inf)
        known = {document: value for document, value in judgements.items() if value >= 0.0}
        # Documents that are neither returned nor judged are only added if a query has no others.
        for document in {**found, **known} or judgements:
            label, score = known.get(document, 0.0), found.get(document, below)
            rows.append((label, score, query, document, document in found, document in known))
    return Run(_name(file), *map(np.array, zip(*rows, strict=True)))


def read_table(
    path: str | os.PathLike[str],
    *,
    qid: str = "qid",
    label: str = "label",
    score: str = "score",
    docno: str | None = None,
) -> Run:
    """Read a run from a CSV or Parquet file; the rows of a query do not have to be adjacent.

    Errors are those of `read_columns`; a score has to be a finite number.

    Parameters
    ----------
    path : path
        The name ends in .csv or .parquet.
    qid, label, score : str
        Names of the columns.
    docno : str, optional
        Column of document numbers.
    """
    named = [qid, *([docno] if docno else [])]
    table = TableFile(Path(path), [*named, label, score])
    ids = {name: table.identifiers(name) for name in named}
    labels, scores = table.numbers(label), table.numbers(score)
    rows = rows_by_query(ids[qid])
    numbers = ids[docno].astype(np.str_)[rows] if docno else None
    return Run(_name(table.file), labels[rows], scores[rows], ids[qid][rows], numbers)


def _values_of_documents(
    file: Path, line: str, names: tuple[str, ...], what: str, verb: str
) -> Judgements:
    """The value of each document by query and document, from lines with these fields."""
    values: Judgements = {}
    for where, fields in _fields_of_lines(file):
        if len(fields) != len(names):
            raise ValueError(
                f"{where}: a {line} has {len(names)} fields ({', '.join(names)}), this one has "
                f"{len(fields)}"
            )
        query, document = fields[0], fields[2]
        documents = values.setdefault(query, {})
        if document in documents:
            raise ValueError(f"{where}: {document} of {query} is {verb} twice")
        documents[document] = _finite_number(fields[names.index(what)], f"{where}: the {what}")
    return values


def _fields_of_lines(file: Path) -> Iterator[tuple[str, list[str]]]:
    """Where each non-blank line is, and its fields."""
    for number, line in numbered_lines(file):
        # Invalid UTF-8 bytes are kept distinct, so that different document numbers stay different.
        if fields := line.decode(errors="backslashreplace").split():
            yield f"{file}, line {number}", fields


def _finite_number(text: str, what: str) -> float:
    try:
        number = number_of(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{what} {text!r} is not a finite number")
    if re.fullmatch("[+-]?[0-9]{16,}", text):
        refuse_rounding([int(text)], what)
    return number


def _name(file: Path) -> str:
    return file.name.split(".")[0]
