"""Evaluation of a run.

Examples
--------
>>> from lambdaplus.data.run_files import Run
>>> from lambdaplus.evaluation.evaluate_run import evaluate_run
>>> run = Run("bm25", labels=[1, 0, 1], scores=[2.0, 1.5, 0.5], qid=["q1", "q1", "q1"])
>>> round(evaluate_run(run, ["map"])["map"], 4)
0.8333
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lambdaplus.data.arrays import identifiers
from lambdaplus.data.run_files import Run
from lambdaplus.evaluation.conventions import Convention, Empty, TieRule, find_convention
from lambdaplus.evaluation.result import Evaluation
from lambdaplus.evaluation.scoring import choose_metrics, evaluate_queries
from lambdaplus.metrics import Metric


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
