"""Initial scores that are no numbers are refused, and labels that merge as float32 are told."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lambdaplus as lp
import lambdaplus.lightgbm as lgb
import lambdaplus.xgboost as xgb
from lambdaplus.data.ranking_data import Fold, RankingData
from lambdaplus.lists.single_precision import merged_labels_in_words
from lambdaplus.study.data_warnings import data_warnings
from lambdaplus.study.label_kind import LabelKind
from lambdaplus.study.words import Nouns

N, SIZES, QID = 80, [10] * 8, np.repeat(range(8), 10)
X = np.random.default_rng(0).normal(size=(N, 2))
Y, PLACE = (X[:, 0] > 0).astype(int), np.argsort(np.argsort(X[:, 0]))
SMALL: dict[str, Any] = {"n_estimators": 2, "n_jobs": 1}
QUIET = {"verbose": -1, "num_threads": 1, "metric": "None"}
pytestmark = pytest.mark.filterwarnings("ignore:The argument 'eval_set' is deprecated")


def one(value: float) -> Any:
    return np.where(np.arange(N) == 3, value, 0.0)


STARTS: dict[str, tuple[Any, str]] = {
    "NaN": (one(np.nan), "must be finite: 1 of 80 are not, the first is nan in row 3"),
    "infinite": (pd.Series(one(-np.inf)), "must be finite: .* -inf in row 3"),
    "beyond float32": (one(1e300), "must be finite: .*in row 3, as float32"),
    "dates": (np.arange(N).astype("M8[D]"), r"must be numbers, not datetime64\[D\]"),
    "masked": (np.ma.array(one(1.0), mask=np.arange(N) == 3), "masked array .*first in row 3"),
}


def held_out(kind: Any, name: str, start: Any, **options: Any) -> Any:
    model, quiet = kind(**SMALL, **options), {} if "init" in name else {"verbose": False}
    sets = {"eval_set": [(X + 0.5, Y)], "eval_qid": [QID], name: [start]}
    return model.fit(X, Y, qid=QID, **sets, **quiet)


STARTING: dict[str, Any] = {
    "LightGBMRanker": lambda v: lp.LightGBMRanker(**SMALL).fit(X, Y, qid=QID, init_score=v),
    "lambdarank": lambda v: lp.LightGBMRanker(**SMALL, objective="lambdarank").fit(
        X, Y, group=SIZES, init_score=v),
    "LightGBMClassifier": lambda v: lp.LightGBMClassifier(**SMALL).fit(X, Y, init_score=v),
    "evaluation, LightGBM": lambda v: held_out(lp.LightGBMRanker, "eval_init_score", v),
    "lightgbm.train": lambda v: lgb.train(
        QUIET, lgb.Dataset(X, Y, group=SIZES, init_score=v), 2, fobj=lp.lambda_map),
    "valid_sets": lambda v: lgb.train(
        QUIET, lgb.Dataset(X, Y, group=SIZES), 2, fobj=lp.lambda_map,
        valid_sets=[lgb.Dataset(X, Y, group=SIZES, init_score=v)]),
    "XGBoostRanker": lambda v: lp.XGBoostRanker(**SMALL).fit(X, Y, qid=QID, base_margin=v),
    "rank:ndcg": lambda v: lp.XGBoostRanker(**SMALL, objective="rank:ndcg").fit(
        X, Y, qid=QID, base_margin=v),
    "evaluation, XGBoost": lambda v: held_out(lp.XGBoostRanker, "base_margin_eval_set", v),
    "prediction": lambda v: lp.XGBoostRanker(**SMALL).fit(X, Y, qid=QID).predict(
        X, base_margin=v),
    "decision_function": lambda v: lp.XGBoostClassifier(**SMALL, cv=None).fit(
        X, Y).decision_function(X, base_margin=v),
}  # fmt: skip


@pytest.mark.parametrize(("start", "said"), STARTS.values(), ids=STARTS)
@pytest.mark.parametrize("way", STARTING)
def test_initial_scores_that_are_no_numbers(way: str, start: Any, said: str) -> None:
    with pytest.raises(ValueError, match=rf"^(init_score|base_margin|eval_init_score).*{said}"):
        STARTING[way](start)


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("objective", ["map", "rank:ndcg"])
def test_initial_scores_of_a_matrix(objective: str, value: float) -> None:
    data = xgb.DMatrix(X, Y, group=SIZES, base_margin=one(value))
    with pytest.raises(ValueError, match=r"^base_margin of dtrain must be finite"):
        xgb.train({"objective": objective}, data, 2)


@pytest.mark.parametrize("way", STARTING)
def test_numbers_are_taken(way: str) -> None:
    STARTING[way](one(0.5).astype(np.float32))


MERGED = {
    "at 1e9": 1e9 + PLACE,
    "2**24 and one more": 2.0**24 + Y,
    "negative": -5e8 - PLACE,
    "integers": 10**9 + PLACE,
}
KEPT = {
    "an outlier": np.where(PLACE == 0, 1e9, PLACE),
    "reals": np.random.default_rng(1).normal(size=N),
    "a small offset": 1e4 + PLACE,
    "equal": np.full(N, 1e9),
}


def fitted(way: str, labels: Any) -> Any:
    if way == "lightgbm.train":
        data = lgb.Dataset(X, labels, group=SIZES)
        return lgb.train(QUIET, data, 2, fobj=lp.lambda_objective("concordance"))
    kind = getattr(lp, way)
    return kind(**SMALL, objective="concordance").fit(X, labels, qid=QID)


WAYS = ["LightGBMRanker", "XGBoostRanker", "lightgbm.train"]


@pytest.mark.filterwarnings("ignore:.*nothing to rank", "ignore:all documents are relevant")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MERGED)
def test_labels_that_merge_are_told(way: str, name: str) -> None:
    with pytest.warns(UserWarning, match=r"different numbers .*equal to others as float32"):
        fitted(way, MERGED[name])


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", KEPT)
def test_others_are_not(way: str, name: str) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*float32")
        fitted(way, KEPT[name])


@pytest.mark.parametrize(("labels", "told"), [(1e9 + PLACE, True), (PLACE / 7, False)])
def test_compare_tells_them(labels: Any, told: bool) -> None:
    part = RankingData(X, labels, QID)
    folds = [Fold("Fold1", part, part, part)]
    said = [*data_warnings(folds, LabelKind.of(folds), Nouns())]
    assert any("equal to others as float32" in line for line in said) == told


def test_labels_beyond_float32_are_no_matter_of_merging() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as of an overflow in a cast
        assert not merged_labels_in_words(1e300 * PLACE)


@pytest.mark.parametrize("sizes", [[10.9] * 8, [9.5, 10.5] * 4])
def test_sizes_of_queries_are_not_cut(sizes: list[float]) -> None:
    with pytest.raises(ValueError, match="group must contain query sizes: integers"):
        lgb.train(QUIET, lgb.Dataset(X, Y, group=sizes), 2, fobj=lp.lambda_map)
