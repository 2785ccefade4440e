"""Hessians of rare classes: their definition, pair by pair, the laws behind it, and its limits."""

from dataclasses import replace
from typing import Any

import brute_force
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from small_data import graded
from test_invariances import assert_invariant

from lambdaplus import lambda_objective
from lambdaplus.compute.array_types import Floats
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
    alone = {"pairs": "equal"} if metric == "auc" else {}  # without log-loss
    plain = lambda_objective(metric, balance=0, **alone)(*given)
    found = lambda_objective(metric, balance=balance, **alone)(*given)
    of = np.array(brute_force.classes(parse_metric(metric), list(labels)))
    for k in np.unique(of):
        factor = np.unique(of).size * mass[of == k].sum() / mass.sum()
        assert_allclose(found[1][of == k], plain[1][of == k] * factor**balance, rtol=FLOAT32)
    assert_array_equal(found[0], plain[0])  # the gradient stays


def test_the_first_round_is_that_of_log_loss_at_the_base_rate() -> None:
    labels = np.repeat([1.0, 0.0], [20, 180])
    p = labels.mean()
    gradient, hessian = lambda_objective("auc", balance=1)(labels, np.zeros(200))
    assert_allclose(gradient, p - labels, rtol=1e-5)
    assert_allclose(hessian, np.full(200, p * (1 - p)), rtol=1e-5)


@pytest.mark.parametrize("metric", ["auc", "map", "mauc", "concordance", "cindex", "ndcg"])
def test_hessians_of_a_table_are_those_of_log_loss_in_xgboost_too(metric: str) -> None:
    xgboost = pytest.importorskip("xgboost")
    labels, scores, _ = rare(0)
    objective = lambda_objective(metric, one_group=True)
    scores = scores.astype(np.float32)  # as XGBoost passes them
    gradient, hessian = objective(labels, scores)
    matrix = xgboost.DMatrix(np.zeros((labels.size, 1)), labels)
    found = objective(scores, matrix)
    # One query is scaled like those of the frameworks' own ranking objectives.
    factor = 2.0 if metric == "ndcg" else 1.0
    assert_allclose(found[0], gradient, rtol=FLOAT32)
    assert_allclose(found[1], factor * hessian, rtol=FLOAT32)


def test_balance_has_no_effect_within_queries_and_with_one_group() -> None:
    data = graded()
    plain, full = (
        lambda_objective("map", balance=b)(data.labels, data.scores(), None, data.sizes)
        for b in (0, 1)
    )
    assert_array_equal(full[1], plain[1])
    labels, scores, weight = rare(4)
    plain, full = (
        lambda_objective("ndcg", balance=b, one_group=True)(labels, scores, weight) for b in (0, 1)
    )
    assert_array_equal(full[1], plain[1])


@EACH
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_row_order_and_threads_do_not_matter(metric: Any, weighted: bool) -> None:
    labels, scores, weight = rare(6, 3000)
    objective = lambda_objective(metric, balance=0.5)
    assert_invariant(objective, labels, scores, weight=weight if weighted else None)
