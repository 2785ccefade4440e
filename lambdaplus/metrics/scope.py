"""What a metric ranks together: each query, or all rows of the data."""

from typing import Any, cast

import numpy as np

from lambdaplus.lists.queries import Kind, Queries
from lambdaplus.metrics.label_counts import as_declared
from lambdaplus.metrics.parameters import OVER
from lambdaplus.metrics.ranking_metric import RankingMetric


def scope(metric: RankingMetric, queries: Queries, one_group: bool = False) -> Queries:
    """What the metric ranks together: each query, or all rows of the data set.

    A ValueError is raised if a metric of queries gets none, as ``group=`` may have been forgotten.
    """
    ignores_queries = OVER in metric.declaration.parameters and metric["over"] == "dataset"
    lists = queries
    if ignores_queries or queries.kind is Kind.WEIGHTED_ROWS:
        kind = metric.kind_of_rows or (Kind.ONE_LIST if one_group else None)
        if kind is None:
            raise ValueError(
                f"{metric} ranks the documents of each query, but the data has no queries: set "
                "group= (or qid=); if all rows are one ranking, pass one_group=True to evaluate, "
                f"eval_metric or gradients, or train with lambda_objective({str(metric)!r}, "
                "one_group=True)"
            )
        lists = queries.of_kind(kind)
    if metric.compares_some:
        return lists.once(("labels", metric), lambda: _relabelled(metric, lists))
    of_middle = metric.declaration.pooled == "middle"
    return lists.with_rescaled_multiplicities() if of_middle else lists


def _relabelled(metric: RankingMetric, queries: Queries) -> Queries:
    """The same documents with the labels that the metric sees."""
    # Of all workers, which must number labels alike.
    workers, renumber = queries.workers_of_list, metric.declaration.form.labels
    different = np.unique(workers.concatenate(np.unique(queries.labels)))
    numbers = as_declared(metric, "labels", cast(Any, renumber)(metric, different), different)
    return queries.with_labels(numbers[np.searchsorted(different, queries.labels)])
