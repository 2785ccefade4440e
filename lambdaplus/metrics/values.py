"""The value of a metric on every query.

Tied documents contribute the mean over their orders, in closed form: the expected counts above a
rank in a block of ties are linear in the rank.  For metrics with probabilistic or gradual stops
(ERR, bpref) there is no closed form, and ties are evaluated in their worst order.  On one ungrouped
data set a threshold cannot split tied rows, so they enter together, as in scikit-learn.  Other
rules can be selected.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from lambdaplus.metrics.arrays import MetricArrays, metric_arrays
from lambdaplus.metrics.declaration import RankingMetric
from lambdaplus.metrics.forms import CountAbove, Gains, Window
from lambdaplus.parallel import over_queries
from lambdaplus.queries import Floats, Queries
from lambdaplus.ranking import Ranking, split_ties

Ties = Literal["expected", "worst", "best", "stable", "together"]


def values(
    metric: RankingMetric,
    queries: Queries,
    ranking: Ranking,
    ties: Ties | None = None,
    order: Floats | None = None,
) -> Floats:
    """Value of a metric on each query.

    Parameters
    ----------
    metric : RankingMetric
    queries : Queries
    ranking : Ranking
        Ranking of the same queries.
    ties : {"expected", "worst", "best", "stable", "together"}, optional
        Rule for tied documents: the mean over their orders; their worst or best order; the order
        of the rows; or all as one step, as at a threshold.  See above for the default.
    order : (n,) float64, optional
        With ``ties="stable"``, the order of the rows if it is not that of the data.

    Returns
    -------
    (n_queries,) float64
        NaN if the metric is not defined, for example without a relevant document.

    Raises
    ------
    ValueError
        If the metric does not support this rule for ties.
    """
    if ties not in (None, *get_args(Ties)):
        raise ValueError(f"ties={ties!r} is not one of {', '.join(get_args(Ties))}")
    arrays, pooled = metric_arrays(metric, queries), metric.declaration.pooled
    form = metric.declaration.form
    if ties in ("worst", "best"):
        if isinstance(form, Window) and not metric.declaration.binary:
            raise ValueError(f"{metric} has no worst order of ties: use ties='expected'")
        merit = arrays.gain if isinstance(form, Gains) else np.arange(float(arrays.gain.size))
        merit = merit[_stratum(queries, arrays)]
        ranking = split_ties(queries, ranking, merit if ties == "worst" else -merit)
    elif ties == "stable":
        rows = np.arange(float(queries.n_documents)) if order is None else order
        ranking = split_ties(queries, ranking, rows)
    elif ties == "together" and pooled is None:
        raise ValueError(f"{metric} does not support ties='together', which needs a threshold")
    elif ties == "expected" and not metric.declaration.closed_ties:
        raise ValueError(
            f"the mean of {metric} over the orders of ties has no closed form: use ties='worst', "
            "'best' or 'stable'"
        )
    elif ties == "expected" and pooled == "last" and queries.multiplicities is not None:
        raise ValueError(f"{metric} of weighted rows without queries: use ties='together'")
    if pooled is not None and (
        ties == "together"
        or (not queries.grouped and (ties is None or queries.weights is not None))
    ):
        return _by_steps(metric, queries, ranking)
    ranked = queries.sizes
    # Documents that were not returned have no rank; sums of ranks put them last.
    if queries.returned is not None and arrays.discount[0] > 0.0:
        ranked = queries.returned
    total = np.empty(queries.n_queries)
    over_queries(
        form.value_kernel, queries.boundaries, queries.boundaries, ranked, ranking.row,
        ranking.score, arrays.relevance, arrays.discount, arrays.first, arrays.gain, total,
        *arrays.parts,
    )  # fmt: skip
    return _complete(arrays, total)


def _complete(arrays: MetricArrays, total: Floats) -> Floats:
    """The values of queries from the sums over their ranks; NaN if a query has no value."""
    with np.errstate(invalid="ignore"):
        return np.where(arrays.scale > 0, arrays.scale * (arrays.offset + total), np.nan)


def _stratum(queries: Queries, arrays: MetricArrays) -> Any:
    """Stratum of each row, (n,) int64."""
    return np.repeat(arrays.first[:-1], queries.sizes) + arrays.relevance


def _by_steps(metric: RankingMetric, queries: Queries, ranking: Ranking) -> Floats:
    """The metric with tied rows taken as one step, rows weighted by their multiplicities."""
    arrays, copies = metric_arrays(metric, queries), queries.multiplicities
    n, begin = queries.n_documents, queries.boundaries[:-1]
    times = np.ones(n) if copies is None else copies[ranking.row]
    stratum = _stratum(queries, arrays)[ranking.row]
    ends_block = np.ones(n, dtype=bool)
    ends_block[:-1] = ranking.score[1:] != ranking.score[:-1]
    ends_block[queries.boundaries[1:] - 1] = True
    ends = np.flatnonzero(ends_block)
    block = np.cumsum(ends_block) - ends_block
    query = np.repeat(np.arange(queries.n_queries), queries.sizes)

    def upto(amount: Floats) -> Floats:
        """Sum over the query down to the end of the block of each row."""
        total = np.concatenate([[0.0], np.cumsum(amount)])
        return np.asarray(total[ends + 1][block] - total[begin][query])

    ranks = upto(times)
    if metric.declaration.pooled == "middle":  # the mean rank of the copies of a block
        ranks -= (np.add.reduceat(times, np.append(0, ends[:-1] + 1))[block] - 1.0) / 2
    ranks = np.where(ranks > 0, ranks, 1.0)  # rows of weight 0 at the very top
    term = arrays.gain[stratum]
    if isinstance(metric.declaration.form, CountAbove):  # all tied rows are above, but the copy
        row, column = (part[stratum] for part in arrays.parts[:2])
        term = (term - row * column) + row * upto(times * column)
    return _complete(arrays, np.add.reduceat(times * term * metric.discounts(ranks), begin))
