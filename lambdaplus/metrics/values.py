"""The value of a metric on every query.

Tied documents are valued at the mean over their orders, in closed form: expected counts above a
place in a block of ties are linear in the place.  Where a reader may or may not stop (ERR, bpref)
there is no closed form, and ties count in their worst order.  On one ungrouped data set a threshold
can't split tied rows, so they enter together, as in scikit-learn.  Other rules can be asked for.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from lambdaplus.compiled import compiled
from lambdaplus.metrics.declaration import RankingMetric
from lambdaplus.metrics.potentials import coupling, reached
from lambdaplus.metrics.terms import ANY, LOWER, Terms, terms
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
        Of the same queries.
    ties : {"expected", "worst", "best", "stable", "together"}, optional
        What tied documents count: the mean over their orders; their worst or best order; the order
        of the rows; or all as one step, as a threshold does.  See above for the default.
    order : (n,) float64, optional
        With ``ties="stable"``: the rows' order, where it is not that of the data.

    Returns
    -------
    (n_queries,) float64
        NaN where the metric is not defined, such as without a relevant document.

    Raises
    ------
    ValueError
        If the metric has no such rule for ties.
    """
    found = terms(metric, queries)
    steps = metric.declaration.pooled
    if ties in ("worst", "best"):
        if found.windowed and not metric.declaration.binary:
            raise ValueError(f"{metric} has no order of ties that is worst: use ties='expected'")
        merit = found.gain if found.gains_only else np.arange(float(found.gain.size))
        merit = merit[_strata_of_base(queries, found)]
        ranking = split_ties(queries, ranking, merit if ties == "worst" else -merit)
    elif ties == "stable":
        rows = np.arange(float(queries.n_documents)) if order is None else order
        ranking = split_ties(queries, ranking, rows[queries.base])
    elif ties == "together" and steps is None:
        raise ValueError(f"{metric} has no ties='together': only thresholds see ties as one step")
    elif ties == "expected" and not metric.declaration.closed_ties:
        raise ValueError(
            f"the mean of {metric} over the orders of ties has no closed form: use ties='worst', "
            "'best' or 'stable'"
        )
    elif ties == "expected" and steps == "last" and queries.multiplicities is not None:
        raise ValueError(f"{metric} of weighted rows without queries: use ties='together'")
    if steps is not None and (
        ties == "together"
        or (not queries.grouped and (ties is None or queries.weights is not None))
    ):
        return _by_steps(metric, queries, ranking, found)
    out = np.empty(queries.n_queries)
    returned = queries.sizes if queries.returned is None else queries.returned
    over_queries(_values, queries.boundaries, queries.boundaries, returned, ranking, found, out)
    return out


def _strata_of_base(queries: Queries, terms: Terms) -> Any:
    """Stratum of each document in the order of `Queries.base`, (n,) int64."""
    return np.repeat(terms.first[:-1], queries.sizes) + terms.code


@compiled
def _values(
    first: int, last: int, boundaries: Any, returned: Any, ranking: Any, terms: Any, out: Any
) -> None:
    for q in range(first, last):
        if terms.scale[q] == 0.0:
            out[q] = np.nan
            continue
        # Documents that were not returned stand at no rank; sums of ranks put them last.
        n = boundaries[q + 1] - boundaries[q]
        if terms.discount[0] > 0.0:
            n = returned[q]
        places = slice(boundaries[q], boundaries[q] + n)
        strata = slice(terms.first[q], terms.first[q + 1])
        score, code = ranking.score[places], terms.code[ranking.place[places]]
        gain, row, column = terms.gain[strata], terms.row[strata], terms.column[strata]
        if terms.stops:
            total = _stopping_sum(
                score, code, terms.discount, gain, terms.stop[strata], terms.patience[q]
            )
        elif terms.windowed:
            total = _windowed_sum(
                score, code, terms.discount, gain, terms.opens[strata], terms.closes[strata]
            )
        elif terms.relation == LOWER:
            total = _graded_sum(score, code, terms.discount, gain, row, column)
        else:
            total = _plain_sum(
                score, code, terms.discount, gain, terms.relation == ANY, row, column
            )
        out[q] = terms.scale[q] * (terms.offset[q] + total)


@compiled(inline="always")
def _end_of_ties(score: Any, start: int) -> int:
    stop = start + 1
    while stop < score.size and score[stop] == score[start]:
        stop += 1
    return stop


@compiled
def _plain_sum(
    score: Any, code: Any, discount: Any, gain: Any, coupled: bool, row: Any, column: Any
) -> float:
    """Sum of d (g + row * sum of columns above), in the mean over all orders of ties."""
    total = above = 0.0
    start = 0
    while start < score.size:
        stop = _end_of_ties(score, start)
        m = stop - start
        if m == 1:
            x = code[start]
            total += discount[start] * (gain[x] + row[x] * above)
            above += column[x]
            start = stop
            continue
        weight = slope = 0.0  # sums of d, and of d times the place within the block
        gains = rows = columns = products = 0.0
        for t in range(m):
            x = code[start + t]
            weight += discount[start + t]
            slope += discount[start + t] * t
            gains += gain[x]
            rows += row[x]
            columns += column[x]
            products += row[x] * column[x]
        total += weight * (gains + rows * above) / m
        if coupled:  # each of the others is above with chance t / (m - 1)
            total += slope * (rows * columns - products) / (m * (m - 1))
        above += columns
        start = stop
    return total


