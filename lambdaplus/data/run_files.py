"""Readers of runs: the scores of a system for the documents of some queries."""

import math
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from lambdaplus.compute.arguments import number_of
from lambdaplus.compute.messages import warn
from lambdaplus.data.merged_numbers import refuse_merged
from lambdaplus.data.ranking_data import RankingData
from lambdaplus.data.table_files import TableFile
from lambdaplus.lists.runs import Run, run_of_dictionaries
from lambdaplus.lists.spellings import as_read
from lambdaplus.saved_model.exact_numbers import changed
from lambdaplus.saved_model.files import LONGEST_LINE, opened
from lambdaplus.saved_model.words import require

Judgements = dict[str, dict[str, float]]
_HEADER_OF_BEIR = ["query-id", "corpus-id", "score"]


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
    scores, seen = [], dict[float, str]()
    for where, fields in _fields_of_lines(file):
        if len(fields) != 1:
            raise ValueError(f"{where}: there must be one score, not {len(fields)}")
        scores.append(_finite_number(fields[0], f"{where}: the score"))
        refuse_merged(str(file), fields, seen)
    if len(scores) != len(data.labels):
        raise ValueError(f"{file} has {len(scores)} scores for {len(data.labels)} documents")
    return Run(_name(file), data.labels, np.array(scores), data.qid)


def read_qrels(path: str | os.PathLike[str]) -> Judgements:
    """Read TREC relevance judgements: lines of query, iteration, document number, label.

    Parameters
    ----------
    path : str or path-like
        A text file; .gz and .xz are supported.  Lines without an iteration, as in MS MARCO, and
        files of BEIR, which have a header, are read as well.

    Returns
    -------
    dict of str to dict of str to float
        Label by query and document number.  A label below 0 marks an unjudged document.

    Raises
    ------
    FileNotFoundError, ValueError
        If the file does not exist or has no judgements, a line is malformed, or a document is
        judged twice (the message gives the line).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lambdaplus.data import read_qrels
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "qrels.txt")
    ...     _ = file.write_text("q1 0 d1 1\\nq1 0 d2 0\\n")
    ...     qrels = read_qrels(file)
    >>> qrels
    {'q1': {'d1': 1.0, 'd2': 0.0}}
    """
    forms = "query iteration document label", "query document label"
    judgements, _ = _values_of_documents(Path(path), "judgement", forms, "judged")
    if not judgements:
        raise ValueError(f"{path} has no judgements")
    return judgements


def read_trec_run(path: str | os.PathLike[str], qrels: Judgements) -> Run:
    """Read a TREC run: lines of query, Q0, document number, rank, score, tag.

    Parameters
    ----------
    path : str or path-like
        A text file; .gz and .xz are supported.  As in trec_eval, documents are ranked by score, and
        the ranks in the file are ignored.  Lines may also be those of MS MARCO: query, document
        number, rank.
    qrels : dict
        Judgements from `read_qrels`.

    Returns
    -------
    Run
        All judged queries and their judged documents, returned or not, and the other documents that
        were returned for these queries.  Queries without judgements are left out.

    Raises
    ------
    FileNotFoundError, ValueError
        If the file does not exist, a line is malformed, a document is returned twice (the message
        gives the line), ranks without scores are not 1, 2, 3, ..., a label is not a
        finite number, or no query of the run is judged.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from lambdaplus.data import read_qrels, read_trec_run
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     qrels, file = pathlib.Path(folder, "qrels.txt"), pathlib.Path(folder, "bm25.run")
    ...     _ = qrels.write_text("q1 0 d1 1\\nq1 0 d2 0\\n")
    ...     _ = file.write_text("q1 Q0 d2 1 7.5 bm25\\nq1 Q0 d9 2 6.5 bm25\\n")
    ...     run = read_trec_run(file, read_qrels(qrels))
    >>> run.docno.tolist(), run.returned.tolist()
    (['d2', 'd9', 'd1'], [True, True, False])
    """
    file = Path(path)
    forms = "query Q0 document rank score tag", "query document rank"
    scores, what = _values_of_documents(file, "line of a run", forms, "returned")
    if what == "rank":
        scores = _scores_of_ranks(scores, file)
    _warn_of_spellings(scores, qrels, file)
    return run_of_dictionaries(qrels, scores, _name(file), str(file))


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
    run = Run(_name(table.file), labels, scores, queries, documents)
    return run.by_query() if qid else run


