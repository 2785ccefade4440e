"""A feature as scores: what is missing, and values that were not trained on."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from lambdaplus.data import RankingData
from lambdaplus.study.single_features import feature_scores

NAN = np.nan


def table(features: list[list[float]], labels: list[float]) -> RankingData:
    n = len(labels)
    names = {"feature_names": ("price", "shop"), "categories": ("shop",)}
    return RankingData(features, labels, np.zeros(n, int), grouped=False, **names)


def test_values_of_categories_are_their_mean_labels_and_others_that_of_all() -> None:
    train = table([[1, 0], [2, 0], [3, 1], [4, 1], [5, NAN]], [1, 0, 1, 1, 0])
    valid = table([[1, 0], [2, 1], [NAN, 2], [4, NAN]], [1, 0, 1, 0])
    assert_allclose(feature_scores(train, valid, 1), [1 / 2, 1, 3 / 5, 3 / 5])
    assert_array_equal(feature_scores(train, valid, 0), [1, 2, 0, 4])  # missing: below the others
