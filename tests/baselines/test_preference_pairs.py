"""Pairs are computed, not stored: all occur exactly once."""

import numpy as np
from baseline_data import all_pairs, rankings
from hypothesis import given
from small_data import Small

from lambdaplus.baselines.preference_pairs import documents_of, preference_pairs
from lambdaplus.lists.queries import Queries


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
