"""Sums over pairs that are visited, a row at a time: exact, and faster than a sweep for few pairs.

Pairs are of different classes, so the elements of the largest class need no row: where few
documents are relevant these are the rows, and there are few pairs.

With e = exp(sigma s), rho of a better and a worse element is e_worse / (e_better + e_worse): one
exponential for each element, and one division for each pair.
"""

import math
from typing import NamedTuple

import numpy as np

from lambdaplus.compute.array_types import Bools, Floats, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.engine.lanes import (
    LANES,
    add,
    apart,
    divide,
    exponential,
    load,
    mul,
    splat,
    store,
    totals,
    where_less,
)
from lambdaplus.engine.ranked_lists import Lists, Sums

NEAR = 100.0  # distance, times sigma, within which the exponentials of a list are taken once
FAR = 300.0  # pairs that are further apart have no gradient to speak of, or a whole one
HUGE = 8e307  # the difference of two such scores is finite


class Elements(NamedTuple):
    """The elements of a list: those of the largest class, then, from an octet on, all others.

    Eight partners of a row are visited at a time; behind both are elements of weight 0.
    """

    place: Floats  # in the ranked lists
    score: Floats
    code: Floats
    gain: Floats  # the class itself, without gains
    U: Floats  # 0 without potentials
    V: Floats
    as_worse: Floats  # weight as the worse one of a pair
    as_better: Floats
    e: Floats  # exp(sigma s), for scores less one of them
    slope: Floats  # sums over pairs, in units of sigma
    curve: Floats  # in units of sigma^2


@compiled(error_model="numpy")
def add_few_pairs(
    first: int, last: int, lists: Lists, sigma: float, most: float, out: Sums, left: Bools
) -> None:
    """Add the sums over all pairs of those of the lists first .. last - 1 that have few of them.

    Few are ``most`` pairs for each element and class.  ``left`` gets for each list whether it is
    still to be swept.
    """
    longest, most_classes = 0, 0
    for k in range(first, last):
        longest = max(longest, lists.stop[k] - lists.start[k])
        most_classes = max(most_classes, lists.n_classes[k])
    count, room = np.empty(most_classes, np.int64), np.zeros((11, longest + 2 * LANES))
    elements = Elements(
        room[0], room[1], room[2], room[3], room[4], room[5], room[6], room[7], room[8], room[9],
        room[10],
    )  # fmt: skip
    for k in range(first, last):
        begin, end, classes = lists.start[k], lists.stop[k], lists.n_classes[k]
        largest = _largest_class(k, lists, count)
        n, m = end - begin, count[largest]
        pairs = (n - m) * (m + (0.5 * (n - m - 1) if classes > 2 else 0.0))
        left[k - first] = not lists.factors.size and pairs > most * n * classes
        if left[k - first]:
            continue
        others = (m + LANES - 1) // LANES * LANES
        stop = others + n - m
        _lay_out(k, lists, largest, others, elements)
        room[:, m:others] = room[:, stop : stop + LANES] = 0.0
        # Pairs with a worse element above are discordant. Of more than two classes, U is V.
        above, below = elements.U, elements.V
        if largest == 0:
            above, below = elements.V, elements.U
        far = sigma * (lists.score[begin] - lists.score[end - 1]) > NEAR
        if not far:
            _write_exponentials(sigma, lists.score[begin], m, others, stop, elements)
        lambdas = 0.0
        for row in range(others, stop):
            if far:
                s = elements.score[row]
                for q in range(stop + LANES):
                    d = sigma * (elements.score[q] - s)
                    elements.e[q] = math.exp(min(max(d, -FAR), FAR))
            # Partners are those of the largest class, and of the others those that follow.
            last = stop if classes > 2 else 0
            lambdas += _add_row(row, m, last, above, below, lists, elements)
        for first_j, last_j in ((0, m), (others, stop)):
            for j in range(first_j, last_j):
                i = int(elements.place[j])
                out.gradient[i] += sigma * elements.slope[j]
                out.hessian[i] += sigma * sigma * elements.curve[j]
        out.received[k] += 2.0 * sigma * lambdas


