"""The public names and their types, for a type checker.  This file is checked, never run."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import lambdaplus as lp
from lambdaplus.baselines import RankSVM, StructuralSVM
from lambdaplus.data import Fold, RankingData, digits_queries, read_folds
from lambdaplus.evaluation import RunComparison
from lambdaplus.objectives import CombinedObjective, LambdaObjective

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]


def typed() -> None:
    labels = np.array([1, 0, 2, 0])
    scores = np.array([0.3, 0.2, 0.1, 0.4])
    qid = np.array([1, 1, 2, 2])

    # Objectives and metrics: a shorthand is what its long form is.
    assert_type(lp.lambda_map, LambdaObjective)
    objective = lp.lambda_objective("ndcg@10", sigma=2.0)
    assert_type(objective, LambdaObjective | CombinedObjective)
    assert_type(lp.eval_map, lp.EvalMetric)
    assert_type(lp.eval_metric("map", "ndcg@10"), lp.EvalMetric)
    assert_type(lp.gradients(labels, scores, qid=qid, metric="map"), tuple[Floats, Floats])
    assert_type(lp.lambda_map(labels, scores), tuple[Singles, Singles])
    assert_type(lp.metric_names(), list[str])
    assert_type(lp.__version__, str)

    # Evaluation
    found = lp.evaluate(labels, scores, qid=qid, metrics=["map", "ndcg@10"])
    assert_type(found, lp.Evaluation)
    assert_type(found["map"], float)
    assert_type(found.per_query["map"], Floats)
    assert_type(found.to_markdown(), str)
    assert_type(lp.compare_runs({"a": found, "b": found}), RunComparison)

    # Data and estimators
    assert_type(digits_queries(), list[Fold])
    assert_type(read_folds("mq2008"), list[Fold])
    data = digits_queries()[0].train
    assert_type(data, RankingData)
    X, y, q = data.features, data.labels, data.qid
    assert_type(lp.LightGBMRanker(objective="map").fit(X, y, qid=q), lp.LightGBMRanker)
    assert_type(lp.XGBoostRanker(objective="map").fit(X, y, qid=q), lp.XGBoostRanker)
    assert_type(StructuralSVM(loss="map").fit(X, y, qid=q), StructuralSVM)
    assert_type(RankSVM().fit(X, y, qid=q).predict(X), Floats)
    assert_type(lp.query_folds(qid=q), list[tuple[NDArray[np.int64], NDArray[np.int64]]])

    # What is wrong is refused.
    lp.lambda_objective("ndcg", sigma="one")  # type: ignore[arg-type]
    lp.gradients(labels, scores)  # type: ignore[call-arg]
    _: Any = lp.no_such_name  # type: ignore[attr-defined]
