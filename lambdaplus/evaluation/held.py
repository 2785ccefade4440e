"""Labels and scores as a tool stores them, and the judged documents.

Examples
--------
>>> from lambdaplus.evaluation.conventions import CONVENTIONS
>>> from lambdaplus.evaluation.held import as_held
>>> from lambdaplus.data.queries import Queries
>>> queries = Queries([1, -1, 0], group=[3])
>>> queries, scores, judged = as_held(CONVENTIONS["trec"], queries, [1.00000001, 1.0, 2.0], None)
>>> queries.labels.tolist(), scores.tolist(), judged.tolist()
([1.0, 0.0, 0.0], [1.0, 1.0, 2.0], [True, False, True])
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaplus.data.arrays import flags_of_rows, plain
from lambdaplus.data.queries import Floats, Queries
from lambdaplus.evaluation.conventions import Convention

_Bools = NDArray[np.bool_]
_BEYOND = 1e39  # replaces infinity in float32, so that all infinite scores are tied


def as_held(
    convention: Convention, queries: Queries, scores: Any, judged: Any
) -> tuple[Queries, Any, _Bools | None]:
    """Queries, scores and judged documents as stored by the tool of this convention."""
    scores = plain(scores, "scores")
    judged = None if judged is None else flags_of_rows(judged, queries.n_documents, "judged")
    if convention.single:
        scores = _single(queries, queries.check_scores(scores))
    if convention.unjudged and (queries.labels < 0).any():
        known = queries.labels >= 0
        judged = known if judged is None else known & judged
        queries = Queries(
            np.maximum(queries.labels, 0.0),
            group=queries.sizes if queries.grouped else None,
            weight=queries.weights,
            returned=queries.returned,
        )
    return queries, scores, judged


def _single(queries: Queries, scores: Floats) -> Floats:
    """Scores rounded to float32; documents that were not returned stay below the others."""
    with np.errstate(over="ignore"):
        found = scores.astype(np.float32).astype(np.float64)
    found = np.clip(found, -_BEYOND, _BEYOND)
    if queries.returned is not None:
        found[~_returned(queries, scores)] = -2 * _BEYOND
    return found


def _returned(queries: Queries, scores: Floats) -> _Bools:
    """Whether a document was returned for its query, (n,)."""
    query = np.repeat(np.arange(queries.n_queries), queries.sizes)
    order = np.lexsort((-scores, query))
    rank = np.arange(scores.size) - queries.boundaries[:-1][query]
    found = np.empty(scores.size, dtype=bool)
    found[order] = rank < (queries.sizes if queries.returned is None else queries.returned)[query]
    return found


def judged_part(queries: Queries, scores: Floats, judged: _Bools) -> tuple[Queries, _Bools] | None:
    """The queries without unjudged documents, and which queries have judged documents.

    None if no document was judged.
    """
    if not judged.any():
        return None
    starts = queries.boundaries[:-1]
    sizes = np.add.reduceat(judged.astype(np.int64), starts)
    found = judged & _returned(queries, scores)
    returned = np.add.reduceat(found.astype(np.int64), starts)
    some = sizes > 0
    part = Queries(queries.labels[judged], group=sizes[some], returned=returned[some])
    return part, some
