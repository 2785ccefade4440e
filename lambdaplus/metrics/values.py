"""The value of a metric on every query.

By default, a ranking with ties has the mean over the orders of tied documents, or the value in the
worst order if there is no closed form (ERR).  Metrics of one data set without queries count
tied rows together, as a threshold cannot split them.
"""

from dataclasses import replace
from typing import cast

import numpy as np

from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import over_queries
from lambdaplus.compute.thresholds import THRESHOLDS
from lambdaplus.lists.queries import Kind, Queries
from lambdaplus.metrics.components import falling
from lambdaplus.metrics.forms.form import MetricArrays, Ranked
from lambdaplus.metrics.metric_arrays import metric_arrays
from lambdaplus.metrics.parameters import Share
from lambdaplus.metrics.ranking_metric import RankingMetric
from lambdaplus.ranking.class_order import class_order
from lambdaplus.ranking.rounding import MOST_CLASSES, refuse_many_classes, round_scores
from lambdaplus.ranking.sort import Entries, Scored, one_entry_per_document, split_ties, tie_starts
from lambdaplus.ranking.ties import Ties


def values(
    metric: RankingMetric,
    scored: Scored,
    ties: Ties | None = None,
    order: Floats | None = None,
) -> Floats:
    """The value of a metric on each query, (n_queries,); NaN where it is not defined.

    ``ties`` is "expected" (the mean over the orders of tied documents), "worst", "best", "stable"
    (the order of the rows, or ascending ``order``, (n,)), or "together" (as at a threshold).
    """
    if isinstance(metric.cutoff, Share):
        return _at_shares(metric, scored, ties, order)
    queries, form, pooled = scored.queries, metric.declaration.form, metric.declaration.pooled
    arrays = metric_arrays(metric, queries)
    # Without queries, tied rows are one step by default, and always if rows have weights.
    of_rows = queries.kind is Kind.WEIGHTED_ROWS
    weighted = queries.multiplicities is not None
    if pooled is not None and ties is None and of_rows:
        return _steps(metric, arrays, _entries(metric, arrays, scored))
    ranking = scored.ranking
    if ties in ("worst", "best"):
        if not (metric.declaration.binary or form.gain_follows_labels):
            raise ValueError(f"{metric} has no worst order of ties: use ties='expected'")
        # Worst is ascending by what a document is worth: by class if terms depend on others, or by
        # gain, which need not rise with the class.
        classes = np.arange(float(arrays.gain.size))
        merit = classes if form.potentials_by_classes else arrays.gain
        merit = merit[np.repeat(arrays.strata[:-1], queries.sizes) + arrays.code]
        ranking = split_ties(queries, ranking, merit if ties == "worst" else -merit)
    elif ties == "stable":
        rows = np.arange(float(queries.n_documents)) if order is None else order
        ranking = split_ties(queries, ranking, rows)
    elif ties == "together" and pooled is None and not metric.declaration.correlation:
        raise ValueError(f"{metric} does not support ties='together', which needs a threshold")
    elif ties == "expected" and not metric.declaration.closed_ties:
        raise ValueError(
            f"the mean of {metric} over the orders of ties has no closed form: use ties='worst', "
            "'best' or 'stable'"
        )
    elif ties == "expected" and pooled == "last" and queries.multiplicities is not None:
        raise ValueError(
            f"{metric} of weighted rows without queries is only defined with ties='together'"
        )
    if pooled is not None and (ties == "together" or weighted):
        return _steps(metric, arrays, scored.entries(metric.relevant))
    ranked = queries.sizes
    # Documents that were not returned have no rank, but are last for sums of ranks such as AUC.
    if queries.returned is not None and arrays.discount[0] > 0.0:
        ranked = np.add.reduceat(queries.returned, queries.boundaries[:-1], dtype=np.int64)
    value = _values(metric, arrays, queries.boundaries, Ranked(ranked, *ranking))
    if ties in (None, "together"):
        return _for_ties(metric, value, queries.boundaries, ranking.score)
    return value


def _entries(metric: RankingMetric, arrays: MetricArrays, scored: Scored) -> Entries:
    """The entries of weighted rows; long lists are not sorted if the metric is linear in ranks."""
    queries, classes = scored.queries, arrays.gain.size
    is_linear = metric.declaration.discount is falling and metric.declaration.pooled == "middle"
    is_long = queries.n_documents > THRESHOLDS.long_list and classes <= MOST_CLASSES
    if not (is_linear and is_long) or scored.is_sorted or queries.returned is not None:
        return scored.entries(metric.relevant)
    entries = class_order(scored.scores, arrays.code, classes, queries.multiplicities)
    return scored.entries(metric.relevant) if entries is None else entries


