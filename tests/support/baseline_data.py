"""Small data and explicit pairs, for the tests of the pairwise baselines."""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray
from small_data import Small

Array = NDArray[Any]


class Pairs(NamedTuple):
    """Every (higher, lower) pair of rows, and its weight 1/|S_q|."""

    high: Array
    low: Array
    rate: Array


def all_pairs(labels: Array, qid: Array) -> Pairs:
    """By two nested loops."""
    high, low, rate = [], [], []
    for q in np.unique(qid):
        rows = np.flatnonzero(qid == q)
        mine = [(i, j) for i in rows for j in rows if labels[i] > labels[j]]
        high += [i for i, _ in mine]
        low += [j for _, j in mine]
        rate += [1.0 / max(len(mine), 1)] * len(mine)
    return Pairs(np.array(high, dtype=int), np.array(low, dtype=int), np.array(rate))


@st.composite
def rankings(draw: st.DrawFn, *, integers: bool = False) -> Small:
    """A few queries of a few documents, ties in labels and features likely."""
    sizes = np.array([*draw(st.lists(st.integers(1, 7), max_size=4)), draw(st.integers(2, 7))])
    levels = draw(st.integers(2, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = sizes.sum()
    features = random.integers(-3, 4, (n, 3)) / 2.0 if integers else random.normal(size=(n, 3))
    labels = random.integers(0, levels, n).astype(float)
    labels[-2:] = 0.0, 1.0  # at least one pair
    return Small(features, labels, sizes)


def halves(data: Small) -> tuple[Small, Small]:
    """Training and validation queries."""
    half = len(data.sizes) // 2
    return data.queries(0, half), data.queries(half, len(data.sizes))
