"""Ranked lists of entries, over whose pairs the gradient is a sum.

An entry stands for the documents of one class with the same score, which get the same gradient.
All documents of a query are one list if the metric is a discounted sum of gains, or if there are
two classes; otherwise each pair of classes has its own potentials and list.  If all pairs of two
classes have the same weight, all documents of a query are one list without potentials.

Without queries, a row of weight k counts as k identical rows (the section
"Weights without queries" of mathematics/sweep.md).  In AP, a document's own contribution is a
separate list, in whose weights that of the better row is squared.
"""

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np

from lambdaplus.compute.array_types import Floats, Int32s, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.thresholds import THRESHOLDS
from lambdaplus.metrics import CATALOGUE, RankingMetric
from lambdaplus.metrics.forms.form import ClassPairs, MetricArrays, Part
from lambdaplus.metrics.label_counts import DECLARED_WITHIN
from lambdaplus.ranking.sort import Entries

NO_FACTORS = np.empty((0, 2))
NONE = np.empty(0)  # where a list has no potentials or gains
NO_ENTRIES = np.empty(0, np.int64)
TWO_CLASSES = np.array([0.0, 1.0])  # gains
ALL, OWN, ABOVE = Part(1.0, 1.0), Part(1.0, 0.0), Part(0.0, 1.0)


class Lists(NamedTuple):
    """Ranked lists, from the highest to the lowest score, over whose pairs kernels sum.

    List k has the elements ``start[k]`` to ``stop[k]`` of the arrays by element: score, class,
    potentials U (of concordant pairs) and V (of discordant ones, equal to U with more than two
    classes), and weight.  The swap delta of classes a and b is
    ``abs(gain[at + a] - gain[at + b])``, with ``at = gain_at[k]``, or 1 without gains, times the
    difference of potentials, or 1 without potentials.  What there is not is an empty array.
    """

    start: Ints
    stop: Ints
    gain_at: Ints
    gain: Floats
    n_classes: Ints
    score: Floats
    code: Int32s
    U: Floats
    V: Floats
    weight: Floats
    query: Ints  # of each list
    entry: Ints  # of each element; empty if the elements are the entries
    factors: Floats = NO_FACTORS  # (s, 2) of the worse and the better one of a pair, by stratum


class Sums(NamedTuple):
    """Sums over pairs, in units of Z."""

    gradient: Floats  # by entry
    hessian: Floats
    received: Floats  # (n_queries,) S, the sum over the pairs of each query of 2 |lambda|


def no_sums(n_entries: int, n_queries: int) -> Sums:
    return Sums(np.zeros(n_entries), np.zeros(n_entries), np.zeros(n_queries))


class Batch(NamedTuple):
    """What of some consecutive queries does not depend on scores."""

    boundaries: Ints
    metric: MetricArrays  # with the strata of these queries
    scale: Floats  # 1 / Z of each query
    n_classes: Ints  # of each query
    query: Ints  # those that have pairs and a value to optimise
    # Of one list for each of these queries:
    a: Ints
    b: Ints
    gain_at: Ints
    gain: Floats
    classes: Ints
    factors: Floats
    list_per_query: bool  # whether one list is enough
    may_split: bool  # whether lists may have to be split by label

    @classmethod
    def of(
        cls, metric: RankingMetric, equal_pairs: bool, first: int, last: int, boundaries: Ints,
        arrays: MetricArrays,
    ) -> Self:  # fmt: skip
        """The queries first .. last - 1 of a data set.

        All pairs of two classes weigh the same if ``equal_pairs``, otherwise by swap deltas.
        """
        strata, scale = arrays.strata[first : last + 1], arrays.scale[first:last]
        n_classes, by_classes = np.diff(strata), metric.declaration.form.potentials_by_classes
        # Queries with one class have no pairs, and those with Z = 0 no value to optimise.
        query = np.flatnonzero((n_classes > 1) & (scale > 0))
        b, classes, factors = np.zeros_like(query), n_classes[query], NO_FACTORS
        # The potentials of two classes contain their gains already, so the pair weight is 1. Those
        # of a discounted sum are for a gain of 1, and the pair weight is the difference of gains.
        gain, gain_at = TWO_CLASSES, b
        if not by_classes:
            gain, gain_at = arrays.gain, strata[query]
        elif equal_pairs:
            # Neighbours change a sum of ranks by the difference of their gains, and a number of
            # pairs by one.
            gain = NONE
            if metric.compares_some:
                factors = np.column_stack([arrays.coupling.row, arrays.coupling.column])
                gain_at = strata[query]
        list_per_query = equal_pairs or not by_classes or not (classes > 2).any()
        declared, bounds = arrays._replace(strata=strata), boundaries[first : last + 1]
        may_split = factors.size > 0 or bool((classes > THRESHOLDS.few_labels).any())
        of_lists = query, b + 1, b, gain_at, gain, classes, factors, list_per_query, may_split
        return cls(bounds, declared, scale, n_classes, *of_lists)


