"""LightGBM and XGBoost on two Dask workers, the queries whole on each.

python examples/dask_ranking.py
"""

import logging

import lightgbm as lgb
import pandas as pd
import xgboost as xgb
import xgboost.dask
from dask import dataframe as dd
from distributed import Client, LocalCluster

import lambdaplus as lp
from lambdaplus.dask import partition_by_qid, refuse_cut_queries
from lambdaplus.data import digits_queries


def main() -> None:
    fold = digits_queries()[0]
    rows = pd.DataFrame(fold.train.features).add_prefix("f")
    rows = rows.assign(qid=fold.train.qid, label=fold.train.labels.astype(int))
    frame = dd.from_pandas(rows, npartitions=4)  # of a cluster: dd.read_parquet(...)
    try:
        refuse_cut_queries(frame["qid"])
    except ValueError as error:
        print(f"As they come: {error}")

    objective = lp.lambda_objective("ndcg@10")
    test = pd.DataFrame(fold.test.features).add_prefix("f")
    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.ERROR
    )
    with cluster, Client(cluster) as client:
        parts = partition_by_qid(frame, qid="qid", label="label")
        print(f"{len(parts.group)} queries in {parts.X.npartitions} partitions")

        ranker = lgb.DaskLGBMRanker(
            client=client, objective=objective, metric="None", n_estimators=30, verbose=-1
        )
        ranker.fit(parts.X, parts.y, group=parts.group)
        scores = {"LightGBM": ranker.to_local().predict(test)}

        data = xgb.dask.DaskQuantileDMatrix(client, parts.X, parts.y, qid=parts.qid)
        trained = xgb.dask.train(
            client, {"base_score": 0.0}, data, num_boost_round=30, obj=objective
        )
        scores["XGBoost"] = trained["booster"].predict(xgb.DMatrix(test))
    for name, found in scores.items():
        value = lp.evaluate(fold.test.labels, found, qid=fold.test.qid, metrics="ndcg@10")
        print(f"{name} on two workers: test NDCG@10 {value['ndcg@10']:.4f}")


if __name__ == "__main__":  # Dask's workers import this file
    main()
