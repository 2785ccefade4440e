"""Names of metrics that LightGBM would ignore without a word."""

from typing import Any

import numpy as np
import pytest

import lambdaplus as lp
import lambdaplus.lightgbm as lgb

X = np.random.default_rng(0).normal(size=(80, 2))
Y, SIZES = (X[:, 0] > 0).astype(int), [10] * 8


def recorded(params: dict[str, Any], **given: Any) -> set[str]:
    curves: dict[str, Any] = {}
    data = lgb.Dataset(X, Y, group=SIZES)
    lgb.train(
        {"verbose": -1, "objective": "map", "num_threads": 1, **params}, data, 2,
        valid_sets=[lgb.Dataset(X, Y, group=SIZES)], callbacks=[lgb.record_evaluation(curves)],
        **given,
    )  # fmt: skip
    return {name for of_set in curves.values() for name in of_set}


def crossed(params: dict[str, Any], **given: Any) -> Any:
    return lgb.cv({"verbose": -1, "objective": "map", **params}, lgb.Dataset(X, Y, group=SIZES), 1)


def fitted(params: dict[str, Any], **given: Any) -> Any:
    return lp.LightGBMRanker(n_estimators=2, verbose=-1, **params).fit(X, Y, group=SIZES)


@pytest.mark.parametrize("way", [recorded, crossed, fitted])
@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ({"metric": "hitrate@5"}, r"eval_metric(=|\()'hitrate@5'"),
        ({"metrics": ["auc", "mrr"]}, r"eval_metric(=|\()'mrr'"),
        ({"metric": "auc,map@3"}, "'map@3'.*map has its cutoffs in eval_at"),
        ({"metric_types": ("ndcg@10",)}, "ndcg has its cutoffs in eval_at"),
        ({"metric": {"nonsense"}}, "unknown metric 'nonsense'"),
        ({"metric": "logloss"}, "metric='logloss': .* pass 'binary_logloss' or 'multi_logloss'"),
        ({"metric": ["auc", "error"]}, "metric='error': LightGBM has no such metric"),
        ({"metric": "auc@5"}, "metric='auc@5': LightGBM has no such metric"),
    ],
)
def test_a_parameter_with_a_name_of_none_of_its_metrics(
    way: Any, metric: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        way(metric)


def test_names_that_lightgbm_or_feval_evaluates() -> None:
    assert recorded({"metric": ["NDCG", "auc"], "eval_at": [3]}) == {"ndcg@3", "auc"}
    assert recorded({"metric": ""}) == recorded({"metric": "None"}) == set()
    ours = lp.eval_metric("ndcg@10")  # a tuner watches what the parameter says
    assert recorded({"metric": "ndcg@10"}, feval=ours) == {"ndcg@10"}

    for name in ("NDCG@10", "ndcg_at_10"):
        with pytest.raises(ValueError, match=f"'{name}'.* it as 'ndcg@10': use that name"):
            recorded({"metric": name}, feval=ours)

    def own(scores: Any, data: Any) -> tuple[str, float, bool]:
        return "own", 0.5, True

    assert recorded({"metric": "own"}, feval=own) == {"own"}


@pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")
@pytest.mark.parametrize("name", ["logloss", "error"])
def test_names_that_only_a_classifier_of_lightgbm_translates(name: str) -> None:
    given = {"eval_set": [(X, Y)], "eval_metric": name}
    model = lp.LightGBMClassifier(n_estimators=2, n_jobs=1, verbose=-1).fit(X, Y, **given)
    [curves] = model.evals_result_.values()
    assert f"binary_{name}" in curves
    with pytest.raises(ValueError, match=f"LightGBM has no metric '{name}'"):
        lp.LightGBMRanker(verbose=-1).fit(X, Y, group=SIZES, eval_group=[SIZES], **given)
