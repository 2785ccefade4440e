"""Sums over pairs that are visited, a row at a time: exact, and faster than a sweep for few pairs.

Pairs are of different classes, so the elements of the largest class need no row: where few
documents are relevant these are the rows, and there are few pairs.

With e = exp(sigma s), rho of a better and a worse element is e_worse / (e_better + e_worse): one
exponential for each element, and one division for each pair.  Eight partners of a row are visited
at a time; behind the last one is space for partners of weight 0.
"""

import math

import numpy as np

from lambdaplus.compute.array_types import Floats, Ints
from lambdaplus.compute.compiled import compiled
from lambdaplus.engine.exponentials import REACH, PairShape
from lambdaplus.engine.lanes import (
    LANES,
    add,
    apart,
    divide,
    exponential,
    load,
    madd,
    mul,
    splat,
    store,
    totals,
    where_less,
)
from lambdaplus.engine.lists import Lists, Sums

NEAR = 100.0  # distance, times sigma, within which the exponentials of a list are taken once
FAR = 300.0  # pairs that are further apart have no gradient to speak of, or a whole one
HUGE = 8e307  # the difference of two such scores is finite
FARTHEST = 1e100  # distance whose products with exponentials are finite

DONE, PLAIN, DAMPED, DAMPED_FAR = range(4)  # functions of a sweep that is left


@compiled(error_model="numpy")
def add_few_pairs(
    first: int, last: int, lists: Lists, spread: Floats, shape: PairShape, most: float, out: Sums,
    left: Ints,
) -> None:  # fmt: skip
    """Add the sums over all pairs of those of the lists first .. last - 1 that have few of them.

    ``spread`` is the range of the scores of each query, if there is damping, which a range of 0
    has not.  Few are ``most`` pairs for each element, class and octet of rates of a sweep.
    ``left`` gets for each list the function with which it is still to be swept, or `DONE`.
    """
    score, code, weight = lists.score, lists.code, lists.weight
    gain, factors, (sigma, damping), longest, many = lists.gain, lists.factors, shape, 0, 0
    for k in range(first, last):
        longest, many = max(longest, lists.stop[k] - lists.start[k]), max(many, lists.n_classes[k])
    count = np.empty(many, np.int64)
    # Those of the largest class come first, then, from the next octet on, all others.
    room = np.empty((12, longest + 2 * LANES))
    # Weights as the worse one of a pair, and as the better one, if these are others.
    worse, better = room[0], room[1 if factors.size else 0]
    place, scores, e, U, V, gains = room[2], room[3], room[4], room[5], room[6], room[7]
    codes, slopes, curves, moved = room[8], room[9], room[10], room[11]
    for j in range(room.shape[1]):
        U[j], V[j] = 0.0, 0.0
    for k in range(first, last):
        begin, end, classes = lists.start[k], lists.stop[k], lists.n_classes[k]
        at, n = lists.gain_at[k], end - begin
        range_ = spread[lists.query[k]] if damping > 0.0 else 0.0
        largest = 0
        left[k - first] = DONE
        for c in range(classes):
            count[c] = 0
        for i in range(begin, end):
            count[code[i]] += 1
        for c in range(classes):
            largest = c if count[c] > count[largest] else largest
        m = count[largest]
        pairs = (n - m) * (m + (0.5 * (n - m - 1) if classes > 2 else 0.0))
        plain = range_ == 0.0
        if not factors.size and pairs > most * n * classes * (1 if plain else 2):
            left[k - first] = PLAIN if plain else DAMPED if sigma * range_ <= REACH else DAMPED_FAR
            continue
        width, damped = (1.0, 0.0) if plain else (damping, 1.0)
        top = min(max(score[begin], -HUGE), HUGE)
        far = sigma * (score[begin] - score[end - 1]) > NEAR
        others = (m + LANES - 1) // LANES * LANES
        stop = others + n - m
        low, high = 0, others
        for i in range(begin, end):
            is_partner = int(code[i] == largest)  # without a branch, which is hard to predict
            j = low if is_partner else high
            low, high = low + is_partner, high + 1 - is_partner
            place[j], scores[j], worse[j] = i, min(max(score[i], -HUGE), HUGE), weight[i]
            slopes[j] = curves[j] = 0.0
            if lists.U.size:
                U[j], V[j] = lists.U[i], lists.V[i]
            codes[j], gains[j] = code[i], gain[at + code[i]] if gain.size else code[i]
            if factors.size:
                better[j] = weight[i] * factors[at + code[i], 1]
                worse[j] = weight[i] * factors[at + code[i], 0]
        behind = (m, others), (stop, stop + LANES)
        for first_j, last_j in behind:
            for j in range(first_j, last_j):
                place[j] = scores[j] = U[j] = V[j] = worse[j] = better[j] = 0.0
                gains[j] = codes[j] = slopes[j] = curves[j] = 0.0
        for q in range(0, stop, LANES):
            store(exponential(mul(add(load(scores, q), -top), sigma)), e, q)
        for first_j, last_j in behind:
            for j in range(first_j, last_j):
                e[j] = 1.0
        # Pairs with a worse element above are discordant. Of more than two classes, U is V.
        P_above, P_below = (V, U) if largest == 0 else (U, V)
        places = moved if far else scores
        most_apart, lambdas = np.inf if gain.size else 1.0, 0.0
        for j in range(others, stop):
            s_j, place_j, code_j, gain_j = scores[j], place[j], codes[j], gains[j]
            own_above, own_below = (P_above[j], P_below[j]) if lists.U.size else (1.0, 1.0)
            if far:
                for q in range(stop + LANES):
                    moved[q] = min(max(scores[q] - s_j, -FARTHEST), FARTHEST)
                    e[q] = math.exp(min(max(sigma * moved[q], -FAR), FAR))
                s_j = 0.0
            e_j, as_worse, as_better = e[j], worse[j], better[j]
            slope = curve = size = splat(0.0)
            for part in range(2):
                # The largest class, then those below in others.
                first_q, last_q = (0, m) if part == 0 else (j + 1, stop if classes > 2 else 0)
                for q in range(first_q, last_q, LANES):
                    above, c_q, e_q = load(place, q), load(codes, q), load(e, q)
                    distance = madd(apart(load(places, q), s_j), damped, width)
                    inverse = divide(1.0, mul(add(e_q, e_j), distance))
                    own = where_less(above, place_j, own_above, own_below)
                    P = where_less(above, place_j, load(P_above, q), load(P_below, q))
                    by_gain = apart(load(gains, q), gain_j)
                    by_gain = where_less(by_gain, most_apart, by_gain, most_apart)
                    as_it, against = load(worse, q), load(better, q)
                    weigh = where_less(c_q, code_j, mul(as_it, as_better), mul(against, as_worse))
                    term = mul(mul(weigh, by_gain), mul(apart(P, own), inverse))
                    push = mul(term, where_less(c_q, code_j, e_q, -e_j))
                    bend = mul(mul(term, e_j), mul(e_q, mul(distance, inverse)))
                    slope, curve = add(push, slope), add(bend, curve)
                    size = add(apart(push, 0.0), size)
                    store(add(push, load(slopes, q)), slopes, q)
                    store(add(bend, load(curves, q)), curves, q)
            pushed, bent = totals(slope, curve)
            slopes[j] -= pushed
            curves[j] += bent
            lambdas += totals(size, size)[0]
        for first_j, last_j in ((0, m), (others, stop)):
            for j in range(first_j, last_j):
                out.gradient[int(place[j])] += sigma * slopes[j]
                out.hessian[int(place[j])] += sigma * sigma * curves[j]
        out.received[k] += 2.0 * sigma * lambdas
