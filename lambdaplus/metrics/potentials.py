"""Swap deltas as differences of potentials.

Take two classes, a above b in label.  For a document of class a at rank p and one of class b at
rank q > p (a concordant pair), trading places changes the metric by -(U(p) - U(q)); for b at p and
a at q (discordant) by V(p) - V(q).  Both potentials are functions of the rank, and one formula
gives them for every metric of the catalogue.  Write f(r, x, s) for the term of rank r if class x
stands there and s is what stands above, and "s + b - a" for s with one document of class a above
replaced by one of class b.  Then

    T_ab(r) = f(r, a, s_r + b - a) - f(r, b, s_r)
              + sum over k < r of [ f(k, x_k, s_k + b - a) - f(k, x_k, s_k) ],

    U = T_ab,   V = -T_ba.

A discounted sum of gains has T_ab = (g_a - g_b) d: the same potential for every pair of classes.
The tests compare U and V with brute force over every swap.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from lambdaplus.compiled import compiled
from lambdaplus.metrics.terms import ANY, LOWER, NO_RELATION


@compiled
def coupling(relation: int, row: Any, column: Any, x: int, c: int) -> float:
    """A[x, c]: what each class-c document above a class-x document adds to its term."""
    if relation == ANY or (relation == LOWER and x < c):
        return float(row[x] * column[c])
    return 0.0


@compiled
def reached(log_chance: float, sure: float, patience: float) -> float:
    """h: the chance that the reader comes this far, past doubtful stops and past sure ones."""
    left = min(1.0, max(0.0, 1.0 - sure / patience))
    return left if left == 0.0 or log_chance == 0.0 else left * math.exp(log_chance)


@compiled
def potentials(
    code: Any, discount: Any, terms: Any, q: int, a: int, b: int, own: float, copies: Any,
    high: Any, low: Any,
) -> None:  # fmt: skip
    """Write U of classes a and b at every rank of query q into high, V into low.

    Parameters
    ----------
    code : (n,) int
        Class at each rank.
    discount : (n,) float64
        d at each rank.
    terms : Terms
    own : float
        Factor of the part that a document contributes by itself; 1, but see
        ``lambdaplus.objectives.one_list``.
    copies : (n,) float64 or empty
        Multiplicities; empty for ones.
    """
    strata = slice(terms.first[q], terms.first[q + 1])
    gain = terms.gain[strata]
    if terms.stops:
        stop, patience = terms.stop[strata], terms.patience[q]
        _of_stopping(code, discount, gain, stop, patience, a, b, high, low)
    elif terms.windowed:
        opens, closes = terms.opens[strata], terms.closes[strata]
        for r in range(code.size):
            of_a = gain[a] if opens[a] <= r < closes[a] else 0.0
            of_b = gain[b] if opens[b] <= r < closes[b] else 0.0
            high[r] = low[r] = discount[r] * (of_a - of_b)
    else:
        row, column = terms.row[strata], terms.column[strata]
        _of_sums(code, discount, gain, terms.relation, row, column, a, b, own, copies, high, low)


@compiled
def _of_sums(
    code: Any, discount: Any, gain: Any, relation: int, row: Any, column: Any, a: int, b: int,
    own: float, copies: Any, high: Any, low: Any,
) -> None:  # fmt: skip
    # What a document of each class, once passed, adds to the term of a less that of b, and to its
    # own term if b takes a's place above it.
    adds, changes = np.zeros(gain.size), np.zeros(gain.size)
    if relation != NO_RELATION:
        for x in range(gain.size):
            adds[x] = coupling(relation, row, column, a, x) - coupling(relation, row, column, b, x)
            changes[x] = coupling(relation, row, column, x, b) - coupling(
                relation, row, column, x, a
            )
    itself_high = own * (gain[a] - gain[b] + changes[a])
    itself_low = own * (gain[a] - gain[b] + changes[b])
    above = passed = 0.0
    for r in range(code.size):
        x = code[r]
        high[r] = discount[r] * (itself_high + above) + passed
        low[r] = discount[r] * (itself_low + above) + passed
        times = copies[r] if copies.size else 1.0
        above += times * adds[x]
        passed += times * discount[r] * changes[x]


@compiled
def _of_stopping(
    code: Any, discount: Any, gain: Any, stop: Any, patience: float, a: int, b: int,
    high: Any, low: Any,
) -> None:  # fmt: skip
    # The chance of passing doubtful stops is a product; sure ones are counted apart, so that one
    # of them can be taken out of it again.
    logs, sures = np.zeros(stop.size), np.zeros(stop.size)
    for c in range(stop.size):
        if stop[c] < 1.0:
            logs[c] = math.log1p(-stop[c])
        else:
            sures[c] = 1.0
    log_chance = sure = 0.0
    log_change, sure_change = logs[b] - logs[a], sures[b] - sures[a]
    passed_high = passed_low = 0.0
    for r in range(code.size):
        if sure - abs(sure_change) >= patience:  # nobody comes this far, whoever is above
            high[r:], low[r:] = passed_high, passed_low
            break
        x = code[r]
        reach = reached(log_chance, sure, patience)
        with_b = reached(log_chance + log_change, sure + sure_change, patience)
        with_a = reached(log_chance - log_change, sure - sure_change, patience)
        high[r] = discount[r] * (gain[a] * with_b - gain[b] * reach) + passed_high
        low[r] = discount[r] * (gain[a] * reach - gain[b] * with_a) + passed_low
        passed_high += discount[r] * gain[x] * (with_b - reach)
        passed_low += discount[r] * gain[x] * (reach - with_a)
        log_chance += logs[x]
        sure += sures[x]