def ranked_lists(
    metric: RankingMetric, equal_pairs: bool, batch: Batch, entries: Entries, weighted: bool
) -> Iterator[Lists]:
    """Yield the lists of these queries and entries.

    With multiplicities (``weighted``) there may be two sets of lists.
    """
    edges, form, query, a, b = (
        entries.edges, metric.declaration.form, batch.query, batch.a, batch.b
    )  # fmt: skip
    gain_at, classes, entry = batch.gain_at, batch.classes, NO_ENTRIES
    if batch.list_per_query:
        # The entries are the elements themselves, without a copy.
        start, stop = edges[query], edges[query + 1]
        score, code, weight = entries.score, entries.code, entries.weight
    else:
        query, a, b, start, stop, entry = _class_pairs(query, batch.n_classes, entries)
        classes, score, weight = np.full_like(query, 2), entries.score[entry], entries.weight[entry]
        code = (entries.code[entry] == np.repeat(a, stop - start)).astype(np.int32)
        gain_at = np.zeros_like(query)
    if equal_pairs:
        elements = score, code, NONE, NONE, weight, query, entry
        yield Lists(start, stop, gain_at, batch.gain, classes, *elements, batch.factors)
        return
    pairs, declared = ClassPairs(query, a, b, start), batch.metric
    if weighted:
        # Each document of an entry gets the mean of its multiplicities, so that the ranks at the
        # edges of the entry are exact.
        copies = entries.weight / entries.size
        declared = declared._replace(discount=_discount_of_copies(metric, entries, copies))
    U, V = np.empty(code.size), np.empty(code.size)
    # A multiplicity counts once in the pair's weight. In a document's own contribution it counts
    # once more, which needs other weights and so another list.
    for part in (OWN, ABOVE) if weighted and form.potentials_by_classes else (ALL,):
        form.potentials(pairs, entries, declared, part, U, V)
        # Sums over pairs need deltas of one sign, which metrics of the catalogue have.
        own = form.potentials_by_classes and metric.declaration not in CATALOGUE
        if own and _has_both_signs(start, stop, code, U, V):
            leave_out = "leave out the weights, or " if weighted else ""
            raise ValueError(
                f"{metric} has swap deltas of both signs, since putting the better one of two "
                f"documents first may lower it: {leave_out}weight pairs by another metric, as in "
                "lambda_objective(metric, surrogate='ndcg')"
            )
        times = weight
        if part is OWN:
            of_element = copies if batch.list_per_query else copies[entry]
            times = weight * np.where(code == 1, of_element, 1.0)
        elements = score, code, U, V, times, query, entry
        yield Lists(start, stop, gain_at, batch.gain, classes, *elements)


@compiled
def _has_both_signs(start: Ints, stop: Ints, code: Int32s, U: Floats, V: Floats) -> bool:
    """Whether a swap of two classes that puts the better document first lowers the metric."""
    for k in range(start.size):
        # The least U of the better documents so far, and the least V of the worse ones.
        least, largest = np.full(2, np.inf), 0.0
        for i in range(start[k], stop[k]):
            largest = max(largest, abs(U[i]), abs(V[i]))
            better = code[i] == 1
            if (V[i] - least[0] if better else U[i] - least[1]) > DECLARED_WITHIN * largest:
                return True
            upper = 1 if better else 0
            least[upper] = min(least[upper], U[i] if better else V[i])
    return False


def _class_pairs(
    active: Ints, n_classes: Ints, entries: Entries
) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints]:
    """A list for each pair of classes: query, classes a > b, first and last element, entries."""
    n_pairs = n_classes[active] * (n_classes[active] - 1) // 2
    query = np.repeat(active, n_pairs)
    pair = np.arange(query.size) - np.repeat(np.cumsum(n_pairs) - n_pairs, n_pairs)
    # Pairs are numbered 1 > 0, 2 > 0, 2 > 1, 3 > 0, ...: those of class a begin at a (a - 1) / 2.
    # The largest a with a (a - 1) / 2 <= pair. The root is exact: 8 pair + 1 is far below 2^53.
    a = ((1 + np.sqrt(1 + 8 * pair)) / 2).astype(np.int64)
    b = pair - a * (a - 1) // 2
    size = int((np.diff(entries.edges)[active] * (n_classes[active] - 1)).sum())
    entry, stop = np.empty(size, np.int64), np.empty_like(query)
    _select(query, a, b, entries.edges, entries.code, entry, stop)
    return query, a, b, np.concatenate([[0], stop[:-1]]), stop, entry


@compiled
def _select(
    query: Ints, a: Ints, b: Ints, edges: Ints, code: Int32s, entry: Ints, stop: Ints
) -> None:
    """Write the entries of both classes of each list, and where each list ends."""
    size = 0
    for k in range(query.size):
        for e in range(edges[query[k]], edges[query[k] + 1]):
            if code[e] == a[k] or code[e] == b[k]:
                entry[size] = e
                size += 1
        stop[k] = size


def _discount_of_copies(metric: RankingMetric, entries: Entries, copies: Floats) -> Floats:
    """Discount of each document of one list; ``copies`` is the multiplicity by entry."""
    copies = np.repeat(copies, entries.size)
    ranks = np.cumsum(copies)
    # First rows of weight 0 have rank 0; they do not contribute.
    if metric.declaration.pooled == "last":
        return metric.discounts(np.where(ranks > 0, ranks, 1.0))
    return metric.discounts(np.maximum(ranks - (copies - 1) / 2, 1e-9))
