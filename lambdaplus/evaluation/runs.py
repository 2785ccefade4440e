"""Scores of a system for a set of queries, and their evaluation.

Examples
--------
>>> from lambdaplus.evaluation.runs import Run, evaluate_run
>>> run = Run("bm25", labels=[1, 0, 1], scores=[2.0, 1.5, 0.5], qid=["q1", "q1", "q1"])
>>> round(evaluate_run(run, ["map"])["map"], 4)
0.8333
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lambdaplus.arrays import identifiers
from lambdaplus.evaluation.conventions import Convention, Empty, TieRule, find_convention
from lambdaplus.evaluation.held import flags_of_rows
from lambdaplus.evaluation.result import Evaluation
from lambdaplus.evaluation.scoring import checked_queries, choose_metrics, evaluate_queries
from lambdaplus.metrics import Metric
from lambdaplus.queries import Queries


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
        whole = checked_queries(self.labels, None, qid, None)
        if self.returned is None:
            return whole
        returned = flags_of_rows(self.returned, whole.n_documents, "returned")
        counts = np.add.reduceat(returned.astype(np.int64), whole.boundaries[:-1])
        return Queries(whole.labels, qid=qid, returned=counts)


def evaluate_run(
    run: Run,
    metrics: Sequence[Metric],
    *,
    convention: str | Convention = "lambdaplus",
    ties: TieRule | None = None,
    empty: Empty | None = None,
    **options: Any,
) -> Evaluation:
    """Evaluate a run; see `~lambdaplus.evaluation.evaluate` for the options.

    Raises
    ------
    ValueError
        For invalid runs, metrics or options.
    """
    found = find_convention(convention)
    chosen = choose_metrics(list(metrics), options, found)

    queries = run.queries
    return evaluate_queries(
        chosen,
        queries,
        run.scores,
        convention=found,
        ties=ties,
        empty=empty,
        docno=run.docno,
        qid=identifiers(run.qid)[queries.boundaries[:-1]],
        judged=run.judged,
    )
