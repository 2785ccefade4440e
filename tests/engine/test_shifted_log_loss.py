"""Log-loss as a term of a sum, by its definition."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq
from scipy.special import expit

from lambdaplus import LogLoss, combine, lambda_objective
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
    """That of the mean in bits, at the constant with which probabilities add up to the labels."""
    constant = brentq(lambda c: (expit(sigma * scores + c) - labels).sum(), -99, 99, xtol=1e-13)
    p, bits = expit(sigma * scores + constant), np.log(2) * labels.size
    return (p - labels) / bits, sigma * p * (1 - p) / bits


@pytest.mark.parametrize(
    ("metric", "loss"),
    [
        ("map", "logloss"), ("auc", "logloss"), ("map(relevant=2)", "logloss"),  # its threshold
        ("ndcg", "logloss(relevant=2)"), ("map", "logloss(relevant=2)"), ("mauc", "logloss"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("sigma", [1.0, 2.0])
def test_a_sum_adds_log_loss_with_the_best_constant_of_each_query(
    metric: str, loss: str, sigma: float
) -> None:
    labels, scores = graded(2 if (metric, loss) == ("mauc", "logloss") else 4)
    labels[QUERY == 1] = [0, 2, 0]
    relevant = labels >= (2 if "relevant=2" in metric + loss else 1)
    if metric == "mauc":
        labels = relevant * 1.0
    queries = Queries(labels, group=SIZES)
    pairs, both = (
        lambda_objective(name, sigma=sigma).derivatives(queries, scores)
        for name in (metric, f"{metric} + 3*{loss}")
    )
    expected = by_query(lambda y, s: log_loss(y, s, sigma), relevant * 1.0, scores)
    for found, one, other in zip(both, pairs, expected, strict=True):
        assert_allclose(found, one + 3 * other, rtol=1e-9, atol=1e-12)


def test_auc_of_a_table_is_half_log_loss_and_nothing_else_is() -> None:
    labels, scores = graded(2)
    table = labels, scores, None, None
    half, pairs = (
        lambda_objective(name, pairs=pairs)(*table)
        for name, pairs in (("0.5*auc + 0.5*logloss", "default"), ("auc", "equal"))
    )
    assert_array_equal(lambda_objective("auc")(*table), half)
    assert np.abs(half[0] - pairs[0]).max() > 1e-3
    alone = combine({lambda_objective("auc", pairs="equal"): 0.5, LogLoss(): 0.5})
    assert_array_equal(alone(*table), half)
    # As a term of a sum, it is what its name says.
    twice = lambda_objective("auc + map")(*table), lambda_objective("map")(*table)
    assert_allclose(twice[0][0] - twice[1][0], pairs[0], rtol=1e-4, atol=1e-6)
    for metric in ("map", "auc"):
        swap = lambda_objective(metric, surrogate=metric)
        assert_array_equal(
            lambda_objective(metric)(labels, scores, None, SIZES),
            swap(labels, scores, None, SIZES),
        )


@pytest.mark.parametrize("metric", ["map", "ndcg"])
def test_queries_of_one_label_have_no_log_loss_either(metric: str) -> None:
    """As on one worker of several: labels may be all that is wrong, not the metric."""
    objective = lambda_objective(f"{metric} + logloss")
    for label in (0.0, 1.0):
        with pytest.warns(UserWarning, match="nothing to rank"):
            found = objective([label] * 4, range(4), None, [2, 2])
        assert not np.array(found).any()


@pytest.mark.parametrize("spread", [1.0, 1e4])
def test_the_constant_is_exact_for_positives_of_little_weight(spread: float) -> None:
    random = np.random.default_rng(3)
    labels = (np.arange(300) % 10 == 0) * 1.0
    weight = np.where(labels > 0, 1e-8, 1.0)
    rows = Queries(labels, weight=weight)
    gradient, _ = LogLoss().derivatives(rows, spread * random.standard_cauchy(300))
    assert gradient.any()
    assert abs(gradient.sum()) < 1e-9 * weight[labels > 0].sum()


@pytest.mark.parametrize("shift", [1e3, -1e6])
def test_a_constant_of_a_query_has_no_effect(shift: float) -> None:
    labels, scores = graded(2)
    scores = np.round(scores, 3)
    moved = scores + shift * (QUERY == 2)
    both = lambda_objective("map + logloss")
    assert_allclose(both(labels, moved, None, SIZES), both(labels, scores, None, SIZES), atol=1e-6)


def test_outliers_leave_log_loss_finite() -> None:
    labels, scores = graded(2)
    for outlier in (1e6, -1e6, 1e12, -1e12, 1e200, -1e200):
        scores[5] = outlier
        for name, group in (("map + logloss", SIZES), ("auc", None)):
            gradient, hessian = lambda_objective(name)(labels, scores, None, group)
            assert np.isfinite(gradient).all()
            assert (hessian >= 0).all()
