"""The synthetic web search data: proportions, information in the features, determinism."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lambdaplus.data import RankingData, web_search_like


@pytest.fixture(scope="module")
def data() -> RankingData:
    return web_search_like(600, 50)


def within(data: RankingData, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values less their query's mean."""
    query = np.repeat(np.arange(data.n_queries), data.group)
    return values - (np.bincount(query, values) / data.group)[query]


def test_proportions(data: RankingData) -> None:
    shares = np.bincount(data.labels.astype(int)) / len(data.labels)
    # MSLR-WEB10K's, up to the rounding of a quantile.
    np.testing.assert_allclose(shares, [0.5201, 0.3218, 0.1329, 0.0178, 0.0074], atol=1e-4)
    assert data.qid[[0, -1]].tolist() == [1, 600]
    logs = np.log(data.group)
    assert abs(data.group.mean() - 120) < 4 * 120 * 0.53 / 600**0.5
    assert abs(logs.std() - 0.5) < 0.07
    assert np.isfinite(data.features).all()


def test_kinds_of_features(data: RankingData) -> None:
    counts, lengths, scores, humps, junk, query = np.split(
        data.features, [15, 25, 35, 40, 47], axis=1
    )
    np.testing.assert_array_equal(counts, np.floor(counts))
    assert counts.min() == 0
    assert lengths.min() > 0
    assert scores.min() < 0
    assert 0 <= humps.min() <= humps.max() <= 1
    assert query.shape[1] == 3
    for column in query.T:
        np.testing.assert_allclose(within(data, column), 0, atol=1e-9)
    # Standard error of a correlation over n documents: 1 / sqrt(n); here n is about 72,000.
    labels = within(data, data.labels)
    limit = 5 / len(labels) ** 0.5
    known = [abs(np.corrcoef(within(data, x), labels)[0, 1]) for x in scores.T]
    unknown = [abs(np.corrcoef(within(data, x), labels)[0, 1]) for x in junk.T]
    assert min(known) > limit > max(unknown)


def test_the_seed_decides() -> None:
    one, again, other = (web_search_like(200, 9, random_state=seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(one.features, again.features)
    np.testing.assert_array_equal(one.labels, again.labels)
    assert len(one.labels) != len(other.labels)


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_few_features_and_queries(n_features: int) -> None:
    assert web_search_like(1, n_features).features.shape[1] == n_features
    with pytest.raises(ValueError, match="at least 1 of each"):
        web_search_like(0, n_features)
