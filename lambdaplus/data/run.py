"""A run: the scores of a system for a set of queries, as readers give it to an evaluation.

Examples
--------
>>> from lambdaplus.data.run import Run
>>> run = Run("bm25", labels=[1, 0, 1], scores=[2.0, 1.5, 0.5], qid=["q1", "q1", "q1"])
>>> run.queries.n_queries
1
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lambdaplus.data.arrays import flags_of_rows, identifiers, plain
from lambdaplus.data.queries import Queries


@dataclass(frozen=True, eq=False)
class Run:
    """Scores and labels of documents; the rows of a query must be adjacent.

    Attributes
    ----------
    name : str
    labels, scores : (n,) array
    qid : (n,) array
    docno : (n,) array of str, optional
        Document numbers.
    returned : (n,) array of bool, optional
        False for judged documents that the system did not return; their scores must be below
        those of the others.
    judged : (n,) array of bool, optional
        False for unjudged documents: they have label 0, and metrics such as bpref ignore them.
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
        qid = identifiers(self.qid)
        whole = Queries(plain(self.labels, "labels"), qid=qid)
        if self.returned is None:
            return whole
        returned = flags_of_rows(self.returned, whole.n_documents, "returned")
        counts = np.add.reduceat(returned.astype(np.int64), whole.boundaries[:-1])
        return Queries(whole.labels, qid=qid, returned=counts)
