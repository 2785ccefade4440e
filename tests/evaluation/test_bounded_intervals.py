"""Intervals of metrics that have a lowest and a highest value do not leave their range."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lambdaplus import compare_runs, evaluate
from lambdaplus.evaluation import Evaluation
from lambdaplus.evaluation.compare import bounds_of, effect_of
from lambdaplus.evaluation.effects import within
from lambdaplus.metrics import Declaration
from lambdaplus.metrics.catalogue import MRR


def of_two_folds(metric: Any, good: float) -> list[Evaluation]:
    """All queries of the second fold are ranked right, and the first of the first one, or none."""
    runs = []
    for fold, right in enumerate((good, 1.0)):
        scores = np.where(np.arange(20) < 20 * right, 1.0, -1.0)
        qid = np.repeat([f"{fold} {query}" for query in range(20)], 2)
        by_row = np.column_stack([scores, -scores]).ravel()
        runs.append(evaluate([1, 0] * 20, by_row, qid=qid, metrics=metric))
    return runs


def test_intervals_of_two_folds_stay_in_the_range_of_the_metric() -> None:
    """Student's interval of two means is wide: 12.7 standard errors on each side."""
    runs = {"a": of_two_folds("mrr", 0.6), "b": of_two_folds("mrr", 0.0)}
    [pair] = compare_runs(runs).pairs
    assert pair.difference == pytest.approx(0.15)
    assert pair.interval == (-1.0, 1.0)
    bounds = bounds_of(runs["a"][0], "mrr")
    assert within(effect_of("mrr", runs["a"]).interval(), bounds) == bounds == (0.0, 1.0)
    unbounded = replace(MRR, name="own_mrr", aliases=(), bounds=None)
    runs = {"a": of_two_folds(unbounded, 0.6), "b": of_two_folds(unbounded, 0.0)}
    [free] = compare_runs(runs).pairs
    assert free.interval[0] < -1 < 1 < free.interval[1]
    assert free.p_value == pytest.approx(pair.p_value)
    narrow: Declaration = replace(unbounded, bounds=(0.25, 1))  # of a difference, .75
    assert narrow.bounds == (0.25, 1.0)
    runs = {"a": of_two_folds(narrow, 0.6), "b": of_two_folds(narrow, 0.0)}
    assert compare_runs(runs).pairs[0].interval == (-0.75, 0.75)


def test_values_over_all_rows_stay_in_the_range_of_the_metric() -> None:
    """AUCs of two folds, .3 and 1; Spearman's correlation may be negative."""
    runs: dict[str, list[Evaluation]] = {"a": [], "b": []}
    for fold in range(2):
        for name, noise in (("a", 0.1 + 3 * fold), ("b", 3.0)):
            random = np.random.default_rng([fold, name == "a"])
            labels = np.arange(60) % 2
            scores = labels + noise * random.normal(size=60)
            runs[name].append(evaluate(labels, scores, metrics=["auc", "gini"]))
    found = compare_runs(runs)
    assert found.intervals["auc"]["a"] == (0.0, 1.0)
    assert found.intervals["gini"]["a"] == (-1.0, 1.0)
    assert found.of("auc")[0].interval == (-1.0, 1.0)
    assert found.of("gini")[0].interval == (-2.0, 2.0)


def test_the_interval_of_one_auc_ends_at_1() -> None:
    """14 of 15 pairs are in order; DeLong's error is .094, so that of 95 % would end at 1.12."""
    labels, scores = [0, 0, 0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 6.5, 5, 7, 8]
    good, bad = np.array([4, 5, 5]) / 5, np.array([3, 3, 3, 3, 2]) / 3
    error = np.sqrt(good.var(ddof=1) / 3 + bad.var(ddof=1) / 5)
    half = 1.959964 * error
    found = evaluate(labels, scores, metrics="auc")
    assert found.interval("auc") == pytest.approx((14 / 15 - half, 1.0), abs=1e-6)
    low, high = evaluate(labels, np.negative(scores), metrics="auc").interval("auc")
    assert (low, high) == pytest.approx((0.0, 1 / 15 + half), abs=1e-6)


def test_an_interval_that_is_unknown_remains_unknown() -> None:
    assert np.isnan(within((np.nan, np.nan), (0.0, 1.0))).all()
    assert within((-3.0, 0.5), None) == (-3.0, 0.5)
