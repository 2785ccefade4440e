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

from lambdaplus.compiled import compiled
from lambdaplus.metrics.arrays import (
    CASCADE,
    COUNT_ANY,
    COUNT_HIGHER,
    GAINS,
    WINDOW,
    MetricArrays,
    classes_of,
    metric_arrays,
)
from lambdaplus.metrics.declaration import RankingMetric
from lambdaplus.metrics.potentials import coupling, reached
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
    if ties in ("worst", "best"):
        if arrays.kind == WINDOW and not metric.declaration.binary:
            raise ValueError(f"{metric} has no worst order of ties: use ties='expected'")
        merit = arrays.gain if arrays.kind == GAINS else np.arange(float(arrays.gain.size))
        merit = merit[_strata_in_row_order(queries, arrays)]
        ranking = split_ties(queries, ranking, merit if ties == "worst" else -merit)
    elif ties == "stable":
        rows = np.arange(float(queries.n_documents)) if order is None else order
        ranking = split_ties(queries, ranking, rows[queries.row_order])
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
    out = np.empty(queries.n_queries)
    returned = queries.sizes if queries.returned is None else queries.returned
    over_queries(_values, queries.boundaries, queries.boundaries, returned, ranking, arrays, out)
    return out


def _strata_in_row_order(queries: Queries, arrays: MetricArrays) -> Any:
    """Stratum of each document in the order of `Queries.row_order`, (n,) int64."""
    return np.repeat(arrays.first[:-1], queries.sizes) + arrays.relevance


@compiled
def _values(
    first: int, last: int, boundaries: Any, returned: Any, ranking: Any, metric: Any, out: Any
) -> None:
    for q in range(first, last):
        if metric.scale[q] == 0.0:
            out[q] = np.nan
            continue
        # Documents that were not returned have no rank; sums of ranks put them last.
        n = boundaries[q + 1] - boundaries[q]
        if metric.discount[0] > 0.0:
            n = returned[q]
        ranks = slice(boundaries[q], boundaries[q] + n)
        score, relevance = ranking.score[ranks], metric.relevance[ranking.permutation[ranks]]
        classes, discount = classes_of(metric, q), metric.discount
        if metric.kind == CASCADE:
            total = _of_cascade(score, relevance, discount, classes)
        elif metric.kind == WINDOW:
            total = _of_windows(score, relevance, discount, classes)
        elif metric.kind == COUNT_HIGHER:
            total = _of_higher_above(score, relevance, discount, classes)
        else:
            total = _of_gains_and_any_above(score, relevance, discount, classes)
        out[q] = metric.scale[q] * (metric.offset[q] + total)


@compiled(inline="always")
def _end_of_ties(score: Any, start: int) -> int:
    stop = start + 1
    while stop < score.size and score[stop] == score[start]:
        stop += 1
    return stop


@compiled
def _of_gains_and_any_above(score: Any, relevance: Any, discount: Any, classes: Any) -> float:
    """Mean over all orders of ties of the sum of d (g + row * sum of columns above)."""
    gain, coupled = classes.gain, classes.kind == COUNT_ANY
    none = np.zeros(gain.size)
    row, column = (classes.row, classes.column) if coupled else (none, none)
    total = above = 0.0
    start = 0
    while start < score.size:
        stop = _end_of_ties(score, start)
        m = stop - start
        if m == 1:
            x = relevance[start]
            total += discount[start] * (gain[x] + row[x] * above)
            above += column[x]
            start = stop
            continue
        weight = slope = 0.0  # sums of d, and of d times the index within the block
        gains = rows = columns = products = 0.0
        for t in range(m):
            x = relevance[start + t]
            weight += discount[start + t]
            slope += discount[start + t] * t
            gains += gain[x]
            rows += row[x]
            columns += column[x]
            products += row[x] * column[x]
        total += weight * (gains + rows * above) / m
        if coupled:  # each of the others is above with probability t / (m - 1)
            total += slope * (rows * columns - products) / (m * (m - 1))
        above += columns
        start = stop
    return total