def _at_shares(
    metric: RankingMetric, scored: Scored, ties: Ties | None, order: Floats | None
) -> Floats:
    """The values of a metric whose cutoff is a share: queries with equal cutoffs together."""
    queries, copies = scored.queries, scored.queries.multiplicities
    sizes = queries.sizes if copies is None else np.array([copies.sum()])
    ranks = cast(Share, metric.cutoff).ranks(sizes)
    value = np.empty(ranks.size)
    for k in np.unique(ranks).tolist():
        of_rank, which = replace(metric, cutoff=k), ranks == k
        if which.all():
            return values(of_rank, scored, ties, order)
        rows = which[queries.query_of_row]
        returned, places = (None if x is None else x[rows] for x in (queries.returned, order))
        part = Queries(queries.labels[rows], group=sizes[which], returned=returned)
        value[which] = values(of_rank, Scored(part, scored.scores[rows]), ties, places)
    return value


def _for_ties(metric: RankingMetric, value: Floats, boundaries: Ints, score: Floats) -> Floats:
    """Rank correlations corrected for tied scores, 0 if all are tied; other values as they are.

    Of the variance of n ranks, blocks of t ties leave 1 less the sum of t^3 - t over n^3 - n.
    Equal scores know nothing, and the mean of random ones is 0.  If they had no value, trainings
    would prefer models that order few queries.
    """
    if not metric.declaration.correlation:
        return value
    first = np.flatnonzero(tie_starts(score, boundaries))
    tied = np.diff(np.append(first, score.size)).astype(np.float64)
    n = np.diff(boundaries).astype(np.float64)
    lost = np.add.reduceat(tied**3 - tied, np.searchsorted(first, boundaries[:-1]))
    with np.errstate(invalid="ignore", divide="ignore"):
        left = 1.0 - lost / (n**3 - n)
        return np.where(left > 1e-12, value / np.sqrt(left), 0.0 * value + 0.0)


def rounded_value(metric: RankingMetric, queries: Queries, scores: Floats) -> float:
    """The value of a metric on one list on several workers; rows of one cell count as tied."""
    copies, workers = queries.multiplicities, queries.workers
    rows = float(queries.n_documents if copies is None else copies.sum())
    metric = metric.of_size(float(workers.sum(np.array([rows]))[0]))
    arrays = metric_arrays(metric, queries)
    refuse_many_classes(arrays.gain.size, f"{metric} over all rows on {workers.size} workers")
    entries = round_scores(scores, arrays.code, arrays.gain.size, copies, workers).entries
    if queries.kind is Kind.WEIGHTED_ROWS:
        return float(_steps(metric, arrays, entries)[0])
    edges, score, code, *_ = one_entry_per_document(entries)
    ranked = Ranked(np.diff(edges), np.arange(score.size), score)
    value = _values(metric, arrays._replace(code=code), edges, ranked)
    return float(_for_ties(metric, value, edges, score)[0])


def _values(
    metric: RankingMetric, arrays: MetricArrays, boundaries: Ints, ranked: Ranked
) -> Floats:
    """The values of lists in ranked order."""
    total = np.empty(ranked.n.size)
    over_queries(metric.declaration.form.values, boundaries, ranked, arrays, total)
    return _complete(arrays, total)


def _complete(arrays: MetricArrays, total: Floats) -> Floats:
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where(arrays.scale > 0, arrays.scale * (arrays.offset + total), np.nan)


def _steps(metric: RankingMetric, arrays: MetricArrays, entries: Entries) -> Floats:
    """The metric with tied rows as one step, and weights as multiplicities."""
    ranks, total = np.empty(entries.score.size), np.empty(entries.edges.size - 1)
    middle = metric.declaration.pooled == "middle"
    _ranks_of_steps(entries, middle, ranks)
    _sums_of_steps(entries, arrays, metric.discounts(ranks), total)
    return _complete(arrays, total)


@compiled
def _ranks_of_steps(entries: Entries, middle: bool, ranks: Floats) -> None:
    """Write the last or middle rank of the tied copies of each entry."""
    edges, score, weight = entries.edges, entries.score, entries.weight
    for q in range(edges.size - 1):
        e, upto = edges[q], 0.0
        while e < edges[q + 1]:
            end, tied = e, 0.0
            while end < edges[q + 1] and score[end] == score[e]:
                tied += weight[end]
                end += 1
            # The tied copies have the ranks upto + 1, ..., upto + tied; the discount of all of them
            # is that of the middle or the last one.
            upto += tied
            rank = upto - (tied - 1.0) / 2 if middle else upto
            for i in range(e, end):
                ranks[i] = rank if rank > 0.0 else 1.0  # 0 for first rows of weight 0
            e = end


@compiled
def _sums_of_steps(entries: Entries, metric: MetricArrays, discount: Floats, out: Floats) -> None:
    """Write the sum over the entries of each query; tied copies count as above each other."""
    edges, score, code, _, weight = entries
    strata, gain, (row, column, _) = metric.strata, metric.gain, metric.coupling
    for q in range(edges.size - 1):
        e, upto, out[q] = edges[q], 0.0, 0.0
        while e < edges[q + 1]:
            end = e
            while end < edges[q + 1] and score[end] == score[e]:
                upto += weight[end] * column[strata[q] + code[end]]
                end += 1
            for i in range(e, end):
                x = strata[q] + code[i]
                # A copy counts those above and those tied with it, but not itself.
                term = gain[x] - row[x] * column[x] + row[x] * upto  # all but the copy itself
                out[q] += weight[i] * term * discount[i]
            e = end
