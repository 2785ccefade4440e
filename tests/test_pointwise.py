"""The pointwise part of a gradient, by its definition."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq
from scipy.special import expit

from lambdaplus import lambda_objective
from lambdaplus.ranking.queries import Queries

SIZES = [40, 3, 700, 8]
QUERY = np.repeat(np.arange(4), SIZES)


def graded(grades: int, seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    labels = random.integers(0, grades, sum(SIZES)).astype(float)
    labels[QUERY == 1] = [0, 1, 0]
    return labels, 2 * random.normal(size=labels.size) + labels


def by_query(of_query: Any, labels: Any, scores: Any) -> list[Any]:
    parts = [of_query(labels[q == QUERY], scores[q == QUERY]) for q in range(4)]
    return [np.concatenate(each) for each in zip(*parts, strict=True)]


def log_loss(labels: Any, scores: Any, sigma: float) -> tuple[Any, Any]:
    """Its derivatives at the constant with which the probabilities add up to the labels."""
    constant = brentq(lambda c: (expit(sigma * scores + c) - labels).sum(), -99, 99, xtol=1e-13)
    p = expit(sigma * scores + constant)
    return sigma * (p - labels), sigma**2 * p * (1 - p)


@pytest.mark.parametrize("metric", ["map", "auc", "ndcg", "ndcg(gain=linear)"])
@pytest.mark.parametrize("sigma", [1.0, 2.0])
def test_the_share_of_log_loss_has_the_size_of_the_pairs(metric: str, sigma: float) -> None:
    labels, scores = graded(2 if metric in ("map", "auc") else 4)
    pairs, all_points, part = (
        lambda_objective(metric, sigma=sigma, pointwise=share).derivatives(
            Queries(labels, group=SIZES), scores
        )
        for share in (0.0, 1.0, 0.25)
    )
    gain = 2**labels - 1 if metric == "ndcg" else labels
    gain /= np.array([gain[q == QUERY].max() for q in range(4)])[QUERY]
    expected = by_query(lambda y, s: log_loss(y, s, sigma), gain, scores)
    scale = np.bincount(QUERY, np.abs(pairs[0])) / np.bincount(QUERY, np.abs(expected[0]))
    for found, derivative in zip(all_points, expected, strict=True):
        assert_allclose(found, scale[QUERY] * derivative, rtol=1e-9, atol=1e-12)
    for found, one, other in zip(part, pairs, all_points, strict=True):
        assert_allclose(found, 0.75 * one + 0.25 * other, rtol=1e-9, atol=1e-14)


def test_queries_have_no_log_loss_by_default_and_auc_of_a_table_has_half() -> None:
    labels, scores = graded(2)
    for metric in ("map", "ndcg", "auc"):
        for group in (SIZES, None):
            table = group is None
            default, half, none = (
                lambda_objective(metric, pointwise=share, one_group=table)(
                    labels, scores, None, group
                )
                for share in ("default", 0.5, 0)
            )
            assert_array_equal(default, half if table and metric == "auc" else none)
            assert (half[0] != none[0]).any()


@pytest.mark.parametrize("metric", ["concordance", "mauc"])
def test_a_metric_whose_gains_are_no_labels_has_no_pointwise_part(metric: str) -> None:
    labels, scores = graded(4)
    given_ = labels, scores, None, SIZES
    expected = lambda_objective(metric, pointwise=0)(*given_)
    assert_array_equal(lambda_objective(metric)(*given_), expected)
    with pytest.raises(ValueError, match=f"{metric}.* has no pointwise part"):
        lambda_objective(metric, pointwise=0.5)(*given_)


@pytest.mark.parametrize("metric", ["map", "ndcg"])
def test_queries_of_one_label_have_no_pointwise_part_either(metric: str) -> None:
    """As on one worker of several: labels may be all that is wrong, not the metric."""
    for label in (0.0, 1.0):
        with pytest.warns(UserWarning, match="nothing to rank"):
            found = lambda_objective(metric, pointwise=0.5)([label] * 4, range(4), None, [2, 2])
        assert not np.array(found).any()


@pytest.mark.parametrize("spread", [1.0, 1e4])
def test_the_constant_is_exact_for_positives_of_little_weight(spread: float) -> None:
    random = np.random.default_rng(3)
    labels = (np.arange(300) % 10 == 0) * 1.0
    weight = np.where(labels > 0, 1e-8, 1.0)
    rows = Queries(labels, weight=weight)
    gradient, _ = lambda_objective("auc", pointwise=1.0).derivatives(
        rows, spread * random.standard_cauchy(300)
    )
    assert abs(gradient.sum()) < 1e-9 * weight[labels > 0].sum()


@pytest.mark.parametrize("shift", [1e3, -1e6])
def test_a_constant_of_a_query_has_no_effect(shift: float) -> None:
    labels, scores = graded(2)
    scores = np.round(scores, 3)
    moved = scores + shift * (QUERY == 2)
    half = lambda_objective("map", pointwise=0.5)
    assert_allclose(half(labels, moved, None, SIZES), half(labels, scores, None, SIZES), atol=1e-6)


def test_outliers_leave_log_loss_finite() -> None:
    labels, scores = graded(2)
    for outlier in (1e6, -1e6, 1e12, -1e12, 1e200, -1e200):
        scores[5] = outlier
        for name, share, group in (("map", 1.0, SIZES), ("auc", "default", None)):
            objective = lambda_objective(name, pointwise=share)
            gradient, hessian = objective(labels, scores, None, group)
            assert np.isfinite(gradient).all()
            assert (hessian >= 0).all()
