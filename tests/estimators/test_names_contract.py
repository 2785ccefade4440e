"""Objectives and metrics by name: what is found, refused and scored."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from contracts import Raises, Rows, contract, hold
from small_estimators import (
    DATA,
    HALF,
    NATIVELY,
    QID,
    X,
    Y,
    each_estimator,
    each_ranker,
    fit,
    names,
    own_kind,
    watched,
)

import lambdaplus as lp
import lambdaplus.lightgbm as lgb
import lambdaplus.xgboost as xgb

PARENTS = {lp.LightGBMRanker: lgb.LGBMRanker, lp.XGBoostRanker: xgb.XGBRanker}
TIMES = {"y": np.where(np.arange(HALF.sum()) % 3, -1.0, 1.0) * (1.0 + Y[HALF])}
LIFE = "cindex(higher=life)"
UNKNOWN = partial(Raises, kind=Exception)  # or a note on the framework's own error
BINARY = (Y > 1).astype(int)


def squares(scores: Any, given: Any) -> Any:
    labels = given.get_label() if hasattr(given, "get_label") else scores
    scores = scores if hasattr(given, "get_label") else given
    return scores - labels, np.ones_like(scores)


light, boost = partial(watched, lp.LightGBMRanker), partial(watched, lp.XGBoostRanker)


def negative(labels: Any, scores: Any) -> float:
    return -float(np.mean(labels * scores))


# Names of others that are none of ours: what is said, without the framework's own words.
OTHERS = {
    "hit_rate": "success needs a cutoff",
    "aucpr": r"unknown metric 'aucpr' \(did you mean 'map'\?\).*; known: auc, mauc",
    "pr_auc": r"did you mean 'map'\?",
    "ic": r"did you mean 'spearman'\?",
    "average_precision_at_k": r"did you mean 'map@10'\?",
    "ndcg_score": r"did you mean 'ndcg\(gain=linear\)'\?",
    "ndcg10": r"did you mean 'ndcg@10'\?",
    "zzz": "unknown metric 'zzz'; known: auc, mauc",
    "logloss": "'logloss' does not rank: add .*'binary' or 'binary:logistic'",
    "accuracy": "it depends on more than the order of the scores",
}
ANY: Rows = {
    **{
        f"the objective {name}":
            (lambda k, name=name: fit(k, objective=name), Raises("(?s)has no objective .*" + words))
        for name, words in OTHERS.items()
    },
    **{
        f"the metric {name}":
            (lambda k, name=name: watched(k, eval_metric=name), Raises(OTHERS[name]))
        for name in OTHERS if name not in ("aucpr", "logloss")  # XGBoost and LightGBM have these
    },
    **{
        f"{name} is {ours}": (
            lambda k, name=name: fit(k, objective=name, eval_metric=name).predict(X),
            lambda k, ours=ours: fit(k, objective=ours, eval_metric=ours).predict(X),
        )
        for name, ours in {
            "hitrate@5": "success@5", "mean_average_precision": "map", "precision_at_5": "p@5",
        }.items()
    },
    "mapp":
        (lambda k: fit(k, objective="mapp"),
         UNKNOWN(re.escape("unknown metric 'mapp' (did you mean 'map'?)"))),
    "lambda_mapp": (lambda k: fit(k, objective="lambda_mapp"), UNKNOWN("unknown metric 'mapp'")),
    "bpref": (lambda k: fit(k, objective="bpref"), UNKNOWN("was removed .*; use ir-m")),
    "ndcg@0": (lambda k: fit(k, objective="ndcg@0"), UNKNOWN("a cutoff must be a whole")),
    "an option that there is not": (  # LightGBM would read nothing after a blank or =
        lambda k: fit(k, objective="ndcg(gains=linear)"), UNKNOWN("no option 'gains'; it has")
    ),
    "a sum with an unknown part":
        (lambda k: fit(k, objective="map + bogus"), UNKNOWN("unknown metric 'bogus'")),
    "a misspelt name of the framework":
        (lambda k: fit(k, objective=own_kind(k, "lambdarnk", "rank:ndgc")),
         Raises("has no objective .* .did you mean '(lambdarank|rank:ndcg)'")),
    "a metric as objective":
        (lambda k: fit(k, objective=lp.eval_map), Raises("is not an objective", TypeError)),
    "a function that makes objectives":
        (lambda k: fit(k, objective=lp.lambda_objective), Raises("is not an obj", TypeError)),
    "unknown metric": (lambda k: watched(k, eval_metric="map + bogus"), Raises("'bogus'")),
    "a metric that went":
        (lambda k: watched(k, eval_metric="bpref"), UNKNOWN("was removed .*; use ir-m")),
    "a metric that went, with the framework's objective":
        (lambda k: watched(k, eval_metric="bpref", **NATIVELY[k]), UNKNOWN("was removed .*use")),
    "a number as metric": (lambda k: watched(k, eval_metric=5), Raises("neither a metric nor a")),
    "an objective as metric":
        (lambda k: watched(k, eval_metric=lp.lambda_map), Raises("neither a metric nor a")),
    "a metric with labels of its own":
        (lambda k: watched(k, eval_metric=lp.eval_map.on(Y)), Raises("has labels of its own")),
    "a metric of the reverse ranking":
        (lambda k: watched(k, eval_metric=["map", "cindex"]), Raises("higher with low labels")),
    "a metric of the reverse ranking, the framework's objective":
        (lambda k: watched(k, eval_metric="cindex", **NATIVELY[k]),
         Raises("higher with low labels first")),
    "a sum of opposite metrics":
        (lambda k: watched(k, eval_metric="map + cindex"), Raises("in opposite orders")),
}  # fmt: skip


@each_estimator
@contract(ANY)
def test_names_in_any_estimator(act: Callable[..., Any], right: Any, kind: Any) -> None:
    hold(act, right, kind)


RANKED: Rows = {
    **{
        f"{name} by its names": (
            lambda k, name=name: [
                fit(k, objective=one).predict(X) for one in (name, f"lambda_{name}")
            ],
            lambda k, name=name: [fit(k, objective=lp.lambda_objective(name)).predict(X)] * 2,
        )
        for name in ("map@5", "ndcg@10 + 0.5*map")
    },
    "score of the objective's metric, and of eval_metric": (
        lambda k: [
            fit(k, eval_metric=one).score(X, Y, **rows)
            for one in (None, ["ndcg@3", "mrr"])
            for rows in ({"qid": QID}, {"group": DATA.sizes})
        ],
        lambda k: [
            lp.evaluate(Y, fit(k).predict(X), qid=QID, metrics=one).mean[one]
            for one in ("map", "map", "ndcg@3", "ndcg@3")
        ],
    ),
    "score of weighted queries":
        (lambda k: fit(k).score(X, Y, qid=QID, sample_weight=QID + 1.0),
         lambda k: lp.evaluate(Y, fit(k).predict(X), qid=QID, weight=QID + 1.0).mean["map"]),
    "two metrics": (lambda k: names(k, eval_metric=["ndcg@3", "mrr"]), ["ndcg@3", "mrr"]),
    "the framework's objective": (
        lambda k: fit(k, **NATIVELY[k]).predict(X),
        lambda k: PARENTS[k](**{**fit(k).get_params(), **NATIVELY[k]}).fit(
            X, Y, group=DATA.sizes
        ).predict(X),
    ),
    "the metric of the framework's objective":
        (lambda k: fit(k, **NATIVELY[k]).score(X, Y, qid=QID),
         lambda k: fit(k, eval_metric="ndcg@10", **NATIVELY[k]).score(X, Y, qid=QID)),
    "censored times, high risks first":
        (lambda k: watched(k, TIMES, objective="cindex", eval_metric="cindex").objective, "cindex"),
    "censored times, long lives first":
        (lambda k: watched(k, TIMES, objective=LIFE, eval_metric=LIFE).objective, LIFE),
    "an objective without a metric":
        (lambda k: fit(k, objective=squares).score(X, Y, qid=QID),
         Raises("no metric is known for .*: pass eval_metric")),
    "an objective of the reverse ranking":
        (lambda k: watched(k, objective="cindex", eval_metric="ndcg"),
         Raises("higher with high labels first")),
}  # fmt: skip


@each_ranker
@contract(RANKED)
def test_names_in_rankers(act: Callable[..., Any], right: Any, kind: Any) -> None:
    hold(act, right, kind)


ONE: Rows = {
    "eval_at of the estimator": (
        lambda: light(eval_at=[1, 5]), Raises(r"eval_at=\[1, 5\] .*: pass eval_metric=\['ndcg@1'")
    ),
    "eval_at by another name": (lambda: light(ndcg_at=3), Raises("eval_at=3 is for LightGBM's")),
    "eval_at of fit": (lambda: light({"eval_at": [5]}), Raises(r"eval_at=\[5\] is for LightGBM's")),
    "a parameter metric that LightGBM would ignore":
        (lambda: light(metric="hitrate@5"), Raises("no such metric; pass eval_metric='hitrate@5'")),
    "a parameter metrics that nobody knows":
        (lambda: light(metrics=["auc", "aucpr"]), Raises("no such metric; .*did you mean 'map'")),
    "eval_at with LightGBM's metric":
        (lambda: names(lp.LightGBMRanker, metric="ndcg", eval_at=[1, 5]), ["ndcg@1", "ndcg@5"]),
    "eval_at with LightGBM's objective":
        (lambda: names(lp.LightGBMRanker, objective="lambdarank", eval_at=[2]), ["ndcg@2"]),
    "several metrics of LightGBM in one string":
        (lambda: light(eval_metric="l2,mrr"), Raises("pass several metrics as a list")),
    "a metric that LightGBM would ignore":
        (lambda: light(eval_metric="mapp"),
         Raises(r"unknown metric 'mapp' \(did you mean 'map'\?\).*; LightGBM has no metric 'ma")),
    "a metric that LightGBM would ignore, beside another":
        (lambda: light({"eval_metric": ["map", "ndgc@5"]}), Raises("unknown metric 'ndgc'")),
    **{
        f"LightGBM's metrics {given}":
            (lambda given=given: names(lp.LightGBMClassifier, eval_metric=given), shown)
        for given, shown in (
            ("rmse,mean_absolute_error", ["rmse", "l1"]), ("auc", ["auc"]),
        )
    },
    "several metrics of LightGBM":
        (lambda: names(lp.LightGBMClassifier, eval_metric=["binary_logloss", "l2"]),
         ["binary_logloss", "l2"]),
    "random forest":
        (lambda: light(boosting_type="rf", bagging_fraction=0.7, bagging_freq=1),
         Raises("RF mode do not support custom", lgb.basic.LightGBMError)),
    "two metrics of which one is a function":
        (lambda: boost(eval_metric=[negative, "map"]), Raises("XGBoost supports one")),
    "XGBoost's default, squared error":
        (lambda: fit(lp.XGBoostRanker, objective=None), Raises("squared error, which ranks noth")),
}  # fmt: skip


@contract(ONE)
def test_names_in_one_ranker(act: Callable[..., Any], right: Any) -> None:
    hold(act, right)
