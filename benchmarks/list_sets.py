"""Data sets by the length of their lists, as folds with a training, validation and test part.

- ``generated:DOCUMENTS:SHARE:NOISE:KIND``: queries of so many documents, this share of which is
  relevant: the best of each query (KIND ``even``), or those above one threshold for all queries,
  which then differ (``uneven``).  Two of twenty features are those of the query.  The noise is in
  standard deviations of the merit, about.
- ``digits``: find images of the same digit among 300 others, of which a tenth are relevant.
- ``flights:FOLDER``: the flights of a day by how late they will be; FOLDER has the CSV files of
  nycflights13 (CC0).  Relevant: an hour late, or cancelled.
- ``web-search:N:FEATURES``: N queries of about 120 documents with five grades, see `web_search`.
- ``table:NAME``: half, a quarter and a quarter of 20,000 rows of a table without queries, see
  `whole_tables_data`.
- ``KIND:FEATURES:QUERIES:DOCUMENTS:NOISE``: see `shapes`.
- other names: a folder of folds, such as those of LETOR.
"""

from __future__ import annotations

import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import shapes
import whole_tables_data
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split
from web_search import web_search_like

from lambdaplus.data import Fold, RankingData, cross_validation
from lambdaplus.data.digits import compare_images
from lambdaplus.study import Config
from lambdaplus.study.folds import read_study_data

Array = NDArray[Any]
TRAINING_ROWS, OTHER_ROWS, MOST_QUERIES = 40_000, 60_000, 2_000  # of generated sets
TABLE_ROWS = 20_000
DAYS = (65, 60)  # of flights, for training and validation; all others are tested


def fold_of(name: str, seed: int) -> Fold:
    kind, _, rest = name.partition(":")
    if kind == "generated":
        documents, share, noise, spread = rest.split(":")
        return generated(int(documents), float(share), float(noise), spread == "even", seed)
    if kind == "digits":
        return digits(seed)
    if kind == "flights":
        return flights(rest, seed)
    if kind == "table":
        return table(rest, seed)
    if kind in shapes.KINDS:
        return shapes.generated(name, seed)
    if kind == "web-search":
        folds = cross_validation(web_search_like(*map(int, rest.split(":"))))
    else:
        folds = read_study_data(Config(data=name)).folds
    return folds[seed % len(folds)]


def in_words(name: str) -> str:
    kind, _, rest = name.partition(":")
    if kind == "generated":
        documents, share, noise, spread = rest.split(":")
        return f"{documents} documents, {float(share):.0%} relevant, noise {noise}, {spread}"
    if kind == "web-search":
        return f"{int(rest.split(':')[0]):,} queries as of web search"
    words = {"digits": "images of digits", "flights": "flights of a day"}
    return words.get(kind) or Path(name).name


def table(name: str, seed: int) -> Fold:
    X, y = whole_tables_data.read(name)
    X, y = X[:TABLE_ROWS], y[:TABLE_ROWS]
    halves = {"test_size": 0.5, "random_state": seed}
    train, rest = train_test_split(np.arange(y.size), stratify=y, **halves)
    valid, test = train_test_split(rest, stratify=y[rest], **halves)
    parts = (
        RankingData(X[rows], y[rows], np.zeros(rows.size, int), grouped=False)
        for rows in (train, valid, test)
    )
    return Fold(f"{seed}", *parts)


