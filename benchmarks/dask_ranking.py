"""Two Dask workers beside one machine: test NDCG@10 of MQ2008, and AP without queries.

    python benchmarks/dask_ranking.py MQ2008_FOLDER [--rounds 100]

Histogram bins are found on each worker, so trees differ a little from those of one machine.  How
much of a difference is chance is shown by one machine with 250 bins in place of 255.
"""

from __future__ import annotations

import argparse
import logging
import pathlib
from functools import partial
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import xgboost as xgb
import xgboost.dask
from dask import dataframe as dd
from distributed import Client, LocalCluster
from rich.console import Console
from rich.progress import track
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score

import lambdaplus as lp
from lambdaplus.dask import partition_by_qid
from lambdaplus.data import RankingData, read_folds
from lambdaplus.evaluation.result_tables import Table

LIGHTGBM = {"metric": "None", "num_leaves": 15, "verbose": -1, "n_jobs": 1}
XGBOOST = {"base_score": 0.0, "max_depth": 4, "eta": 0.1, "nthread": 1}


def table_of(data: RankingData) -> pd.DataFrame:
    frame = pd.DataFrame(data.features).add_prefix("f")
    return frame.assign(qid=data.qid.astype(int), label=data.labels)


def _keep(
    found: dict[tuple[str, str, str], list[float]],
    metric: str,
    test: RankingData,
    framework: str,
    where: str,
    scores: Any,
) -> None:
    value = lp.evaluate(test.labels, scores, qid=test.qid, metrics="ndcg@10")["ndcg@10"]
    found.setdefault((framework, metric, where), []).append(value)


def on_queries(client: Client, folder: pathlib.Path, rounds: int) -> Table:
    """Mean test NDCG@10 over the folds, per framework and objective."""
    found: dict[tuple[str, str, str], list[float]] = {}
    for fold in track(read_folds(folder), "folds"):
        rows = table_of(fold.train)
        features, labels = rows.drop(columns=["qid", "label"]), rows["label"]
        shuffled = rows.sample(frac=1, random_state=0)
        parts = partition_by_qid(dd.from_pandas(shuffled, npartitions=4), qid="qid", label="label")
        test = xgb.DMatrix(fold.test.features, feature_names=list(features.columns))
        for metric in ("ndcg@10", "map"):
            objective = lp.lambda_objective(metric)

            keep = partial(_keep, found, metric, fold.test)
            ranker: dict[str, Any] = {**LIGHTGBM, "objective": objective, "n_estimators": rounds}
            two = lgb.DaskLGBMRanker(client=client, **ranker)
            two.fit(parts.X, parts.y, group=parts.group)
            keep("LightGBM", "two workers", two.to_local().predict(fold.test.features))
            spread = xgb.dask.DaskQuantileDMatrix(client, parts.X, parts.y, qid=parts.qid)
            made = xgb.dask.train(client, XGBOOST, spread, num_boost_round=rounds, obj=objective)
            keep("XGBoost", "two workers", made["booster"].predict(test))
            for where, bins in (("one machine", 255), ("250 bins", 250)):
                one = lgb.LGBMRanker(max_bin=bins, **ranker)
                one.fit(features, labels, group=fold.train.group)
                keep("LightGBM", where, one.predict(fold.test.features))
                data = xgb.QuantileDMatrix(features, labels, group=fold.train.group, max_bin=bins)
                params = {**XGBOOST, "max_bin": bins}
                keep("XGBoost", where, xgb.train(params, data, rounds, obj=objective).predict(test))
    columns = ("two workers", "one machine", "250 bins")
    table = []
    for framework, metric in dict.fromkeys(key[:2] for key in found):
        means = [float(np.mean(found[framework, metric, where])) for where in columns]
        table.append((f"{framework}, {metric}", *means, means[0] - means[1], means[2] - means[1]))
    heads = ("test NDCG@10", *columns, "two - one", "250 - one")
    return Table(heads, table, (f"MQ2008, five folds, {rounds} rounds",))


def without_queries(client: Client, rounds: int) -> Table:
    """Test AP of rare positives, on two workers and on one machine."""
    seeds, table = range(5), []
    found: dict[str, list[float]] = {}
    for seed in track(seeds, "seeds"):
        X, y = make_classification(
            20_000, 20, n_informative=6, weights=[0.975], class_sep=0.7, random_state=seed
        )
        rows = pd.DataFrame(X[:10_000]).add_prefix("f").assign(label=y[:10_000])
        even = dd.from_pandas(rows, npartitions=2)
        apart = dd.from_pandas(rows.sort_values("f0", ignore_index=True), npartitions=2)
        test = xgb.DMatrix(pd.DataFrame(X[10_000:]).add_prefix("f"))
        runs = {"two workers, dealt at random": even, "two workers, sorted by a feature": apart}
        for name, frame in runs.items():
            X_parts = frame.drop(columns=["label"])
            data = xgb.dask.DaskQuantileDMatrix(client, X_parts, frame["label"])
            made = xgb.dask.train(client, XGBOOST, data, num_boost_round=rounds, obj=lp.lambda_map)
            scores = made["booster"].predict(test)
            found.setdefault(name, []).append(average_precision_score(y[10_000:], scores))
        one = xgb.QuantileDMatrix(rows.drop(columns=["label"]), rows["label"])
        scores = xgb.train(XGBOOST, one, rounds, obj=lp.lambda_map).predict(test)
        found.setdefault("one machine", []).append(average_precision_score(y[10_000:], scores))
    for name, values in found.items():
        table.append((name, float(np.mean(values)), float(np.std(values))))
    foot = (f"10,000 rows, about 3 % positive, lambda_map, {rounds} rounds, {len(seeds)} sets",)
    return Table(("test AP, XGBoost", "mean", "sd"), table, foot)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=100)
    arguments = parser.parse_args()
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.ERROR
    )
    with cluster, Client(cluster) as client:
        Console(width=110).print(without_queries(client, arguments.rounds))
        Console(width=110).print(on_queries(client, arguments.folder, arguments.rounds))


if __name__ == "__main__":
    main()