@compiled
def _of_higher_above(score: Any, relevance: Any, discount: Any, classes: Any) -> float:
    """Like `_of_gains_and_any_above`, but only higher classes above count."""
    gain, n_classes = classes.gain, classes.gain.size
    above, block = np.zeros(n_classes), np.zeros(n_classes)
    total = 0.0
    start = 0
    while start < score.size:
        stop = _end_of_ties(score, start)
        m = stop - start
        block[:] = 0.0
        weight = slope = 0.0
        for t in range(m):
            block[relevance[start + t]] += 1.0
            weight += discount[start + t]
            slope += discount[start + t] * t
        for x in range(n_classes):
            if block[x] == 0.0:
                continue
            before = within = 0.0
            for c in range(x + 1, n_classes):
                each = coupling(classes, x, c)
                before += each * above[c]
                within += each * block[c]
            expected = weight * (gain[x] + before)
            if m > 1:
                expected += slope * within / (m - 1)
            total += block[x] / m * expected
        above += block
        start = stop
    return total


@compiled
def _of_windows(score: Any, relevance: Any, discount: Any, classes: Any) -> float:
    """Mean over all orders of ties of the sum of d g within the window of each class."""
    gain, opens, closes = classes.gain, classes.opens, classes.closes
    upto = np.zeros(score.size + 1)
    for r in range(score.size):
        upto[r + 1] = upto[r] + discount[r]
    total = 0.0
    start = 0
    while start < score.size:
        stop = _end_of_ties(score, start)
        for r in range(start, stop):
            x = relevance[r]
            low, high = max(start, opens[x]), min(stop, closes[x])
            if low < high:
                total += gain[x] * (upto[high] - upto[low]) / (stop - start)
        start = stop
    return total


@compiled
def _of_cascade(score: Any, relevance: Any, discount: Any, classes: Any) -> float:
    """Sum of d g h: the mean over orders of ties if all stops are certain, else the worst order."""
    gain, stop, limit = classes.gain, classes.stop, classes.limit
    total, log_chance, n_certain = 0.0, 0.0, 0
    reach = 1.0
    start = 0
    while start < score.size and reach > 0.0:
        end = _end_of_ties(score, start)
        certain, certain_gain, closed = 0, 0.0, limit == 1.0
        for r in range(start, end):
            if stop[relevance[r]] == 1.0:
                certain += 1
                certain_gain += gain[relevance[r]]
            elif stop[relevance[r]] > 0.0 or gain[relevance[r]] > 0.0:
                closed = False
        if not closed:
            for r in range(start, end):  # lower labels first: the order of `Queries.row_order`
                total += discount[r] * gain[relevance[r]] * reach
                if stop[relevance[r]] == 1.0:
                    n_certain += 1
                else:
                    log_chance += np.log1p(-stop[relevance[r]])
                reach = reached(log_chance, n_certain, limit)
        elif certain > 0:
            missed = reach  # probability that none of the first t of the block is a certain stop
            for t in range(end - start):
                left = end - start - t
                total += missed * (certain / left) * discount[start + t] * certain_gain / certain
                missed *= 1.0 - certain / left
            reach = 0.0
        start = end
    return total


def _by_steps(metric: RankingMetric, queries: Queries, ranking: Ranking) -> Floats:
    """The metric with tied rows taken as one step, rows weighted by their multiplicities."""
    arrays, copies = metric_arrays(metric, queries), queries.multiplicities
    n, begin = queries.n_documents, queries.boundaries[:-1]
    times = np.ones(n) if copies is None else copies[queries.row_order][ranking.permutation]
    stratum = _strata_in_row_order(queries, arrays)[ranking.permutation]
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
    if arrays.kind == COUNT_ANY:  # all tied rows are above, except for the copy itself
        row, column = arrays.row[stratum], arrays.column[stratum]
        term = (term - row * column) + row * upto(times * column)
    total = np.add.reduceat(times * term * metric.discounts(ranks), begin)
    with np.errstate(invalid="ignore"):
        return np.where(arrays.scale > 0, arrays.scale * (arrays.offset + total), np.nan)