def generated(documents: int, share: float, noise: float, even: bool, seed: int) -> Fold:
    random = np.random.default_rng([seed, documents, int(1000 * share), int(10 * noise), even])
    weights = np.random.default_rng(5).normal(size=(20, 6))

    def part(rows: int) -> RankingData:
        queries = min(max(rows // documents, 4), MOST_QUERIES)
        features = random.normal(size=(queries * documents, 20)).astype(np.float32)
        features[:, 18:] = np.repeat(random.normal(size=(queries, 2)), documents, axis=0)
        merit = np.tanh(features @ weights / 2) @ np.array([2, 1.5, -1, 1, 0.7, -0.5])
        merit += 0.8 * (features[:, 0] > 1) + noise * random.normal(size=merit.size)
        if even:
            by_query = merit.reshape(queries, documents)
            place = (-by_query).argsort(axis=1).argsort(axis=1)
            relevant = (place < max(1, round(share * documents))).ravel()
        else:
            merit += np.repeat(random.normal(size=queries), documents)
            relevant = merit > np.quantile(merit, 1 - share)
        qid = np.repeat(np.arange(queries), documents)
        return RankingData(features, relevant.astype(float), qid)

    return Fold(f"{seed}", part(TRAINING_ROWS), part(OTHER_ROWS), part(OTHER_ROWS))


def digits(seed: int) -> Fold:
    """Three fifths of the images for training, a fifth for validation, and one for testing."""
    from sklearn.datasets import load_digits

    pixels, digit = load_digits(return_X_y=True)
    parts = np.array_split(np.random.default_rng(seed).permutation(digit.size), 5)

    def part(*numbers: int) -> RankingData:
        queries, documents = [], []
        for number in numbers:
            asked, pool = parts[number][:60], parts[number][60:]
            queries.append(np.repeat(asked, pool.size))
            documents.append(np.tile(pool, asked.size))
        asked, found = np.concatenate(queries), np.concatenate(documents)
        features = compare_images(pixels.reshape(-1, 8, 8) / 16.0, asked, found)
        return RankingData(features, (digit[asked] == digit[found]).astype(float), asked)

    return Fold(f"{seed}", part(0, 1, 2), part(3), part(4))


def flights(folder: str, seed: int) -> Fold:
    features, late, day = _flights(folder)
    days = np.random.default_rng(seed).permutation(np.unique(day))

    def part(some: Array) -> RankingData:
        rows = np.isin(day, some)
        return RankingData(features[rows], late[rows], day[rows])

    train, valid, test = np.split(days, np.cumsum(DAYS))
    return Fold(f"{seed}", part(train), part(valid), part(test))


@cache
def _flights(folder: str) -> tuple[Array, Array, Array]:
    """Features, whether a flight is an hour late, and its day, in the order of days."""
    files = Path(folder)
    read = {"null_values": "NA", "infer_schema_length": None}
    with zipfile.ZipFile(files / "flights.csv.zip") as zipped:
        flights = pl.read_csv(zipped.read("flights.csv"), **read)
    weather = pl.read_csv(files / "weather.csv", **read)
    at = ["origin", "month", "day", "hour"]
    of_weather = ("temp", "dewp", "humid", "wind_speed", "wind_gust", "precip", "pressure", "visib")
    weather = weather.unique(at, keep="first").select(*at, *of_weather)
    planes = pl.read_csv(files / "planes.csv", **read).select(
        "tailnum", pl.col("year").alias("built"), "seats", "engines"
    )
    table = (
        flights.with_columns(
            date=pl.date("year", "month", "day"),
            hour=pl.col("sched_dep_time") // 100,
            minute=pl.col("sched_dep_time") // 100 * 60 + pl.col("sched_dep_time") % 100,
            late=(pl.col("arr_delay").fill_null(240) >= 60).cast(pl.Float64),
        )
        .join(weather, at, "left")
        .join(planes, "tailnum", "left")
        .sort("date", "sched_dep_time", "carrier", "flight", "origin")
        .with_columns(
            d=(pl.col("date") - pl.col("date").min()).dt.total_days(),
            weekday=pl.col("date").dt.weekday(),
            same_hour=pl.len().over("date", "origin", "hour"),
        )
    )
    past = {
        "past_carrier": ["carrier"], "past_route": ["origin", "dest"],
        "past_flight": ["carrier", "flight"], "past_hour": ["origin", "hour"],
        "past_plane": ["tailnum"], "past_dest": ["dest"],
    }  # fmt: skip
    for name, keys in past.items():
        table = table.join(_lateness_before(table, keys, name), [*keys, "d"], "left")
    numbers = ["month", "weekday", "minute", "distance", *of_weather, "built", "seats", "engines"]
    codes = [pl.col(name).rank("dense") for name in ("carrier", "origin", "dest")]
    columns = table.select(*numbers, *codes, *past, "same_hour").cast(pl.Float32)
    known = table["d"].to_numpy() >= 14
    return columns.to_numpy()[known], table["late"].to_numpy()[known], table["d"].to_numpy()[known]


def _lateness_before(table: pl.DataFrame, keys: list[str], name: str) -> pl.DataFrame:
    """The share of late flights on the last 14 days before each day that have flights."""
    by_day = table.group_by(*keys, "d").agg(sum=pl.col("late").sum(), count=pl.len()).sort("d")
    before = [
        pl.col(column).shift(1).rolling_sum(14, min_samples=1).over(keys).fill_null(0)
        for column in ("sum", "count")
    ]
    return by_day.select(*keys, "d", ((before[0] + 1) / (before[1] + 7)).alias(name))
