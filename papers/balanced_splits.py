"""Random splits in which every query is used about equally often, as in Yue et al. 2007."""

from __future__ import annotations

import itertools

import numpy as np

from lambdaplus.compute.array_types import Ints
from lambdaplus.data import Fold, RankingData
from lambdaplus.data.ranking_data import named_fold


def balanced_splits(
    data: RankingData, n: int, train: int, valid: int, test: int, *, random_state: int = 0
) -> list[Fold]:
    """Split the queries of a data set `n` times, into parts of so many queries.

    The splits are drawn together, so that every query is in training about equally often: the
    numbers differ by at most one.  The same holds for validation and test (SIGIR 2007, section 6).
    """
    rng, unused = np.random.default_rng(random_state), data.n_queries - (train + valid + test)
    parts = _balanced(rng, n, np.repeat(np.arange(4), [train, valid, test, unused]))
    return [
        named_fold(f"Split{i}", *(data.take_queries(np.flatnonzero(row == p)) for p in range(3)))
        for i, row in enumerate(parts, start=1)
    ]


def _balanced(rng: np.random.Generator, n: int, part_of: Ints) -> Ints:
    """Part of each query (columns) in each split (rows)."""
    # Put the queries on a circle. The parts of each split are arcs, and the splits begin at evenly
    # spaced positions: the number of splits with a query in a part is the mean, rounded up or down.
    starts = np.arange(n) * len(part_of) // n
    parts = np.stack([np.roll(part_of, start) for start in starts])
    parts = rng.permutation(rng.permutation(parts, axis=0), axis=1)
    # Pairs of splits then exchange queries, which changes neither sizes nor these numbers (the
    # "curveball" algorithm of Strona et al., Nature Communications 5:4114, 2014).
    for _ in range(10):
        for i, j in itertools.pairwise(rng.permutation(n)):
            for a, b in itertools.combinations(range(4), 2):
                _trade(rng, parts[i], parts[j], a, b)
    return parts


def _trade(rng: np.random.Generator, one: Ints, other: Ints, a: int, b: int) -> None:
    """Redistribute the queries that are in part `a` of one split and part `b` of the other."""
    gives, gets = (one == a) & (other == b), (one == b) & (other == a)
    pool = rng.permutation(np.flatnonzero(gives | gets))
    first, second = np.split(pool, [np.count_nonzero(gives)])
    one[first], other[first] = a, b
    one[second], other[second] = b, a
