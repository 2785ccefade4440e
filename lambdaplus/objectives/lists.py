"""Lambda-gradients of every query: ranked lists, their pair sums, and ties.

A query consists of one or more ranked lists.  If the metric is a discounted sum of gains, or has
two classes, there is one list; otherwise each pair of classes has its own potentials and list.

Without queries, row weights are multiplicities: a row of weight k counts as k rows.  With T the
cumulative weight of the ranking, AUC's potential is minus the middle rank of the copies of a row,
T - (w - 1) / 2, and AP's is C/T - H with C the cumulative relevant weight and H the sum of w/T over
relevant rows; the delta of a pair is w_i w_j times the difference of potentials.  A document's own
contribution counts once for each of its copies: in AP a discordant pair adds
w_rel w_i w_j (1/T_p - 1/T_q).  This part is a separate list, whose multiplicities include the
weight of the better row twice.

For AUC, the gradient of a row is then the sum of the gradients of its copies.  For AP it is not:
copies of a row would have consecutive ranks and be swapped one by one, whereas the row has one rank
and is swapped as a block.  It is a definition that is equal to the swap delta for unit weights.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lambdaplus.compiled import borrowed, compiled, hold
from lambdaplus.metrics.arrays import COUNT_ANY, GAINS, MetricArrays, classes_of, metric_arrays
from lambdaplus.metrics.declaration import RankingMetric
from lambdaplus.metrics.potentials import ABOVE, OWN, OWN_AND_ABOVE, Potentials, potentials
from lambdaplus.objectives import long_lists
from lambdaplus.objectives.kernels import REACH, pair_kernel
from lambdaplus.objectives.pairs import visit_pairs
from lambdaplus.objectives.sweep import Derivatives, RankedList, sweep, workspace_for
from lambdaplus.parallel import over_queries, over_rows
from lambdaplus.queries import Floats, Ints, Queries
from lambdaplus.ranking import Ranking, rank

# A list of n documents in L classes is processed pair by pair if n < FEW + FEW_A_CLASS * L, where
# the fixed cost of the sweep per document is larger, or if ``all_pairs`` is set.
FEW, FEW_A_CLASS = 12, 3


class Ranked(NamedTuple):
    """Every query in ranked order, and the arrays of the metric.

    Attributes
    ----------
    boundaries : (n_queries + 1,) int64
    row : (n,) int
        Row of the document at each rank.
    score : (n,) float64
    relevance : (n,) int32
        Class of the document at each rank.
    discount : (longest query,) float64; (n,) with copies
        Discount of each rank.
    copies : (n,) float64 or empty
        Multiplicity at each rank; empty if all are 1.
    metric : MetricArrays
    """

    boundaries: Ints
    row: NDArray[np.signedinteger[Any]]
    score: Floats
    relevance: NDArray[np.int32]
    discount: Floats
    copies: Floats
    metric: MetricArrays


class Sums(NamedTuple):
    """Sums over each query.

    Attributes
    ----------
    received : (n_queries,) float64
        S, the sum over pairs of 2 |lambda|.
    absolute : (n_queries,) float64
        The sum over documents of the absolute gradient.
    """

    received: Floats
    absolute: Floats


def derivatives_of(n: int) -> Derivatives:
    """Memory for the gradient and Hessian of n rows, by row.

    Both values of a row are adjacent: rows are written in ranked order, and in a long list nearly
    each of them needs another line of the cache.
    """
    by_row = np.empty((n, 2))
    return Derivatives(by_row[:, 0], by_row[:, 1])


def ranked_queries(metric: RankingMetric, queries: Queries, scores: ArrayLike) -> Ranked:
    """Rank every query and compute the arrays of the metric."""
    return with_metric(metric, queries, rank(queries, scores))


def with_metric(metric: RankingMetric, queries: Queries, ranking: Ranking) -> Ranked:
    """Every query in this order, and the arrays of the metric."""
    arrays = metric_arrays(metric, queries)
    n, boundaries = queries.n_documents, queries.boundaries
    row, relevance = np.empty(n, queries.row_order.dtype), np.empty(n, np.int32)
    by_document = (queries.row_order, arrays.relevance)
    over_rows(_reorder, n, ranking.permutation, by_document, (row, relevance))
    discount, copies = arrays.discount, np.empty(0)
    if queries.multiplicities is not None:
        if arrays.kind == COUNT_ANY and (arrays.gain < arrays.row * arrays.column).any():
            raise ValueError(
                f"{metric} of weighted rows without queries has swap deltas of both signs, since "
                "the gain of a document is smaller than what each document above it adds: pass no "
                "weights"
            )
        copies = queries.multiplicities[row]
        discount = discount_of_copies(metric, copies)
    return Ranked(boundaries, row, ranking.score, relevance, discount, copies, arrays)


@compiled
def _reorder(first: int, last: int, order: Any, given: Any, out: Any) -> None:
    """Write the elements first .. last - 1 of two arrays in another order."""
    (one, other), (new_one, new_other) = given, out
    for i in range(first, last):
        new_one[i] = one[order[i]]
        new_other[i] = other[order[i]]


def discount_of_copies(metric: RankingMetric, copies: Floats) -> Floats:
    """Discount of each rank of one list whose documents have these multiplicities, (n,)."""
    ranks = np.cumsum(copies)
    # A row of weight 0 at the top has rank 0; since its multiplicity is 0, it does not contribute.
    if metric.declaration.pooled == "last":
        return metric.discounts(np.where(ranks > 0, ranks, 1.0))
    return metric.discounts(np.maximum(ranks - (copies - 1) / 2, 1e-9))


def pair_sums(
    ranked: Ranked, sigma: float, damping: float | None, all_pairs: bool, out: Derivatives
) -> Sums:
    """Write gradient and Hessian by row, and return sums of each query, all in units of Z.

    Damping is not applied to queries whose scores are all equal.
    """
    plain, width = pair_kernel(float(sigma), 0.0), float(damping or 0.0)
    near = pair_kernel(float(sigma), width) if damping else plain
    spread = np.ptp(ranked.score[[ranked.boundaries[:-1], ranked.boundaries[1:] - 1]], axis=0)
    wide = damping and sigma * spread.max() > REACH
    kernels = (plain, near, pair_kernel(float(sigma), width, far=True) if wide else near)
    sizes, n_queries = np.diff(ranked.boundaries), ranked.boundaries.size - 1
    sums = Sums(np.zeros(n_queries), np.zeros(n_queries))
    long = (sizes >= long_lists.LONG) & (not all_pairs)
    if not long.all():
        over_queries(_queries, ranked.boundaries, ranked, kernels, all_pairs, long, sums, out)
    for q in np.flatnonzero(long).tolist():
        kernel = _kernel_of(ranked, q, kernels)
        own = Derivatives(np.zeros(sizes[q]), np.zeros(sizes[q]))
        for k in range(n_lists(ranked, q)):
            members, its_list = ranked_list(ranked, q, k)
            part = _room(members, own)
            sums.received[q] += long_lists.sweep_by_blocks(its_list, kernel, part)
            _add(part, members, own)
        # In blocks, so that the sum does not depend on the number of threads.
        edges = np.append(np.arange(0, sizes[q], long_lists.BLOCK), sizes[q])
        absolute = np.empty(edges.size - 1)
        over_queries(_write_blocks, edges, edges, ranked, q, own, absolute, out)
        sums.absolute[q] = absolute.sum()
    return sums


@compiled
def _queries(
    first: int, last: int, ranked: Any, kernels: Any, all_pairs: bool, skip: Any, sums: Any,
    out: Any,
) -> None:  # fmt: skip
    """Process the queries first .. last - 1, except those in ``skip``."""
    most = 2
    for q in range(first, last):
        most = max(most, ranked.metric.first[q + 1] - ranked.metric.first[q])
    own_work = workspace_for(most, kernels[2].rates.shape[0])
    work, ranked, kernels, out = (
        borrowed(own_work),
        borrowed(ranked),
        borrowed(kernels),
        borrowed(out),
    )
    received, absolute = sums
    for q in range(first, last):
        if skip[q]:
            continue
        kernel, n = _kernel_of(ranked, q, kernels), ranked.boundaries[q + 1] - ranked.boundaries[q]
        own = Derivatives(np.zeros(n), np.zeros(n))
        for k in range(n_lists(ranked, q)):
            members, its_list = ranked_list(ranked, q, k)
            part = _room(members, own)
            if all_pairs or its_list.score.size < FEW + FEW_A_CLASS * its_list.gain.size:
                received[q] += visit_pairs(its_list, kernel, part)
            else:
                received[q] += sweep(its_list, kernel, work, part)
            _add(part, members, own)
        absolute[q] = write_by_row(ranked, q, own, (0, n), out)
    hold(own_work)


@compiled
def _kernel_of(ranked: Any, q: int, kernels: Any) -> Any:
    spread = ranked.score[ranked.boundaries[q]] - ranked.score[ranked.boundaries[q + 1] - 1]
    if spread == 0.0:
        return kernels[0]
    return kernels[2] if kernels[1].sigma * spread > REACH else kernels[1]


@compiled
def n_lists(ranked: Any, q: int) -> int:
    """Number of ranked lists of query q."""
    classes = ranked.metric.first[q + 1] - ranked.metric.first[q]
    if classes < 2 or ranked.metric.scale[q] == 0.0:
        return 0
    if ranked.metric.kind == GAINS:
        return 1
    return int(classes * (classes - 1) // 2 * (2 if ranked.copies.size else 1))


@compiled
def ranked_list(ranked: Any, q: int, k: int) -> Any:
    """The ranks in the k-th list of query q (empty for all ranks), and the list."""
    start, stop = ranked.boundaries[q], ranked.boundaries[q + 1]
    classes, weighted = classes_of(ranked.metric, q), ranked.copies.size > 0
    score, relevance = ranked.score[start:stop], ranked.relevance[start:stop]
    discount, copies = ranked.discount[: stop - start], ranked.copies[start:stop]
    everyone = np.empty(0, dtype=np.int64)
    if ranked.metric.kind == GAINS:  # the discount is the potential
        return everyone, RankedList(score, relevance, discount, discount, classes.gain, copies)
    own = weighted and k % 2 == 1
    a, b = 1, k // 2 if weighted else k
    while b >= a:
        a, b = a + 1, b - a
    parts = OWN_AND_ABOVE
    if weighted:
        parts = OWN if own else ABOVE
    both = Potentials(np.empty(stop - start), np.empty(stop - start))
    potentials(relevance, discount, copies, classes, (a, b), parts, both)
    if own:
        copies = copies.copy()
        for r in range(copies.size):
            copies[r] *= copies[r] if relevance[r] == a else 1.0
    two = np.array([0.0, 1.0])
    if classes.gain.size == 2:
        return everyone, RankedList(score, relevance, both.U, both.V, two, copies)
    members, is_a = np.empty(stop - start, np.int64), np.empty(stop - start, np.int32)
    size = 0
    for r in range(stop - start):
        if relevance[r] == a or relevance[r] == b:
            members[size], is_a[size] = r, relevance[r] == a
            size += 1
    members = members[:size]
    return members, RankedList(
        _taken(score, members), is_a[:size], _taken(both.U, members), _taken(both.V, members), two,
        _taken(copies, members) if weighted else copies,
    )  # fmt: skip


@compiled
def _taken(values: Any, members: Any) -> Any:
    """values[members], which numba takes longer to compile."""
    found = np.empty(members.size)
    for i in range(members.size):
        found[i] = values[members[i]]
    return found


@compiled
def _room(members: Any, own: Any) -> Any:
    """Arrays for the sums of a list: those of the query if the list contains all documents."""
    if members.size == 0:
        return own
    return Derivatives(np.zeros(members.size), np.zeros(members.size))


@compiled
def _add(part: Any, members: Any, own: Any) -> None:
    for i in range(members.size):
        own.gradient[members[i]] += part.gradient[i]
        own.hessian[members[i]] += part.hessian[i]


@compiled
def _write_blocks(
    first: int, last: int, edges: Any, ranked: Any, q: int, own: Any, absolute: Any, out: Any
) -> None:
    for b in range(first, last):
        absolute[b] = write_by_row(ranked, q, own, (edges[b], edges[b + 1]), out)


@compiled
def write_by_row(ranked: Any, q: int, own: Any, ranks: Any, out: Any) -> float:
    """Write the sums of query q by row, and return the sum of absolute gradients.

    Documents with the same score and class share equally, as their order in the ranking is
    arbitrary; shares are proportional to multiplicities.  ``ranks`` are the first rank and the one
    after the last; documents that share are written with the first of them.
    """
    ranked, own, out = borrowed(ranked), borrowed(own), borrowed(out)
    start, n = ranked.boundaries[q], own.gradient.size
    score, relevance = ranked.score[start : start + n], ranked.relevance[start : start + n]
    copies, row = ranked.copies[start : start + n], ranked.row[start : start + n]
    own_gradient, own_hessian = own.gradient, own.hessian
    (first, stop), gradient, hessian, absolute = ranks, out.gradient, out.hessian, 0.0
    while 0 < first < stop and _tied(score, relevance, first):
        first += 1
    while first < stop:
        last = first + 1
        while last < n and _tied(score, relevance, last):
            last += 1
        if last - first > 1:
            total = copies[first:last].sum() if copies.size else float(last - first)
            slope, bend = own_gradient[first:last].sum(), own_hessian[first:last].sum()
            for r in range(first, last):
                times = copies[r] if copies.size else 1.0
                share = times / total if total > 0.0 else 0.0
                own_gradient[r], own_hessian[r] = slope * share, bend * share
        for r in range(first, last):
            absolute += abs(own_gradient[r])
            gradient[row[r]] = own_gradient[r]
            hessian[row[r]] = own_hessian[r]
        first = last
    return absolute


@compiled
def _tied(score: Any, relevance: Any, r: int) -> bool:
    """Whether the document at rank r has the same score and class as the one before."""
    return bool(score[r] == score[r - 1] and relevance[r] == relevance[r - 1])