@compiled
def _largest_class(k: int, lists: Lists, count: Ints) -> int:
    """The class of the most elements of a list; the number of each is written to ``count``."""
    largest, classes = 0, lists.n_classes[k]
    for c in range(classes):
        count[c] = 0
    for i in range(lists.start[k], lists.stop[k]):
        count[lists.code[i]] += 1
    for c in range(classes):
        largest = c if count[c] > count[largest] else largest
    return largest


@compiled
def _lay_out(k: int, lists: Lists, largest: int, others: int, elements: Elements) -> None:
    """Write the elements of a list, with sums of 0."""
    low, high, at = 0, others, lists.gain_at[k]
    code, gain, factors = lists.code, lists.gain, lists.factors
    for i in range(lists.start[k], lists.stop[k]):
        is_partner = int(code[i] == largest)  # without a branch, which is hard to predict
        j = low if is_partner else high
        low, high = low + is_partner, high + 1 - is_partner
        elements.place[j], elements.score[j] = i, min(max(lists.score[i], -HUGE), HUGE)
        elements.code[j] = code[i]
        elements.gain[j] = gain[at + code[i]] if gain.size else code[i]
        if lists.U.size:
            elements.U[j], elements.V[j] = lists.U[i], lists.V[i]
        worse = better = lists.weight[i]
        if factors.size:
            worse, better = worse * factors[at + code[i], 0], better * factors[at + code[i], 1]
        elements.as_worse[j], elements.as_better[j] = worse, better
        elements.slope[j] = elements.curve[j] = 0.0


@compiled
def _write_exponentials(
    sigma: float, highest: float, m: int, others: int, stop: int, elements: Elements
) -> None:
    """Write exp(sigma s) of all elements, for scores less the highest; 1 behind both parts."""
    top = min(max(highest, -HUGE), HUGE)
    for q in range(0, stop, LANES):
        store(exponential(mul(add(load(elements.score, q), -top), sigma)), elements.e, q)
    elements.e[m:others] = elements.e[stop : stop + LANES] = 1.0


@compiled(error_model="numpy", forceinline=True)
def _add_row(
    row: int, m: int, last: int, P_above: Floats, P_below: Floats, lists: Lists, elements: Elements
) -> float:
    """Add the pairs of an element with those before m and, beyond its row, before ``last``.

    Returns the sum of their absolute gradients.
    """
    place, code, gain = elements.place, elements.code, elements.gain
    worse, better, e, slope, curve = (
        elements.as_worse, elements.as_better, elements.e, elements.slope, elements.curve
    )  # fmt: skip
    i, own_code, own_gain, own_e = place[row], code[row], gain[row], e[row]
    own_above, own_below = (P_above[row], P_below[row]) if lists.U.size else (1.0, 1.0)
    most_apart = np.inf if lists.gain.size else 1.0
    slopes = curves = sizes = splat(0.0)
    for part in range(2):
        for q in range(0 if part == 0 else row + 1, m if part == 0 else last, LANES):
            # The swap delta: the differences of gains and of potentials, times both weights.
            partner, of_q, e_q = load(place, q), load(code, q), load(e, q)
            own_P = where_less(partner, i, own_above, own_below)
            P = where_less(partner, i, load(P_above, q), load(P_below, q))
            gains = apart(load(gain, q), own_gain)
            gains = where_less(gains, most_apart, gains, most_apart)
            weight = where_less(
                of_q, own_code, mul(load(worse, q), better[row]), mul(load(better, q), worse[row])
            )
            inverse = divide(1.0, add(e_q, own_e))
            term = mul(mul(weight, gains), mul(apart(P, own_P), inverse))  # delta / (e_q + e)
            # rho is e_worse / (e_q + e); what the better one gets, is taken from the worse one.
            push = mul(term, where_less(of_q, own_code, e_q, -own_e))
            bend = mul(mul(term, own_e), mul(e_q, inverse))
            slopes, curves = add(push, slopes), add(bend, curves)
            sizes = add(apart(push, 0.0), sizes)
            store(add(push, load(slope, q)), slope, q)
            store(add(bend, load(curve, q)), curve, q)
    pushed, bent = totals(slopes, curves)
    slope[row] -= pushed
    curve[row] += bent
    return float(totals(sizes, sizes)[0])
