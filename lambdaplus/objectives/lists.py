"""The ranked lists of every query, and the sums over their pairs.

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

from lambdaplus.compiled import borrowed, compiled, hold
from lambdaplus.metrics.arrays import GAINS, classes_of
from lambdaplus.metrics.potentials import ABOVE, OWN, OWN_AND_ABOVE, Potentials, potentials
from lambdaplus.objectives import long_lists
from lambdaplus.objectives.kernels import REACH, pair_kernel
from lambdaplus.objectives.pairs import visit_pairs
from lambdaplus.objectives.ranked import Ranked
from lambdaplus.objectives.rows import write_by_row
from lambdaplus.objectives.sweep import Derivatives, RankedList, sweep, workspace_for
from lambdaplus.parallel import over_queries
from lambdaplus.queries import Floats

# A list of n documents in L classes is processed pair by pair if n < FEW + FEW_A_CLASS * L, where
# the fixed cost of the sweep per document is larger, or if ``all_pairs`` is set.
FEW, FEW_A_CLASS = 12, 3


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
        sums.absolute[q] = long_lists.write_by_blocks(ranked, q, own, out)
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
        start, stop = ranked.boundaries[q], ranked.boundaries[q + 1]
        absolute[q] = write_by_row(ranked, q, own, start, stop, out)
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
