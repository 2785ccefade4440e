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

import numba

from lambdaplus.metrics.terms import ANY, LOWER, NO_RELATION


@numba.njit(cache=True, nogil=True)
def coupling(relation: int, row: Any, column: Any, x: int, c: int) -> float:
    """A[x, c]: what each class-c document above a class-x document adds to its term."""
    if relation == ANY or (relation == LOWER and x < c):
        return float(row[x] * column[c])
    return 0.0


@numba.njit(cache=True, nogil=True)
def reached(log_chance: float, sure: int, patience: float) -> float:
    """h: the chance that the reader comes this far, past doubtful stops and past sure ones."""
    left = min(1.0, max(0.0, 1.0 - sure / patience))
    return left if left == 0.0 or log_chance == 0.0 else left * math.exp(log_chance)


@numba.njit(cache=True, nogil=True)
def potential(
    code: Any, discount: Any, terms: Any, q: int, a: int, b: int, sign: float, own: float,
    copies: Any, out: Any,
) -> None:  # fmt: skip
    """Write ``sign * T_ab`` at every rank of query q into out.

    Parameters
    ----------
    code : (n,) int
        Class at each rank.
    discount : (n,) float64
        d at each rank.
    terms : Terms
    own : float
        Factor of the part that a document contributes by itself; 1, but see
        `lambdaplus.objectives.pooled`.
    copies : (n,) float64 or empty
        Multiplicities; empty for ones.
    """
    strata = slice(terms.first[q], terms.first[q + 1])
    gain = terms.gain[strata]
    if terms.stops:
        _stopping_potential(code, discount, gain, terms.stop[strata], terms.patience[q],
                            a, b, sign, out)  # fmt: skip
        return
    if terms.windowed:
        opens, closes = terms.opens[strata], terms.closes[strata]
        for r in range(code.size):
            of_a = gain[a] if opens[a] <= r < closes[a] else 0.0
            of_b = gain[b] if opens[b] <= r < closes[b] else 0.0
            out[r] = sign * discount[r] * (of_a - of_b)
        return
    relation, row, column = terms.relation, terms.row[strata], terms.column[strata]
    itself = own * (
        gain[a] - gain[b]
        + coupling(relation, row, column, a, b) - coupling(relation, row, column, a, a)
    )  # fmt: skip
    above_a = above_b = passed = 0.0
    for r in range(code.size):
        x = code[r]
        out[r] = sign * (discount[r] * (itself + above_a - above_b) + passed)
        if relation != NO_RELATION:
            times = copies[r] if copies.size else 1.0
            above_a += times * coupling(relation, row, column, a, x)
            above_b += times * coupling(relation, row, column, b, x)
            change = coupling(relation, row, column, x, b) - coupling(relation, row, column, x, a)
            passed += times * discount[r] * change


@numba.njit(cache=True, nogil=True)
def _stopping_potential(
    code: Any, discount: Any, gain: Any, stop: Any, patience: float, a: int, b: int, sign: float,
    out: Any,
) -> None:  # fmt: skip
    # The chance of passing doubtful stops is a product; sure ones are counted apart, so that one
    # of them can be taken out of it again.
    log_chance, sure = 0.0, 0
    log_change, sure_change = 0.0, 0
    for c, times in ((b, 1), (a, -1)):
        if stop[c] < 1.0:
            log_change += times * math.log1p(-stop[c])
        else:
            sure_change += times
    passed = 0.0
    for r in range(code.size):
        x = code[r]
        reach = reached(log_chance, sure, patience)
        swapped = reached(log_chance + log_change, sure + sure_change, patience)
        out[r] = sign * (discount[r] * (gain[a] * swapped - gain[b] * reach) + passed)
        passed += discount[r] * gain[x] * (swapped - reach)
        if stop[x] < 1.0:
            log_chance += math.log1p(-stop[x])
        else:
            sure += 1
