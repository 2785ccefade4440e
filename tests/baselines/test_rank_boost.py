"""RankBoost against the algorithm as printed: a distribution over pairs, kept as an array."""

from typing import NamedTuple

import numpy as np
import pytest
from baseline_data import all_pairs
from small_data import Small, graded

from lambdaplus.baselines import RankBoost


class Round(NamedTuple):
    feature: int
    threshold: float
    alpha: float


def with_all_pairs(data: Small, n_rounds: int) -> list[Round]:
    """Freund et al., fig. 1, weak learner of sec. 3.2, over every threshold of every feature."""
    pairs = all_pairs(data.labels, data.qid)
    D = pairs.rate / pairs.rate.sum()
    rounds = []
    for _ in range(n_rounds):
        best = (0, 0.0, 0.0)
        for feature, column in enumerate(data.features.T):
            values = np.unique(column)
            # From the top: around a document without pairs two thresholds are equally good.
            for threshold in (values[1:] + values[:-1])[::-1] / 2:
                h = (column > threshold).astype(float)
                r = float(D @ (h[pairs.high] - h[pairs.low]))
                if abs(r) > abs(best[2]) + 1e-12:
                    best = (feature, threshold, r)
        feature, threshold, r = best
        alpha = 0.5 * np.log((1 + r) / (1 - r))
        h = (data.features[:, feature] > threshold).astype(float)
        D = D * np.exp(alpha * (h[pairs.low] - h[pairs.high]))
        rounds.append(Round(feature, threshold, alpha))
        D = D / D.sum()
    return rounds


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_round_is_that_of_the_pair_matrix(seed: int) -> None:
    data = graded(12, seed)
    model = RankBoost(15).fit(*data.ranking)
    expected = with_all_pairs(data, 15)
    assert model.features_.tolist() == [r.feature for r in expected]
    np.testing.assert_allclose(model.thresholds_, [r.threshold for r in expected], rtol=1e-12)
    np.testing.assert_allclose(model.alphas_, [r.alpha for r in expected], rtol=1e-9)
    scores = sum(r.alpha * (data.features[:, r.feature] > r.threshold) for r in expected)
    np.testing.assert_allclose(model.predict(data.features), scores, rtol=1e-9, atol=1e-12)


def test_thresholds_of_many_values_are_halfway_between_quantiles() -> None:
    data = graded(60)
    model = RankBoost(30).fit(*data.ranking)
    assert len(np.unique(data.features[:, 0])) > 256
    for feature in range(5):
        used = model.thresholds_[model.features_ == feature]
        assert not np.isin(used, data.features[:, feature]).any()


def test_a_perfect_feature_ends_it() -> None:
    labels = np.tile([0.0, 0.0, 1.0], 5)
    model = RankBoost(50).fit(labels[:, None] * 3, labels, qid=np.repeat(np.arange(5), 3))
    assert model.n_rounds_ == 1
    assert np.isfinite(model.alphas_).all()
    assert np.unique(model.predict(labels[:, None] * 3)).size == 2


def test_features_that_say_nothing_are_refused() -> None:
    data = graded(4)
    with pytest.raises(ValueError, match="no feature distinguishes higher from lower"):
        RankBoost().fit(np.ones((data.n, 2)), data.labels, qid=data.qid)
