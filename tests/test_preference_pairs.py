"""Pairs and their order are computed: all pairs occur exactly once, in any order."""

import numpy as np
import pytest
from baseline_data import all_pairs, rankings
from hypothesis import given
from hypothesis import strategies as st
from small_data import Small

from lambdaplus.baselines.preference_pairs import documents_of, nth, preference_pairs, shuffle
from lambdaplus.ranking.queries import Queries


@given(rankings())
def test_every_pair_of_different_labels_has_a_number(data: Small) -> None:
    queries = Queries(data.labels, group=data.sizes)
    pairs = preference_pairs(queries)
    expected = all_pairs(data.labels, data.qid)
    assert pairs.n_pairs == len(expected.high)
    found = [documents_of(pairs, p) for p in range(pairs.n_pairs)]
    assert [high for high, _ in found] == sorted(high for high, _ in found)
    rows = [(int(queries.row_order[i]), int(queries.row_order[j])) for i, j in found]
    assert sorted(rows) == sorted(zip(expected.high.tolist(), expected.low.tolist(), strict=True))
    rate = dict(zip(zip(expected.high, expected.low, strict=True), expected.rate, strict=True))
    assert [pairs.rate[i] for i, _ in found] == [rate[row] for row in rows]


def test_many_documents_with_one_pair_each_beside_few_with_many() -> None:
    """The table that speeds up the search must not be relied on to be even."""
    labels = np.concatenate([np.tile([0.0, 1.0], 400), [1.0], np.zeros(5000)])
    queries = Queries(labels, group=[2] * 400 + [5001])
    pairs = preference_pairs(queries)
    found = np.array([documents_of(pairs, p) for p in range(pairs.n_pairs)])
    sorted_labels = labels[queries.row_order]
    assert (sorted_labels[found[:, 0]] > sorted_labels[found[:, 1]]).all()
    assert len(np.unique(found, axis=0)) == pairs.n_pairs == 5400


@given(st.integers(1, 700), st.integers(0, 2**32 - 1))
def test_an_order_is_a_permutation(n: int, seed: int) -> None:
    order = shuffle(n, np.random.RandomState(seed))
    assert sorted(nth(order, place) for place in range(n)) == list(range(n))


@pytest.mark.parametrize("n", [2, 3, 37, 64])
def test_every_number_is_as_likely_at_every_place(n: int) -> None:
    random = np.random.RandomState(0)
    draws = 1000
    counts = np.zeros((n, n))
    neighbours = np.zeros((n, n))
    for _ in range(draws):
        order = shuffle(n, random)
        found = np.array([nth(order, place) for place in range(n)])
        counts[np.arange(n), found] += 1
        neighbours[found[:-1], found[1:]] += 1
    worst = 5.5 * np.sqrt(draws / n)  # standard deviations, over at most 4096 cells
    assert np.abs(counts - draws / n).max() < worst
    off_diagonal = neighbours[~np.eye(n, dtype=bool)]
    assert np.abs(off_diagonal - draws / n).max() < worst
