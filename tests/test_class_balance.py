"""Hessians of rare classes: their definition, pair by pair, the laws behind it, and its limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import brute_force
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from small_data import graded

from lambdaplus import lambda_objective
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.data.queries import Floats, Queries
from lambdaplus.metrics import parse_metric
from lambdaplus.metrics.catalogue import DCG

POOLED_DCG = replace(DCG, name="pooled_dcg", pooled="middle")  # with more classes than two
EACH = pytest.mark.parametrize("metric", ["auc", "map", "map(relevant=2)", POOLED_DCG], ids=str)
FLOAT32 = 1e-6  # what callers get


def rare(seed: int, n: int = 300) -> tuple[Floats, Floats, Floats]:
    """Labels 0 to 3, the higher the rarer; scores with ties; weights."""
    random = np.random.default_rng(seed)
    labels = np.digitize(random.random(n), [0.85, 0.93, 0.98]).astype(float)
    scores = random.integers(-8, 8, n) / 4 + 0.3 * labels
    return labels, scores, random.choice([0.5, 1.0, 2.0, 3.0], n)


@EACH
@pytest.mark.parametrize("balance", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_hessians_of_a_class_are_multiplied_by_its_share(metric, balance, weighted) -> None:
    labels, scores, weight = rare(0)
    given = (labels, scores, weight if weighted else None)
    mass = weight if weighted else np.ones(labels.size)
    plain = lambda_objective(metric, balance=0)(*given)
    found = lambda_objective(metric, balance=balance)(*given)
    of = np.array(brute_force.classes(parse_metric(metric), list(labels)))
    for k in np.unique(of):
        factor = np.unique(of).size * mass[of == k].sum() / mass.sum()
        assert_allclose(found[1][of == k], plain[1][of == k] * factor**balance, rtol=FLOAT32)
    assert_array_equal(found[0], plain[0])  # the gradient stays


def test_it_is_the_sum_over_pairs() -> None:
    labels, scores, _ = rare(1, 60)
    labels = np.minimum(labels, 1.0)
    slope, curve, _ = brute_force.lambda_gradients(parse_metric("map"), list(labels), list(scores))
    scale = 30 / np.abs(slope).sum()  # absolute gradients sum to half the rows
    positive = labels.mean()
    curve *= np.where(labels > 0, 2 * positive, 2 * (1 - positive)) ** 0.5
    found = lambda_objective("map", balance=0.5)(labels, scores)
    assert_allclose(found[0], scale * slope, rtol=1e-5, atol=1e-6)  # the sweep's promise
    assert_allclose(found[1], scale * curve, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("metric", ["auc", "map"])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_at_one_both_classes_have_the_same_mean_hessian(metric: str, weighted: bool) -> None:
    labels, scores, weight = rare(2)
    weight = weight if weighted else np.ones(labels.size)
    positive = labels > 0
    ratio = {}
    for balance in (0.0, 1.0):
        hessian = lambda_objective(metric, balance=balance)(labels, scores, weight)[1]
        means = [hessian[of].sum() / weight[of].sum() for of in (positive, ~positive)]
        ratio[balance] = means[0] / means[1]
    assert ratio[1.0] == pytest.approx(1.0, rel=1e-5)
    odds = weight[~positive].sum() / weight[positive].sum()
    assert ratio[0.0] == pytest.approx(odds, rel=1e-5)  # what it repairs


def test_the_first_newton_steps_are_those_of_log_loss_at_the_base_rate() -> None:
    labels = np.repeat([1.0, 0.0], [20, 180])
    p = labels.mean()
    gradient, hessian = lambda_objective("auc", balance=1)(labels, np.zeros(200))
    assert_allclose(gradient / hessian, (p - labels) / (p * (1 - p)), rtol=1e-5)


@pytest.mark.parametrize("metric", ["auc", "map"])
def test_it_changes_nothing_where_classes_are_of_one_size_or_there_is_one(metric: str) -> None:
    scores = np.random.default_rng(3).normal(size=80)
    for labels in (np.arange(80) % 2, np.zeros(80), np.ones(80)):
        plain, full = (lambda_objective(metric, balance=b)(labels, scores) for b in (0, 1))
        assert_array_equal(full[0], plain[0])
        assert_array_equal(full[1], plain[1])


@pytest.mark.parametrize("metric", ["auc", "map", "ndcg", "map + 0.5*mrr"])
@pytest.mark.parametrize("options", [{}, {"noise": None}], ids=["noise", ""])
def test_it_changes_nothing_within_queries(metric: str, options: dict[str, Any]) -> None:
    data = graded()
    plain, full = (
        lambda_objective(metric, balance=b, **options)(data.labels, data.scores(), None, data.sizes)
        for b in (0, 1)
    )
    assert_array_equal(full[1], plain[1])


def test_one_ranking_that_was_asked_for_is_a_query() -> None:
    labels, scores, weight = rare(4)
    plain, full = (
        lambda_objective("ndcg", balance=b, one_group=True)(labels, scores, weight) for b in (0, 1)
    )
    assert_array_equal(full[1], plain[1])


def test_each_part_of_a_sum_is_balanced_by_its_own_classes() -> None:
    labels, scores, _ = rare(5)
    both = lambda_objective("auc + 2*map", balance=0.7, relevant=2)
    queries = Queries(labels)
    found = both.derivatives(queries, scores)
    parts = [lambda_objective(m, balance=0.7, relevant=2) for m in ("auc", "map")]
    slopes, curves = zip(*(part.derivatives(queries, scores) for part in parts), strict=True)
    assert_allclose(found[0], slopes[0] + 2 * slopes[1], rtol=1e-12)
    assert_allclose(found[1], curves[0] + 2 * curves[1], rtol=1e-12)


@EACH
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_neither_the_order_of_the_rows_nor_threads_matter(metric: Any, weighted: bool) -> None:
    labels, scores, weight = rare(6, 3000)
    objective = lambda_objective(metric, balance=0.5)
    expected = objective(labels, scores, weight if weighted else None)
    order = np.random.default_rng(7).permutation(labels.size)
    for threads in (1, 2):
        with limit_threads(threads):
            found = objective(labels[order], scores[order], weight[order] if weighted else None)
        for mine, theirs in zip(found, expected, strict=True):
            assert_array_equal(mine, theirs[order])


def test_a_row_of_weight_zero_counts_for_nothing() -> None:
    labels, scores, weight = rare(8)
    weight[:100] = 0.0
    objective = lambda_objective("auc", balance=1)
    hessian = objective(labels, scores, weight)[1]
    assert not hessian[:100].any()
    assert_allclose(
        hessian[100:], objective(labels[100:], scores[100:], weight[100:])[1], rtol=1e-5
    )


def test_repr_and_equality_tell_it() -> None:
    other = lambda_objective("map", balance=0.9)
    assert "balance=0.9" in repr(other)
    assert eval(repr(other), {"lambda_objective": lambda_objective}) == other
    assert other != lambda_objective("map")
    assert "balance" not in repr(lambda_objective("map"))


@pytest.mark.parametrize("balance", [-0.1, 1.1, np.nan, "balanced", True, None])
def test_other_values_are_refused(balance: Any) -> None:
    with pytest.raises(ValueError, match="balance must be a number at least 0 and at most 1"):
        lambda_objective("map", balance=balance)
