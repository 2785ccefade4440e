"""Sums over the pairs of a query with a margin below 1.

A pair of documents i, j of a query with label i > label j is active if s_i - s_j < 1.  Going down
the ranking, active partners of the higher documents are only added, never removed; a tree over
label classes with these partners gives each document the count and the sum over those of a lower
class: O(n log L) for a query of n documents and L labels (Lee & Lin 2014).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lambdaplus.compute.compiled import compiled


@compiled
def _partners_below(
    score: Any, code: Any, value: Any, count_tree: Any, sum_tree: Any, count: Any, total: Any
) -> None:
    """For each document: number of active partners of a lower class, and sum of their values.

    Scores are descending; classes are numbered from 0.  Fenwick trees have one node per class,
    numbered from 1.
    """
    count_tree[:] = 0.0
    sum_tree[:] = 0.0
    n = score.size
    entered = 0
    for r in range(n):
        while entered < n and score[r] - score[entered] < 1.0:
            node = code[entered] + 1
            while node < count_tree.size:
                count_tree[node] += 1.0
                sum_tree[node] += value[entered]
                node += node & -node
            entered += 1
        node = code[r]  # classes 0 ... code - 1
        while node > 0:
            count[r] += count_tree[node]
            total[r] += sum_tree[node]
            node -= node & -node


@compiled
def active_pairs(
    first: int, last: int, boundaries: Any, place: Any, score: Any, code: Any, n_classes: Any,
    value: Any, below: Any, above: Any, total: Any,
) -> None:  # fmt: skip
    """For each document: active partners of lower and of higher classes, and sum of all values.

    `place` and `score` are a ranking; the other arrays are in the order of `Queries.row_order`.
    """
    for q in range(first, last):
        start, stop = boundaries[q], boundaries[q + 1]
        n, top = stop - start, n_classes[q] - 1
        count_tree, sum_tree = np.empty(top + 2), np.empty(top + 2)
        s, c, v = np.empty(n), np.empty(n, dtype=np.int64), np.empty(n)
        count, found = np.zeros(n), np.zeros(n)
        for r in range(n):
            document = place[start + r]
            s[r], c[r], v[r] = score[start + r], code[document], value[document]
        _partners_below(s, c, v, count_tree, sum_tree, count, found)
        for r in range(n):
            document = place[start + r]
            below[document] = count[r]
            total[document] = found[r]
            # In reversed order with opposite signs, higher classes are lower ones.
            mirror = start + n - 1 - r
            s[r], c[r] = -score[mirror], top - code[place[mirror]]
            v[r] = value[place[mirror]]
        count[:], found[:] = 0.0, 0.0
        _partners_below(s, c, v, count_tree, sum_tree, count, found)
        for r in range(n):
            document = place[start + n - 1 - r]
            above[document] = count[r]
            total[document] += found[r]
