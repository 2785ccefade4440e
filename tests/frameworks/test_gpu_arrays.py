"""Arrays of a GPU, which a training of XGBoost with device="cuda" may pass, are converted."""

from typing import Any

import numpy as np
import pytest
from small_data import GRADED, OnGPU, same_gradient

import lambdaplus as lp
from lambdaplus.objectives.position_bias import PositionBias

xgb = pytest.importorskip("lambdaplus.xgboost")

SCORES = GRADED.scores()
MIXED = np.random.default_rng(0).permutation(GRADED.n)  # the rows of a query are not adjacent
PARAMS = {"n_estimators": 3, "n_jobs": 1}


def matrix(**more: Any) -> Any:
    given = {"group": GRADED.sizes, "weight": GRADED.query_weights, **more}
    return xgb.DMatrix(GRADED.features, GRADED.labels, **given)


def return_arrays_of_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """As from XGBoost 3.2 on, once a training on a GPU has used the data set."""
    for name in ("get_float_info", "get_uint_info", "get_label", "get_weight", "get_base_margin"):
        own = getattr(xgb.DMatrix, name)
        on_gpu = lambda self, *names, own=own: OnGPU(own(self, *names))  # noqa: E731
        monkeypatch.setattr(xgb.DMatrix, name, on_gpu)


@pytest.mark.parametrize("more", [{}, {"base_margin": SCORES}])
def test_objectives_and_metrics_read_a_data_set_on_a_gpu(
    monkeypatch: pytest.MonkeyPatch, more: Any
) -> None:
    def results() -> list[Any]:
        data = matrix(**more)
        return [f(holder(SCORES), data) for f in (lp.lambda_ndcg, PositionBias(lp.lambda_map))] + [
            lp.eval_map(holder(SCORES), data)
        ]

    holder: Any = np.asarray
    expected = results()
    return_arrays_of_gpu(monkeypatch)
    holder = OnGPU
    *gradients, value = results()
    assert all(map(same_gradient, gradients, expected))
    assert value == expected[-1]


def test_cross_validation_reads_a_data_set_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    def values() -> Any:
        settings = {"obj": lp.lambda_map, "custom_metric": lp.eval_map, "as_pandas": False}
        return xgb.cv({"nthread": 1}, matrix(), 3, **settings)

    expected = values()
    return_arrays_of_gpu(monkeypatch)
    assert values() == expected


def ranker(held: Any) -> Any:
    """The scores of a ranker, whose labels, queries, weights and margins are held in this way."""
    X, y, qid = GRADED.features[MIXED], held(GRADED.labels[MIXED]), held(GRADED.qid[MIXED])
    weights = held(np.repeat(GRADED.query_weights, GRADED.sizes)[MIXED])
    margin, more = held(SCORES[MIXED]), {"eval_qid": [qid], "sample_weight_eval_set": [weights]}
    model = lp.XGBoostRanker(objective="ndcg", eval_metric="mrr", **PARAMS)
    model.fit(
        X, y, qid=qid, sample_weight=weights, base_margin=margin, eval_set=[(X, y)],
        base_margin_eval_set=[margin], verbose=False, **more,
    )  # fmt: skip
    found = model.evals_result()["validation_0"]["mrr"], model.score(X, y, qid=qid)
    return [model.predict(X), *found, model.score(X, y, qid=qid, sample_weight=weights)]


def classifier(held: Any) -> Any:
    """Scores and threshold of classifiers, the first of which holds out rows of its own."""
    X, y, weights = GRADED.features, held(GRADED.binary), held(GRADED.row_weights)
    alone = lp.XGBoostClassifier(**PARAMS).fit(X, y, sample_weight=weights)
    given = {"eval_set": [(X, y)], "sample_weight_eval_set": [weights], "verbose": False}
    judged = lp.XGBoostClassifier(eval_metric="auc", **PARAMS).fit(X, y, **given)
    return [f(X) for model in (alone, judged) for f in (model.decision_function, model.predict)]


@pytest.mark.parametrize("fitted", [ranker, classifier])
def test_estimators_are_fitted_to_arrays_of_a_gpu(fitted: Any) -> None:
    for found, expected in zip(fitted(OnGPU), fitted(np.asarray), strict=True):
        np.testing.assert_array_equal(found, expected)