@compiled
def _graded_sum(score: Any, code: Any, discount: Any, gain: Any, row: Any, column: Any) -> float:
    """As `_plain_sum`, where only the higher classes above count."""
    classes = gain.size
    above, block = np.zeros(classes), np.zeros(classes)
    total = 0.0
    start = 0
    while start < score.size:
        stop = _end_of_ties(score, start)
        m = stop - start
        block[:] = 0.0
        weight = slope = 0.0
        for t in range(m):
            block[code[start + t]] += 1.0
            weight += discount[start + t]
            slope += discount[start + t] * t
        for x in range(classes):
            if block[x] == 0.0:
                continue
            before = within = 0.0
            for c in range(x + 1, classes):
                each = coupling(LOWER, row, column, x, c)
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
def _windowed_sum(
    score: Any, code: Any, discount: Any, gain: Any, opens: Any, closes: Any
) -> float:
    """Sum of d g over the ranks within each class's window, in the mean over orders of ties."""
    upto = np.zeros(score.size + 1)
    for r in range(score.size):
        upto[r + 1] = upto[r] + discount[r]
    total = 0.0
    start = 0
    while start < score.size:
        stop = _end_of_ties(score, start)
        for r in range(start, stop):
            x = code[r]
            low, high = max(start, opens[x]), min(stop, closes[x])
            if low < high:
                total += gain[x] * (upto[high] - upto[low]) / (stop - start)
        start = stop
    return total


@compiled
def _stopping_sum(
    score: Any, code: Any, discount: Any, gain: Any, stop: Any, patience: float
) -> float:
    """Sum of d g h: the mean over orders of ties if gains are sure stops, else the worst."""
    total, log_chance, n_sure = 0.0, 0.0, 0
    reach = 1.0
    start = 0
    while start < score.size and reach > 0.0:
        end = _end_of_ties(score, start)
        sure, their_gain, closed = 0, 0.0, patience == 1.0
        for r in range(start, end):
            if stop[code[r]] == 1.0:
                sure += 1
                their_gain += gain[code[r]]
            elif stop[code[r]] > 0.0 or gain[code[r]] > 0.0:
                closed = False
        if not closed:
            for r in range(start, end):  # lower labels first: the order of `Queries.base`
                total += discount[r] * gain[code[r]] * reach
                if stop[code[r]] == 1.0:
                    n_sure += 1
                else:
                    log_chance += np.log1p(-stop[code[r]])
                reach = reached(log_chance, n_sure, patience)
        elif sure > 0:
            missed = reach  # chance that the first t of the block are none of the sure stops
            for t in range(end - start):
                left = end - start - t
                total += missed * (sure / left) * discount[start + t] * their_gain / sure
                missed *= 1.0 - sure / left
            reach = 0.0
        start = end
    return total


def _by_steps(metric: RankingMetric, queries: Queries, ranking: Ranking, found: Terms) -> Floats:
    """The metric with tied rows taken as one step, rows weighted by their multiplicities."""
    copies = queries.multiplicities
    n, begin = queries.n_documents, queries.boundaries[:-1]
    times = np.ones(n) if copies is None else copies[queries.base][ranking.place]
    stratum = _strata_of_base(queries, found)[ranking.place]
    ends_block = np.ones(n, dtype=bool)
    ends_block[:-1] = ranking.score[1:] != ranking.score[:-1]
    ends_block[queries.boundaries[1:] - 1] = True
    ends = np.flatnonzero(ends_block)
    block = np.cumsum(ends_block) - ends_block
    query = np.repeat(np.arange(queries.n_queries), queries.sizes)

    def upto(amount: Floats) -> Floats:
        """Sum over the query down to the end of each row's block."""
        total = np.concatenate([[0.0], np.cumsum(amount)])
        return np.asarray(total[ends + 1][block] - total[begin][query])

    last = upto(times)
    if found.gains_only:
        in_block = np.add.reduceat(times, np.append(0, ends[:-1] + 1))[block]
        middle = last - (in_block - 1.0) / 2  # mean rank of a block's copies
        term = found.gain[stratum] * metric.discounts(middle)
    else:
        # Everything tied is above, the document itself included: A counts it, so g need not.
        above = upto(times * found.column[stratum])
        safe = np.where(last > 0, last, 1.0)  # rows of weight 0 at the very top
        term = found.row[stratum] * above * metric.discounts(safe)
    total = np.add.reduceat(times * term, begin)
    with np.errstate(invalid="ignore"):
        return np.where(found.scale > 0, found.scale * (found.offset + total), np.nan)
