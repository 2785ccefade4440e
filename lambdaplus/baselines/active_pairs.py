"""Sums over the active pairs of a query: label i > label j, but score i - score j < margin.

Going down the ranking, active partners of the higher documents are only added, never removed; a
Fenwick tree over the labels of a query sums over those of a lower label in O(n log L) for n
documents and L labels (Lee & Lin 2014).  Partners of a higher label come from the reversed ranking.
"""

from typing import NamedTuple

import numpy as np

from lambdaplus.compute.array_types import Floats, Int32s, Ints, Rows
from lambdaplus.compute.compiled import compiled
from lambdaplus.compute.parallel import over_queries
from lambdaplus.lists.queries import Queries
from lambdaplus.ranking.sort import Ranking


class Partners(NamedTuple):
    """Active partners of each document, (n,), with lower and higher labels; sum of their values."""

    below: Floats
    above: Floats
    total: Floats


def active_pairs(queries: Queries, ranking: Ranking, margin: Floats, value: Floats) -> Partners:
    """Count the active partners of each document, and sum their values; margin: (n_queries,)."""
    code, n_classes = queries.strata().code, queries.strata().n_classes
    partners = Partners(*np.zeros((3, value.size)))
    of_documents = *ranking, code, n_classes, margin, value
    over_queries(_active_pairs, queries.boundaries, *of_documents, *partners)
    return partners


def pairs_by_query(queries: Queries) -> Floats:
    """Number of pairs of documents with different labels in each query, (n_queries,)."""
    strata = queries.strata()
    return (queries.sizes**2.0 - strata.sum(strata.count**2)) / 2


def pair_weight(queries: Queries) -> Floats:
    """Weight of the pairs of each document, (n,): 1/|S_q| of its query."""
    pairs = pairs_by_query(queries)
    if not pairs.any():
        raise ValueError("nothing to learn: no query has two documents with different labels")
    return np.repeat(1.0 / np.maximum(pairs, 1.0), queries.sizes)


@compiled
def _active_pairs(
    first: int, last: int, boundaries: Ints, row: Rows, score: Floats, code: Int32s,
    n_classes: Ints, margin: Floats, value: Floats, below: Floats, above: Floats, total: Floats,
) -> None:  # fmt: skip
    """Write the sums of `Partners` for each document, with a Fenwick tree over the labels."""
    for q in range(first, last):
        start, stop, top = boundaries[q], boundaries[q + 1], n_classes[q] - 1
        n = stop - start
        s, c, v = np.empty(n), np.empty(n, dtype=np.int64), np.empty(n)
        # Down: partners of a lower label. Up, with scores negated and classes reversed, the same
        # loop finds those of a higher label.
        for down in (True, False):
            count = below if down else above
            for r in range(n):
                place = start + r if down else stop - 1 - r
                s[r] = score[place] if down else -score[place]
                c[r] = code[row[place]] if down else top - code[row[place]]
                v[r] = value[row[place]]
            # Node j of the Fenwick tree has the sum over the j & -j classes that end with class j -
            # 1.
            counts, sums = np.zeros(top + 2), np.zeros(top + 2)  # nodes are numbered from 1
            entered = 0
            for r in range(n):
                # s[r] falls with r, so a document that is near enough to r is near enough to all
                # that follow, whether it is above or below r.
                while entered < n and s[r] - s[entered] < margin[q]:
                    node = c[entered] + 1
                    # To the node of the class, and to all nodes whose range contains it.
                    while node < counts.size:
                        counts[node] += 1.0
                        sums[node] += v[entered]
                        node += node & -node
                    entered += 1
                document = row[start + r if down else stop - 1 - r]
                # The ranges of at most log2(L) nodes make up the classes below that of r.
                node = c[r]  # classes 0 ... c - 1
                while node > 0:
                    count[document] += counts[node]
                    total[document] += sums[node]
                    node -= node & -node
