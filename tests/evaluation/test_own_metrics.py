"""Metrics of your own in evaluations: their names are their own, and tell them apart."""

import pickle
from typing import Any

import numpy as np
import pytest

import lambdaplus as lp
from lambdaplus.metrics import Declaration

FEW, THEIR_SCORES = [1, 0, 2, 0], [0.1, 0.2, 0.3, 0.4]


def few(**options: Any) -> Any:
    return lp.evaluate(FEW, THEIR_SCORES, group=[4], **options)


def own_metric(name: str, gain: float = 1.0) -> Declaration:
    return Declaration(
        name, "revenue", "a test", binary=False, discount=lambda metric, ranks: 1.0 / ranks,
        gain=lambda facts: gain * facts.label, normalizer=lambda facts: np.ones(facts.size.shape),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["map", "ap", "ndcg"])
def test_an_own_metric_has_no_name_of_the_library(name: str) -> None:
    message = rf"your own metric is called {name}, which is the name of a metric of the library"
    for refused in (
        lambda metric: few(metrics=["map", metric]),
        lambda metric: lp.eval_metric("map", metric),
        lambda metric: lp.explain(metric, FEW, THEIR_SCORES, group=[4]),
    ):
        with pytest.raises(ValueError, match=message):
            refused(own_metric(name))
    assert len(few(metrics=["map", "AP", "map"]).mean) == 1


def test_two_metrics_of_one_name_are_told_apart() -> None:
    one, other = own_metric("revenue"), own_metric("revenue", 2.0)
    for use in (lambda: few(metrics=[one, other]), lambda: lp.eval_metric(one, other)):
        with pytest.raises(ValueError, match="two different metrics are called revenue"):
            use()
    found, theirs = few(metrics=one), few(metrics=other)
    assert found[one] > 0
    with pytest.raises(KeyError):
        found[other]
    with pytest.raises(ValueError, match="different metrics of the name revenue"):
        lp.compare_runs({"a": found, "b": theirs})
    again = pickle.loads(pickle.dumps(found))
    assert lp.compare_runs({"a": found, "b": again}).means["revenue"]["b"] == found[one]
