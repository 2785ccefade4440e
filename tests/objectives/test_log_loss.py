"""Log-loss as a part of a sum, by its definition: row by row, with one constant for all of them."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lambdaplus import LogLoss, combine, lambda_objective
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.lists.queries import Queries

SIZES = [40, 3, 700, 8]
QUERY = np.repeat(np.arange(4), SIZES)


def graded(grades: int, seed: int = 0) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(seed)
    labels = random.integers(0, grades, sum(SIZES)).astype(float)
    labels[QUERY == 1] = [0, 1, 0]
    scores = 2 * random.normal(size=labels.size) + labels
    return labels, scores, random.choice([0.0, 0.5, 1.0, 3.0], labels.size)


def log_loss(positive: Any, scores: Any, weight: Any, sigma: float = 1.0) -> Any:
    """The derivatives of each row, in plain Python."""
    total = math.fsum(weight)
    base = math.fsum(w for w, y in zip(weight, positive, strict=True) if y) / total
    rows = []
    for y, score, w in zip(positive, scores, weight, strict=True):
        p = 1 / (1 + math.exp(-sigma * score - math.log(base / (1 - base))))
        rows.append((w * (p - y), w * sigma * p * (1 - p)))
    return np.array(rows).T


@pytest.mark.parametrize(
    ("metric", "loss", "relevant"),
    [
        ("map", "logloss", 1), ("auc", "logloss", 1), ("map(relevant=2)", "logloss", 2),
        ("ndcg", "logloss(relevant=2)", 2), ("map", "logloss(relevant=2)", 2),
        ("ndcg + map(relevant=3)", "logloss", 3),  # the first metric that has a threshold
    ],
)  # fmt: skip
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["queries", "table", "one query"])
@pytest.mark.parametrize("sigma", [1.0, 2.0])
def test_a_sum_adds_log_loss_of_the_size_of_its_pairs(
    metric: str, loss: str, relevant: int, weighted: bool, kind: str, sigma: float
) -> None:
    if kind == "table" and "ndcg" in metric:
        pytest.skip("it ranks no table")
    labels, scores, weight = graded(4)
    weight = weight if weighted else np.ones(labels.size)
    rows = {"group": SIZES} if kind == "queries" else {}
    queries = Queries(labels, weight=weight if weighted else None, **rows)
    options = {"sigma": sigma, "one_group": kind == "one query"}
    of_both = combine_of(metric, loss, 3.0, options)
    # A sum, since AUC alone has log-loss in a table.
    pairs = combine_of(metric, "", 0.0, options)
    positive = labels >= relevant
    start = pairs(queries, np.zeros(labels.size))[0]
    unit = np.abs(start).sum() / np.abs(log_loss(positive, 0 * scores, weight)[0]).sum()
    unit /= 1 + metric.count("+")  # the mean of the parts that rank
    other = unit * log_loss(positive, scores, weight, sigma)
    for both, one, own in zip(of_both(queries, scores), pairs(queries, scores), other, strict=True):
        assert_allclose(both, one + 3.0 * own, rtol=1e-9, atol=1e-12)


def combine_of(metric: str, loss: str, weight: float, options: Any) -> Any:
    if loss:
        return lambda_objective(f"{metric} + {weight}*{loss}", **options).derivatives
    parts = [lambda_objective(name, **options) for name in metric.split(" + ")]
    return lambda queries, scores: sum(np.array(part.as_term(queries, scores)) for part in parts)


def test_the_share_of_log_loss_is_that_of_absolute_gradients() -> None:
    labels, _, _ = graded(2)
    pairs = lambda_objective("map")(labels, 0 * labels, None, SIZES)[0].astype(float)
    for share in (0.25, 0.75):
        both = lambda_objective(f"{1 - share}*map + {share}*logloss")(
            labels, 0 * labels, None, SIZES
        )[0].astype(float)
        of_loss = both - (1 - share) * pairs
        assert np.abs(of_loss).sum() == pytest.approx(share * np.abs(pairs).sum(), rel=1e-5)
        assert np.unique(np.abs(of_loss).round(6)).size == 2  # of all queries alike


@pytest.mark.parametrize("sizes", [None, np.full(400, 100)], ids=["table", "queries"])
def test_neither_the_order_of_rows_nor_threads_change_a_bit(sizes: Any) -> None:
    random = np.random.default_rng(0)
    labels, scores = (random.random(40_000) < 0.1) * 1.0, random.normal(size=40_000).round(2)
    weight = random.choice([0.3, 1.0, 7.0], 40_000)
    objective = lambda_objective("map + logloss")
    with limit_threads(1):
        expected = np.array(objective(labels, scores, weight, sizes))
    order = np.concatenate([100 * q + random.permutation(100) for q in range(400)])
    with limit_threads(3):
        found = objective(labels[order], scores[order], weight[order], sizes)
    assert_array_equal(found, expected[:, order])


def test_auc_of_a_table_is_half_log_loss_and_nothing_else_is() -> None:
    labels, scores, _ = graded(2)
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
def test_rows_of_one_label_have_no_log_loss_either(metric: str) -> None:
    """As on one worker of several: labels may be all that is wrong, not the metric."""
    objective = lambda_objective(f"{metric} + logloss")
    for label in (0.0, 1.0):
        with pytest.warns(UserWarning, match="nothing to rank"):
            found = objective([label] * 4, range(4), None, [2, 2])
        assert not np.array(found).any()


def test_positives_of_little_weight_have_a_base_rate() -> None:
    labels = (np.arange(300) % 10 == 0) * 1.0
    weight = np.where(labels > 0, 1e-8, 1.0)
    gradient, _ = LogLoss().derivatives(Queries(labels, weight=weight), np.zeros(300))
    assert_allclose(gradient, log_loss(labels, np.zeros(300), weight)[0], rtol=1e-9)
    assert abs(gradient.sum()) < 1e-9 * weight[labels > 0].sum()


def test_outliers_leave_log_loss_finite() -> None:
    labels, scores, _ = graded(2)
    for outlier in (1e6, -1e6, 1e12, -1e12, 1e200, -1e200):
        scores[5] = outlier
        for name, group in (("map + logloss", SIZES), ("auc", None)):
            gradient, hessian = lambda_objective(name)(labels, scores, None, group)
            assert np.isfinite(gradient).all()
            assert (hessian >= 0).all()
