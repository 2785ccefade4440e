"""The order of a ranking, against numpy.lexsort: score, then label, then multiplicity."""

from typing import Any

import numpy as np
import pytest
from drawn_queries import TIED_SCORES
from example_counts import examples
from hypothesis import given
from hypothesis import strategies as st

from lambdaplus.lists.queries import Queries
from lambdaplus.ranking.sort import LARGE_BUCKET as RUN
from lambdaplus.ranking.sort import rank


def assert_ranked(queries: Queries, scores: Any) -> None:
    """Rows may differ from the oracle's only where documents agree in all that counts."""
    scores = np.asarray(scores, dtype=float)
    query = np.repeat(np.arange(queries.n_queries), queries.sizes)
    copies = queries.multiplicities
    copies = np.zeros(len(scores)) if copies is None else copies
    expected = np.lexsort((copies, queries.labels, -scores, query))
    found = rank(queries, scores)
    rows = found.row
    np.testing.assert_array_equal(np.sort(rows), np.arange(len(scores)))
    for keys in (query, scores, queries.labels, copies):
        np.testing.assert_array_equal(keys[rows], keys[expected])
    np.testing.assert_array_equal(found.score, scores[expected])
    assert not np.signbit(found.score[found.score == 0]).any()


def data_set(draw: Any) -> Queries:
    sizes = draw(st.lists(st.integers(1, 3 * RUN), min_size=1, max_size=4))
    n = sum(sizes)
    labels = draw(st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=n, max_size=n))
    if draw(st.booleans()):
        return Queries(labels, group=sizes)
    weight = draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=n, max_size=n))
    return Queries(labels, weight=weight if draw(st.booleans()) else None)


@given(data=st.data())
@examples(60)
def test_by_score_then_label_then_multiplicity(data) -> None:
    queries = data_set(data.draw)
    n = queries.n_documents
    spread_out = st.floats(allow_nan=False, allow_infinity=False)
    either = st.sampled_from(TIED_SCORES) | spread_out
    assert_ranked(queries, data.draw(st.lists(either, min_size=n, max_size=n)))


@pytest.mark.parametrize(
    "n", [1, 2, RUN - 1, RUN, RUN + 1, 2 * RUN, 2 * RUN + 1, 4 * RUN - 1, 8 * RUN + 5, 5000]
)
def test_lists_of_every_length_and_disorder(n: int) -> None:
    random = np.random.default_rng(n)
    queries = Queries(random.integers(0, 3, n), group=[n])
    ascending = np.arange(n, dtype=float)
    for scores in (ascending, -ascending, np.zeros(n), ascending % 5, np.abs(ascending - n // 2)):
        assert_ranked(queries, scores)
        assert_ranked(queries, random.permutation(scores))


def test_neighbouring_floats_are_not_tied() -> None:
    above = np.nextafter(1.0, 2.0)
    queries = Queries([0, 1])
    assert rank(queries, [1.0, above]).row.tolist() == [1, 0]
    assert rank(queries, [above, 1.0]).row.tolist() == [0, 1]


def test_scores_stay_as_they_were() -> None:
    scores = np.array([1.0, 3.0, -0.0])
    scores.setflags(write=False)
    rank(Queries([0, 1, 2]), scores)
    np.testing.assert_array_equal(scores, [1, 3, 0])
    assert np.signbit(scores[2])
