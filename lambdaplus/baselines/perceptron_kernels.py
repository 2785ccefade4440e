"""One pass of the perceptron over the preference pairs, linear or in dual form."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lambdaplus.baselines.preference_pairs import documents, nth
from lambdaplus.compute.compiled import compiled
from lambdaplus.data.queries import Floats, Ints

RUN, VERSION, SIZE, WORST, SURVIVED, BURN_IN = range(6)


class State(NamedTuple):
    """The state of the perceptron, which the kernel updates in place.

    Attributes
    ----------
    w : (m,) float64
        Current hypothesis: a weight per feature, or in dual form per training document.
    score : (n,) float64
        Dual form: current score of every training document.  Linear form: empty.
    total : (m,) float64
        Sum of past hypotheses times the number of pairs that they survived.
    members : (capacity, m) float64
        Hypotheses of the committee; the first `counter[SIZE]` rows are in use.
    survival, birth : (capacity,) int64
        Number of consecutive pairs that a member ranked correctly, and index of the hypothesis.
    counter : (6,) int64
        By the names above: number of consecutive pairs that w has ranked correctly, mistakes before
        w, number of committee members, index of the member that survived least, number of pairs
        that `total` sums over, and number of first hypotheses that do not vote.
    """

    w: Floats
    score: Floats
    total: Floats
    members: Floats
    survival: Ints
    birth: Ints
    counter: Ints


def start(width: int, n_scores: int, capacity: int, burn_in: int) -> State:
    """All zeros and an empty committee."""
    counter = np.zeros(6, dtype=np.int64)
    counter[BURN_IN] = burn_in
    return State(
        w=np.zeros(width),
        score=np.zeros(n_scores),
        total=np.zeros(width),
        members=np.empty((capacity, width)),
        survival=np.empty(capacity, dtype=np.int64),
        birth=np.empty(capacity, dtype=np.int64),
        counter=counter,
    )


@compiled
def offer(w: Any, total: Any, members: Any, survival: Any, birth: Any, counter: Any) -> None:
    """Add the current hypothesis to the committee if it survived longer than some member."""
    run, version = counter[RUN], counter[VERSION]
    if version < counter[BURN_IN]:
        return
    if run > 0:
        for k in range(w.size):
            total[k] += run * w[k]
        counter[SURVIVED] += run
    place = counter[SIZE]
    if place < survival.size:
        counter[SIZE] += 1
    else:
        place = counter[WORST]
        if run <= survival[place]:
            return
    members[place] = w
    survival[place] = run
    birth[place] = version
    if counter[SIZE] == survival.size:
        counter[WORST] = np.argmin(survival)


@compiled(fastmath={"reassoc"})
def _margin(w: Any, features: Any, i: int, j: int) -> float:
    total = 0.0
    for k in range(w.size):
        total += w[k] * (features[i, k] - features[j, k])
    return total


@compiled
def run_pass(
    features: Any, dual: bool, pairs: Any, order: Any, misses: Any, bound: float, state: Any
) -> None:  # fmt: skip
    """Visit all pairs once, in the given order.

    `features` are the rows of the documents, or in dual form the Gram matrix, in the order of the
    pairs.  A pair with more than `bound` mistakes is skipped.
    """
    w, score, total = state.w, state.score, state.total
    members, survival, birth, counter = state.members, state.survival, state.birth, state.counter
    for place in range(order.n):
        pair = nth(order, place)
        if misses.size and misses[pair] > bound:
            continue
        i, j = documents(pairs, pair)
        margin = score[i] - score[j] if dual else _margin(w, features, i, j)
        if margin > 0.0:
            counter[RUN] += 1
            continue
        if misses.size:
            misses[pair] += np.uint16(1)
        offer(w, total, members, survival, birth, counter)
        rate = pairs.rate[i]
        if dual:
            w[i] += rate
            w[j] -= rate
            for k in range(score.size):
                score[k] += rate * (features[i, k] - features[j, k])
        else:
            for k in range(w.size):
                w[k] += rate * (features[i, k] - features[j, k])
        counter[RUN] = 0
        counter[VERSION] += 1
