"""A system's scores for a set of queries, and what it evaluates to.

Examples
--------
>>> from lambdaplus.evaluation.runs import Run, evaluate_run
>>> run = Run("bm25", labels=[1, 0, 1], scores=[2.0, 1.5, 0.5], qid=["q1", "q1", "q1"])
>>> round(evaluate_run(run, ["map"])["map"], 4)
0.8333
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lambdaplus.evaluation.conventions import Convention, Empty, TieRule, find_convention
from lambdaplus.evaluation.evaluate import choose_metrics, evaluate_queries
from lambdaplus.evaluation.result import Evaluation, Metric
from lambdaplus.metrics import RankingMetric
from lambdaplus.queries import Queries


@dataclass(frozen=True, eq=False)
class Run:
    """Scores of documents, with their labels; the rows of a query adjacent.

    Attributes
    ----------
    name : str
    labels, scores : (n,) array
    qid : (n,) array
    docno : (n,) array of str, optional
        Document numbers.
    returned : (n,) array of bool, optional
        False for documents that are judged but that the system did not return; their scores must
        be below those of the others.
    judged : (n,) array of bool, optional
        False for documents that nobody judged: of label 0, and left out by metrics such as bpref.
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
        """The run's queries, checked."""
        if self.returned is None:
            return Queries(self.labels, qid=self.qid)
        starts = Queries(self.labels, qid=self.qid).boundaries[:-1]
        counts = np.add.reduceat(np.asarray(self.returned, dtype=np.int64), starts)
        return Queries(self.labels, qid=self.qid, returned=counts)

    def rows(self, chosen: NDArray[np.bool_]) -> Run:
        """The run on some of its rows."""
        arrays: dict[str, Any] = {
            name: np.asarray(getattr(self, name))[chosen]
            for name in ("labels", "scores", "qid", "docno", "returned", "judged")
            if getattr(self, name) is not None
        }
        return replace(self, **arrays)


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
        For runs, metrics or options that can't be used.
    """
    found = find_convention(convention)
    chosen = choose_metrics(list(metrics), options, found)

    def on(run: Run, metrics: list[RankingMetric]) -> Evaluation:
        queries = run.queries
        return evaluate_queries(
            metrics,
            queries,
            run.scores,
            convention=found,
            ties=ties,
            empty=empty,
            docno=run.docno,
            qid=np.asarray(run.qid)[queries.boundaries[:-1]],
        )

    whole = on(run, chosen)
    unjudged = [metric for metric in chosen if metric.declaration.judged_only]
    if run.judged is None or not unjudged:
        return whole
    # Every query has judged documents: its labels come from them.
    part = on(run.rows(np.asarray(run.judged, dtype=bool)), unjudged)
    return replace(
        whole,
        per_query={**whole.per_query, **part.per_query},
        mean={**whole.mean, **part.mean},
        undefined={**whole.undefined, **part.undefined},
        conventions={**whole.conventions, **part.conventions},
    )
