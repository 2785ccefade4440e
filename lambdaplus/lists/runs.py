"""`Run`: the scores of a system for the documents of some queries, and their labels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.lists.keys import identifiers
from lambdaplus.lists.order import rows_by_query
from lambdaplus.lists.queries import Queries
from lambdaplus.lists.vectors import checked_array, refuse_rounding

Labels = ArrayLike | Mapping[Any, Mapping[Any, float]]
"""Labels or scores: (n,), or a value by query and document number."""


@dataclass(frozen=True, eq=False)
class Run:
    """Scores and labels of the documents of some queries.

    Attributes
    ----------
    name : str
        Of a run that is read from a file: the file's name up to the first dot.
    labels, scores : (n,) array_like
    qid : (n,) array_like of int or str, or None
        The query of each row; the rows of a query are adjacent.  Without ``qid`` and ``group``, all
        rows are one ranking.
    docno : (n,) array_like of str, optional
    returned : (n,) array_like of bool, optional
        Documents that were not returned have the lowest scores.
    group : (n_queries,) array_like of int, optional
        Query sizes, instead of ``qid``.
    weight : (n,) array_like, optional
        Row weights.

    Examples
    --------
    >>> from lambdaplus.data import Run
    >>> Run("bm25", labels=[1, 0, 0], scores=[7.5, 6.5, 1.0], qid=["a", "a", "b"]).queries.n_queries
    2
    """

    name: str
    labels: Any
    scores: Any
    qid: Any = None
    docno: Any = None
    returned: Any = None
    group: Any = None
    weight: Any = None

    @cached_property
    def queries(self) -> Queries:
        """Checked labels, queries and weights."""
        optional = {"group": self.group, "weight": self.weight, "returned": self.returned}
        return Queries(self.labels, qid=self.qid, **optional)

    @property
    def query_ids(self) -> NDArray[Any]:
        """The identifier of each query, (n_queries,): its qid, or 0, 1, ..."""
        return self.queries.ids

    def by_query(self) -> Run:
        """The run with the rows of each query adjacent, otherwise in their order."""
        ids = identifiers(self.qid)
        rows = rows_by_query(ids)
        if (rows[1:] > rows[:-1]).all():
            return replace(self, qid=ids)
        changed: dict[str, Any] = {"qid": ids[rows]}
        for name in ("labels", "scores", "docno", "weight"):
            if getattr(self, name) is not None:
                values = checked_array(getattr(self, name), name)
                if len(values) != ids.size:
                    raise ValueError(f"{name} has {len(values)} rows, but qid has {ids.size}")
                changed[name] = values[rows]
        return replace(self, **changed)


def run_of(labels: Labels, scores: Labels, **given: Any) -> Run:
    """A run from the arguments of `~lambdaplus.evaluation.evaluate`; those not given are None."""
    if isinstance(labels, Mapping) or isinstance(scores, Mapping):
        if not _is_of_queries(labels) or not _is_of_queries(scores):
            raise ValueError(
                "labels and scores must both be arrays, or both dictionaries of a value by query "
                "and document number, {'q1': {'d1': 1}}"
            )
        for name in (name for name, value in given.items() if value is not None):
            raise ValueError(
                f"{name}= cannot be passed with dictionaries: pass flat arrays, one entry per "
                "document"
            )
        return run_of_dictionaries(labels, scores)
    run = Run("", labels, scores, **given)
    return run if run.qid is None or run.group is not None else run.by_query()


def _is_of_queries(values: Any) -> TypeGuard[Mapping[Any, Mapping[Any, Any]]]:
    return isinstance(values, Mapping) and all(isinstance(of, Mapping) for of in values.values())


def run_of_dictionaries(
    qrels: Mapping[Any, Mapping[Any, float]],
    scores: Mapping[Any, Mapping[Any, float]],
    name: str = "run",
    source: str = "the scores",
) -> Run:
    """A run from labels and scores by query and document number, as read from files of TREC.

    This is the form in which pytrec_eval, ir_measures and ranx take judgements and runs.  Raises a
    ValueError as `~lambdaplus.data.read_trec_run` does, and for scores that are not finite numbers.
    """
    _check_values(qrels, "label")
    _check_values(scores, "score")
    if not scores.keys() & qrels.keys():
        raise ValueError(f"no query of {source} is among the {len(qrels)} judged queries")
    rows = []
    for query, judgements in qrels.items():
        returned = scores.get(query, {})
        # Judged documents that were not returned rank below all that were.
        below = math.nextafter(min(returned.values(), default=0.0), -math.inf)
        judged = {document: value for document, value in judgements.items() if value >= 0.0}
        # A query has at least one document: one without a judgement if there is no other.
        for document in {**returned, **judged} or judgements:
            label, score = judged.get(document, 0.0), returned.get(document, below)
            rows.append((label, score, query, document, document in returned))
    if not rows:
        raise ValueError(f"no query of {source} has a document")
    columns: list[Any] = [*zip(*rows, strict=True)]
    # NumPy would merge the queries 1 and "1".
    qid = identifiers(columns[2], "the list of queries")
    docno = identifiers(columns[3], "the list of documents")
    labels, values, given = (np.array(columns[i]) for i in (0, 1, 4))
    return Run(name, labels, values, qid, docno, given)


def _check_values(values: Mapping[Any, Mapping[Any, Any]], what: str) -> None:
    """Raise a ValueError for a label or score that is no finite number, or would be rounded."""
    for query, of_documents in values.items():
        for document, value in of_documents.items():
            where = f"the {what} of {document} in {query}"
            if isinstance(value, Integral):
                refuse_rounding([int(value)], where)
            elif not isinstance(value, Real | np.bool_) or not math.isfinite(value):
                raise ValueError(f"{where} is {value!r}, not a finite number")