def _values_of_documents(
    file: Path, line: str, forms: Sequence[str], verb: str
) -> tuple[Judgements, str]:
    """Read the value of each line, by query and document, and its name: score, label or rank.

    ``forms`` are names of the fields, of which the number of fields in the first line chooses one.
    """
    values: Judgements = {}
    names: list[str] = []
    what, seen = "", dict[float, str]()
    for where, fields in _fields_of_lines(file):
        if not names:
            of_forms = [form.split() for form in forms]
            names = next((form for form in of_forms if len(form) == len(fields)), of_forms[0])
            what = "score" if "score" in names else names[-1]
            if fields == _HEADER_OF_BEIR and what == "label":
                continue
        if len(fields) != len(names):
            raise ValueError(
                f"{where}: a {line} has {len(names)} fields ({', '.join(names)}), this one has "
                f"{len(fields)}"
            )
        query, document = fields[0], fields[names.index("document")]
        documents = values.setdefault(query, {})
        if document in documents:
            raise ValueError(f"{where}: {document} of {query} is {verb} twice")
        text = fields[names.index(what)]
        documents[document] = _finite_number(text, f"{where}: the {what}")
        if what == "score":
            refuse_merged(str(file), [text], seen)
    return values, what


def _warn_of_spellings(scores: Judgements, qrels: Judgements, file: Path) -> None:
    """Warn of queries that are left out and of value 0, since the files spell them in two ways."""
    missing = {as_read(query.lstrip("0")): query for query in qrels.keys() - scores.keys()}
    for query in sorted(scores.keys() - qrels.keys()):
        if judged := missing.get(as_read(query.lstrip("0"))):
            warn(
                f"{file} has the query {query}, which is not judged, and not {judged}, which is: "
                "if they are one, write it in one way"
            )
            return


def _scores_of_ranks(ranks: Judgements, file: Path) -> Judgements:
    for query, of_documents in ranks.items():
        if sorted(of_documents.values()) != [*range(1, len(of_documents) + 1)]:
            raise ValueError(
                f"{file}: a run of three columns has query, document and rank, but the ranks of "
                f"{query} are not 1, 2, 3, ... With scores, lines are: query Q0 document rank "
                "score tag"
            )
    return {query: {d: -rank for d, rank in ranks[query].items()} for query in ranks}


def _fields_of_lines(file: Path) -> Iterator[tuple[str, list[str]]]:
    """The place of each line that is not blank, for messages, and its fields.

    A ValueError is raised for a damaged file, and for a NUL character or a carriage return within a
    line, which could hide a second row.
    """
    with opened(file) as stream:
        lines = iter(partial(stream.readline, LONGEST_LINE), b"")
        for number, line in enumerate(lines, 1):
            where = f"{file}, line {number}"
            if len(line) == LONGEST_LINE:
                raise ValueError(f"{where}: {LONGEST_LINE:,} bytes or more")
            if b"\0" in line:
                raise ValueError(f"{where}: a NUL character")
            if b"\r" in line.rstrip(b"\r\n"):
                raise ValueError(f"{where}: a carriage return within a line")
            text = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            # Invalid UTF-8 is escaped, so that different document numbers stay different.
            if fields := text.decode(errors="backslashreplace").split():
                yield where, fields


def _finite_number(text: str, what: str) -> float:
    try:
        number = number_of(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{what} {text!r} is not a finite number")
    if abs(number) >= 2.0**53 and (why := changed(text, number)):
        raise ValueError(f"{what}{why}")
    return number


def _name(file: Path) -> str:
    return file.name.split(".")[0]
