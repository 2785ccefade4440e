"""Readers of files of TREC: judgements (qrels) and runs."""

import os
from collections.abc import Sequence
from pathlib import Path

from lambdaplus.compute.messages import warn
from lambdaplus.data.merged_numbers import refuse_merged
from lambdaplus.data.run_files import run_name
from lambdaplus.data.text_fields import fields_of_lines, finite_number
from lambdaplus.lists.runs import Run, run_of_dictionaries
from lambdaplus.lists.spellings import as_read

Judgements = dict[str, dict[str, float]]
_HEADER_OF_BEIR = ["query-id", "corpus-id", "score"]


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
    return run_of_dictionaries(qrels, scores, run_name(file), str(file))


def _values_of_documents(
    file: Path, line: str, forms: Sequence[str], verb: str
) -> tuple[Judgements, str]:
    """Read the value of each line, by query and document, and its name: score, label or rank.

    ``forms`` are names of the fields, of which the number of fields in the first line chooses one.
    """
    values: Judgements = {}
    names: list[str] = []
    what, seen = "", dict[str, dict[float, str]]()
    for where, fields in fields_of_lines(file):
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
        documents[document] = finite_number(text, f"{where}: the {what}")
        if what == "score":
            refuse_merged(str(file), [text], seen.setdefault(query, {}))
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
