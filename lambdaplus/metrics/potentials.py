"""Swap deltas as differences of potentials.

Consider two classes, a with a higher label than b.  For a document of class a at rank p and one of
class b at rank q > p (a concordant pair), swapping them changes the metric by -(U(p) - U(q)); for b
at p and a at q (a discordant pair) by V(p) - V(q).  Both potentials are functions of the rank, and
the same formula gives them for every metric of the catalogue.  Let f(r, x, s) be the term of rank r
if a document of class x is at this rank and s is the state of the ranking above it, and "s + b - a"
the state s with one document of class a above replaced by one of class b.  Then

    T_ab(r) = f(r, a, s_r + b - a) - f(r, b, s_r)
              + sum over k < r of [ f(k, x_k, s_k + b - a) - f(k, x_k, s_k) ],

    U = T_ab,   V = -T_ba.

A discounted sum of gains has T_ab = (g_a - g_b) d: the same potential for every pair of classes.
The tests compare U and V with brute force over every swap.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from lambdaplus.compiled import compiled
from lambdaplus.metrics.arrays import CASCADE, COUNT_ANY, COUNT_HIGHER, GAINS, WINDOW
from lambdaplus.queries import Floats

OWN_AND_ABOVE, ABOVE, OWN = (1.0, 1.0), (0.0, 1.0), (1.0, 0.0)


class Potentials(NamedTuple):
    """U and V of two classes, by rank: (n,) float64 each."""

    U: Floats
    V: Floats


@compiled
def coupling(classes: Any, x: int, c: int) -> float:
    """A[x, c], which each class-c document above a class-x document adds to its term."""
    if classes.kind == COUNT_ANY or (classes.kind == COUNT_HIGHER and x < c):
        return float(classes.row[x] * classes.column[c])
    return 0.0


@compiled
def reached(log_chance: float, certain: float, limit: float) -> float:
    """h: the probability that the reader passes all probabilistic and certain stops above."""
    left = min(1.0, max(0.0, 1.0 - certain / limit))
    return left if left == 0.0 or log_chance == 0.0 else left * math.exp(log_chance)


@compiled
def potentials(
    relevance: Any, discount: Any, copies: Any, classes: Any, pair: Any, parts: Any, out: Any
) -> None:
    """Write U and V of two classes at every rank of a list.

    Parameters
    ----------
    relevance : (n,) int
        Class at each rank.
    discount : (n,) float64
        d at each rank.
    copies : (n,) float64 or empty
        Multiplicities; empty if all are 1.
    classes : ClassArrays
        The arrays of the query of the list.
    pair : (int, int)
        The classes a and b.
    parts : (float, float)
        Factors of a document's own contribution and of the contribution of documents above it.
        They are OWN_AND_ABOVE; if documents have multiplicities, the two parts are computed
        separately (see `lambdaplus.objectives.lists`).
    out : Potentials
    """
    if classes.kind == CASCADE:
        _of_cascade(relevance, discount, classes, pair, out)
    elif classes.kind in (WINDOW, GAINS):
        _of_gains(discount, classes, pair, out)
    else:
        _of_counts(relevance, discount, copies, classes, pair, parts, out)


@compiled
def _of_gains(discount: Any, classes: Any, pair: Any, out: Any) -> None:
    a, b = pair
    for r in range(discount.size):
        gain_a, gain_b = classes.gain[a], classes.gain[b]
        if classes.kind == WINDOW:
            gain_a = gain_a if classes.opens[a] <= r < classes.closes[a] else 0.0
            gain_b = gain_b if classes.opens[b] <= r < classes.closes[b] else 0.0
        out.U[r] = out.V[r] = discount[r] * (gain_a - gain_b)


@compiled
def _of_counts(
    relevance: Any, discount: Any, copies: Any, classes: Any, pair: Any, parts: Any, out: Any
) -> None:
    (a, b), gain = pair, classes.gain
    # Contribution of a passed document of each class to the term of a minus that of b, and the
    # change of its own term if a document of class b replaces one of class a above it.
    adds, changes = np.empty(gain.size), np.empty(gain.size)
    for x in range(gain.size):
        adds[x] = coupling(classes, a, x) - coupling(classes, b, x)
        changes[x] = coupling(classes, x, b) - coupling(classes, x, a)
    own_U = parts[0] * (gain[a] - gain[b] + changes[a])
    own_V = parts[0] * (gain[a] - gain[b] + changes[b])
    above = passed = 0.0
    U, V, weighted = out.U, out.V, copies.size > 0
    for r in range(relevance.size):
        x = relevance[r]
        U[r] = discount[r] * (own_U + above) + passed
        V[r] = discount[r] * (own_V + above) + passed
        times = parts[1] * (copies[r] if weighted else 1.0)
        above += times * adds[x]
        passed += times * discount[r] * changes[x]


@compiled
def _of_cascade(relevance: Any, discount: Any, classes: Any, pair: Any, out: Any) -> None:
    # The probability of passing probabilistic stops is a product; certain stops are counted
    # separately, so that one of them can be removed again.
    (a, b), gain, limit = pair, classes.gain, classes.limit
    logs, certain = np.zeros(gain.size), np.zeros(gain.size)
    for c in range(gain.size):
        if classes.stop[c] < 1.0:
            logs[c] = math.log1p(-classes.stop[c])
        else:
            certain[c] = 1.0
    log_chance = stops = 0.0
    log_change, stops_change = logs[b] - logs[a], certain[b] - certain[a]
    passed_U = passed_V = 0.0
    for r in range(relevance.size):
        if stops - abs(stops_change) >= limit:  # no reader reaches this rank, even after the swap
            for below in range(r, relevance.size):
                out.U[below], out.V[below] = passed_U, passed_V
            break
        x = relevance[r]
        reach = reached(log_chance, stops, limit)
        with_b = reached(log_chance + log_change, stops + stops_change, limit)
        with_a = reached(log_chance - log_change, stops - stops_change, limit)
        out.U[r] = discount[r] * (gain[a] * with_b - gain[b] * reach) + passed_U
        out.V[r] = discount[r] * (gain[a] * reach - gain[b] * with_a) + passed_V
        passed_U += discount[r] * gain[x] * (with_b - reach)
        passed_V += discount[r] * gain[x] * (reach - with_a)
        log_chance += logs[x]
        stops += certain[x]
