"""The messages of the page "Troubleshooting" are those that are raised."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from places import ROOT
from sklearn.model_selection import KFold, cross_val_score

from lambdaplus import LightGBMRanker, eval_metric, evaluate, lambda_map, lambda_objective

lgb = pytest.importorskip("lightgbm", minversion="4")
xgb = pytest.importorskip("xgboost")

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text()
X = np.random.default_rng(0).normal(size=(600, 2))
Y, GROUP = np.tile([1, 0, 2], 200), [3] * 200
FRAME = pd.DataFrame(X).add_prefix("x").assign(qid=np.arange(600) // 3)
OURS = {"objective": lambda_map, "verbose": -1}
SEARCHED = {
    "Unknown objective type name: ndcg@10": lambda: train_lightgbm(objective="ndcg@10"),
    "Unknown objective function": lambda: xgb.train({"objective": "ndcg@10"}, xgb.DMatrix(X, Y)),
    "ndcg ranks the documents of each query, but the data has no queries":
        lambda: evaluate(Y, X[:, 0], metrics="ndcg"),
    "training data has no queries": lambda: LightGBMRanker(verbose=-1).fit(X, Y),
    "group sizes add up to … but there are … rows":
        lambda: evaluate(Y, X[:, 0], group=[3, 2], metrics="map"),
    "ndcg has no value on any query of this data set":
        lambda: eval_metric("ndcg")(0 * Y, X[:, 0], None, GROUP),
    "ndcg needs labels >= 0": lambda: evaluate(-Y, X[:, 0], group=GROUP, metrics="ndcg"),
    "unknown metric 'nddcg'": lambda: lambda_objective("nddcg@10"),
    "auc takes no cutoff": lambda: lambda_objective("auc@5"),
    "ndcg has no option": lambda: lambda_objective("ndcg", relevant=2),
    "this subset of the data splits … of … queries":
        lambda: lgb.cv(OURS, data(), nfold=2, stratified=False),
    "with bagging_by_query=True, LightGBM learns nothing":
        lambda: train_lightgbm(bagging_by_query=True),
    "Cannot refit due to null objective function":
        lambda: train_lightgbm().refit(X, Y, group=GROUP),
    "at least one dataset and eval metric is required":
        lambda: lgb.train(OURS, data(), 5, [data()], callbacks=[lgb.early_stopping(2)]),
    "Label … is not less than the number of label mappings":
        lambda: train_lightgbm(20 * Y, objective="lambdarank"),
    "label should be int type": lambda: train_lightgbm(0.5 * Y, objective="lambdarank"),
    "custom objective function not supported by XGBRanker":
        lambda: xgb.XGBRanker(objective=lambda_map).fit(X, Y, group=GROUP),
    "was passed as a metric": lambda: lgb.train(OURS, data(), 2, [data()], feval=lambda_map),
    "this cross-validation splits queries":
        lambda: cross_val_score(LightGBMRanker(verbose=-1), FRAME, Y, cv=KFold(2, shuffle=True)),
    "all documents are relevant": lambda: evaluate(Y % 2 + 1, X[:, 0], metrics="auc"),
    "XGBRanker calls a metric query by query":
        lambda: xgb.XGBRanker(eval_metric=eval_metric("map")).fit(
            X, Y, group=GROUP, eval_set=[(X, Y * (X[:, 0] > 0))], eval_group=[GROUP]),
}  # fmt: skip


def data(labels: Any = Y) -> Any:
    return lgb.Dataset(X, labels, group=GROUP)


def train_lightgbm(labels: Any = Y, **params: Any) -> Any:
    return lgb.train({"objective": lambda_map, "verbose": -1, **params}, data(labels), 2)


@pytest.mark.filterwarnings("ignore", "error:this cross-val|all documents")
@pytest.mark.parametrize("message", SEARCHED)
def test_a_message_of_the_page_is_raised(message: str) -> None:
    with pytest.raises(Exception, match=re.escape(message).replace("…", r"\S+")):
        SEARCHED[message]()


def test_every_message_of_the_page_is_tested() -> None:
    section = PAGE.split("## By error message")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)
    assert {message for cell in cells for message in re.findall("`(.*?)`", cell)} == {*SEARCHED}
