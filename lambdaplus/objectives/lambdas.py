"""Lambda-gradients of every query: rank, potentials, sweep, ties, scale."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lambdaplus.compiled import compiled
from lambdaplus.metrics.potentials import potentials
from lambdaplus.metrics.terms import NO_RELATION
from lambdaplus.objectives.pairs import visit_pairs
from lambdaplus.objectives.sweep import scratch_for, sweep

# A list of n documents in L classes is visited pair by pair if n < FEW + FEW_A_CLASS * L, or if
# it is asked for: there the sweep's fixed cost per document is the larger one.
FEW, FEW_A_CLASS = 12, 3


@compiled
def lambda_queries(
    first: int, last: int, boundaries: Any, base: Any, ranking: Any, terms: Any, kernel: Any,
    plain: Any, normalize: bool, all_pairs: bool, skip: Any, gradient: Any, hessian: Any,
) -> None:  # fmt: skip
    """Write the gradient and Hessian of the queries first .. last - 1, in row order.

    kernel is the pair function; plain the undamped one, for queries whose scores are all equal.
    Queries that are marked in skip are left out.
    """
    longest = most = 0
    for q in range(first, last):
        if not skip[q]:
            longest = max(longest, boundaries[q + 1] - boundaries[q])
            most = max(most, terms.first[q + 1] - terms.first[q])
    blocks = max(kernel.rates.shape[0], plain.rates.shape[0])
    scratch = scratch_for(max(most, 2), blocks)
    slope, bend = np.empty(longest), np.empty(longest)
    high, low = np.empty(longest), np.empty(longest)
    ones = np.empty(0)  # multiplicities: none; a global would be read-only, and all compiled twice
    for q in range(first, last):
        if skip[q]:
            continue
        start, stop = boundaries[q], boundaries[q + 1]
        n, classes = stop - start, terms.first[q + 1] - terms.first[q]
        place = ranking.place[start:stop]
        if classes < 2 or terms.scale[q] == 0.0:
            for r in range(n):
                gradient[base[place[r]]] = hessian[base[place[r]]] = 0.0
            continue
        score, code = ranking.score[start:stop], terms.code[place]
        strata = slice(terms.first[q], terms.first[q + 1])
        g, h = slope[:n], bend[:n]
        g[:] = 0.0
        h[:] = 0.0
        use = plain if score[0] == score[n - 1] else kernel
        if terms.relation == NO_RELATION and not terms.stops and not terms.windowed:
            # A discounted sum of gains: the discount is the potential, the gains the worth.
            discount = terms.discount[:n]
            total = _one_list(score, code, discount, discount, terms.gain[strata], ones, use,
                              all_pairs, scratch, g, h)  # fmt: skip
        else:
            total = _class_pairs(score, code, terms, q, ones, use, all_pairs, scratch, high[:n],
                                 low[:n], g, h)  # fmt: skip
        scale = terms.scale[q]
        total *= scale
        if normalize and total > 0.0:
            scale *= query_scale(total)
        share_ties(score, code, ones, g, h)
        for r in range(n):
            row = base[place[r]]
            gradient[row] = scale * g[r]
            hessian[row] = scale * h[r]


@compiled
def _one_list(
    score: Any, code: Any, high: Any, low: Any, worth: Any, ones: Any, kernel: Any,
    all_pairs: bool, scratch: Any, g: Any, h: Any,
) -> float:  # fmt: skip
    if all_pairs or score.size < FEW + FEW_A_CLASS * worth.size:
        return float(visit_pairs(score, code, high, low, worth, ones, kernel, g, h))
    return float(sweep(score, code, high, low, worth, ones, kernel, scratch, g, h))


@compiled
def _class_pairs(
    score: Any, code: Any, terms: Any, q: int, ones: Any, kernel: Any, all_pairs: bool,
    scratch: Any, high: Any, low: Any, g: Any, h: Any,
) -> float:  # fmt: skip
    """Sum over the pairs of classes: each has potentials, and so a sweep, of its own."""
    n = score.size
    classes = terms.first[q + 1] - terms.first[q]
    two = np.array([0.0, 1.0])
    members = np.empty(n if classes > 2 else 0, dtype=np.int64)
    total = 0.0
    for a in range(1, classes):
        for b in range(a):
            potentials(code, terms.discount, terms, q, a, b, 1.0, ones, high, low)
            if classes == 2:
                return float(_one_list(score, code, high, low, two, ones, kernel, all_pairs,
                                       scratch, g, h))  # fmt: skip
            m = 0
            for r in range(n):
                if code[r] == a or code[r] == b:
                    members[m] = r
                    m += 1
            chosen = members[:m]
            part_g, part_h = np.zeros(m), np.zeros(m)
            total += _one_list(score[chosen], (code[chosen] == a).astype(np.int32), high[chosen],
                               low[chosen], two, ones, kernel, all_pairs,
                               scratch, part_g, part_h)  # fmt: skip
            for i in range(m):
                g[chosen[i]] += part_g[i]
                h[chosen[i]] += part_h[i]
    return total


@compiled
def query_scale(total: float) -> float:
    """log2(1 + S) / S, to the last digits where S is small too."""
    return math.log1p(total) / (math.log(2.0) * total)


@compiled
def share_ties(score: Any, code: Any, copies: Any, g: Any, h: Any) -> None:
    """Give documents with equal score and class equal shares of what they received together.

    Their order in the ranking was arbitrary; with multiplicities they share in proportion.
    """
    n = score.size
    start = 0
    while start < n:
        stop = start + 1
        while stop < n and score[stop] == score[start] and code[stop] == code[start]:
            stop += 1
        if stop - start > 1:
            sum_g = sum_h = weight = 0.0
            for r in range(start, stop):
                sum_g += g[r]
                sum_h += h[r]
                weight += copies[r] if copies.size else 1.0
            if weight > 0.0:
                for r in range(start, stop):
                    share = (copies[r] if copies.size else 1.0) / weight
                    g[r] = sum_g * share
                    h[r] = sum_h * share
        start = stop
