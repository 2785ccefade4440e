"""Features that are no numbers are refused in words by every door, in training and prediction."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lambdaplus as lp
import lambdaplus.lightgbm as lgb
from lambdaplus.baselines import BestFeature, QueryScaler, RankSVM
from lambdaplus.data import RankingData

pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
random = np.random.default_rng(0)
X, QID = random.normal(size=(80, 2)), np.repeat(range(8), 10)
Y = (X[:, 0] > 0).astype(int)
DAYS = np.datetime64("2020-01-01") + random.integers(0, 900, (80, 2))
SOME: dict[str, list[Any]] = {"a": X[:, 0].tolist(), "day": DAYS[:, 0].tolist()}
NO_NUMBERS: dict[str, Any] = {
    "dates": DAYS,
    "nanoseconds": DAYS.astype("datetime64[ns]"),
    "durations": DAYS - DAYS.min(),
    "text": X.astype(str),
    "bytes": X.astype("S"),
    "records": X.view([("a", float), ("b", float)]),
    "dates in pandas": pd.DataFrame({"a": X[:, 0], "day": DAYS[:, 0]}),
    "time zones in pandas": pd.DataFrame({"day": pd.date_range("2020", periods=80, tz="UTC")}),
    "durations in pandas": pd.DataFrame({"a": X[:, 0], "day": DAYS[:, 0] - DAYS.min()}),
    "dates in polars": pl.DataFrame(SOME),
    "times in polars": pl.DataFrame(SOME).cast({"day": pl.Datetime}),
    "durations in polars": pl.DataFrame(SOME).with_columns(pl.col("day") - pl.date(2020, 1, 1)),
    "dates in pyarrow": pa.table(SOME),
    "lists in polars": pl.DataFrame({"a": SOME["a"], "day": [[1]] * 80}),
}
SMALL = {"n_estimators": 2, "n_jobs": 1}
FITS: dict[str, Callable[[Any], Any]] = {
    "LightGBMRanker": lambda X: lp.LightGBMRanker(**SMALL, verbose=-1).fit(X, Y, qid=QID),
    "XGBoostRanker": lambda X: lp.XGBoostRanker(**SMALL).fit(X, Y, qid=QID),
    "LightGBMClassifier": lambda X: lp.LightGBMClassifier(**SMALL, verbose=-1, cv=None).fit(X, Y),
    "XGBoostClassifier": lambda X: lp.XGBoostClassifier(**SMALL, cv=None).fit(X, Y),
    "lightgbm.train": lambda X: lgb.train(
        {"objective": "map", "verbose": -1}, lgb.Dataset(X, Y, group=[10] * 8), 2
    ),
}


@pytest.mark.parametrize("what", NO_NUMBERS)
@pytest.mark.parametrize("door", FITS)
def test_they_are_refused(door: str, what: str) -> None:
    with pytest.raises(
        ValueError, match=r"^(X is an array of .*, not of n|the column '?day'? is )"
    ):
        FITS[door](NO_NUMBERS[what])


@pytest.mark.parametrize("door", [door for door in FITS if door != "lightgbm.train"])
def test_predictions_refuse_them(door: str) -> None:
    with pytest.raises(ValueError, match=r"^X is an array of datetime64\[D\], not of numbers"):
        FITS[door](X).predict(DAYS)


@pytest.mark.parametrize("door", FITS)
def test_two_columns_of_one_name_are_refused(door: str) -> None:
    with pytest.raises(ValueError, match=r"^two columns are called 'a': rename one"):
        FITS[door](pd.DataFrame(np.c_[X, X], columns=list("abca")))


@pytest.mark.parametrize("door", FITS)
def test_numbers_in_the_same_containers_are_not(door: str) -> None:
    flags = {"a": X[:, 0].tolist(), "b": (X[:, 1] > 0).tolist(), "c": list(range(80))}
    for data in (pd.DataFrame(flags), pl.DataFrame(flags), pa.table(flags), X > 0, X.astype(">f4")):
        FITS[door](data)


BASELINES: dict[str, Callable[[Any], Any]] = {
    "fit": lambda X: RankSVM().fit(X, Y, qid=QID),
    "eval_set": lambda X: BestFeature().fit(DAYS.astype(int), Y, QID, eval_set=(X, Y, QID)),
    "predict": lambda X: RankSVM().fit(DAYS.astype(int), Y, qid=QID).predict(X),
    "QueryScaler": lambda X: QueryScaler().fit(X, qid=QID),
    "transform": lambda X: QueryScaler().fit(DAYS.astype(int)).transform(X, qid=QID),
    "RankingData": lambda X: RankingData(X, Y, QID),
}
OF_TIME = [name for name in NO_NUMBERS if re.match("da|na|du|ti", name)]


@pytest.mark.parametrize("what", OF_TIME)
@pytest.mark.parametrize("door", BASELINES)
def test_baselines_and_data_refuse_dates(door: str, what: str) -> None:
    with pytest.raises(
        ValueError, match=r"^(.* is an array of .*, not of n|the column '?day'? is )"
    ):
        BASELINES[door](NO_NUMBERS[what])


@pytest.mark.parametrize("door", BASELINES)
def test_baselines_and_data_refuse_masked_entries(door: str) -> None:
    masked = np.ma.masked_array(X, mask=X > 1)
    with pytest.raises(ValueError, match=r"is a masked array with .* the first in row"):
        BASELINES[door](masked)


def test_decimals_and_flags_of_a_frame_stay_features_of_baselines() -> None:
    frame = pl.DataFrame({"a": X[:, 0].round(2), "b": X[:, 1] > 0})
    decimals = frame.with_columns(pl.col("a").cast(pl.Decimal(10, 2)))
    right, found = (RankSVM().fit(one, Y, qid=QID).coef_ for one in (frame, decimals))
    np.testing.assert_allclose(found, right, rtol=1e-6)
