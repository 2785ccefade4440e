"""Train XGBoost on two tasks of Spark in barrier mode, each with whole queries."""

import os
import sys
from collections.abc import Iterator

import pandas as pd
import xgboost as xgb
from pyspark.sql import SparkSession
from xgboost.collective import CommunicatorContext
from xgboost.tracker import RabitTracker

import lambdaplus as lp
from lambdaplus.data import digits_queries

TASKS = 2
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # on a cluster, one that has lambdaplus


def main() -> None:
    fold = digits_queries()[0]
    rows = pd.DataFrame(fold.train.features).add_prefix("f")
    rows = rows.assign(qid=fold.train.qid.astype(int), label=fold.train.labels)
    spark = SparkSession.builder.master(f"local[{TASKS}]").config("spark.ui.enabled", False)
    session = spark.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    slots = session.sparkContext.defaultParallelism
    if slots < TASKS:  # the tasks would wait for each other forever
        raise SystemExit(f"{TASKS} tasks have to run at the same time, and there are {slots} slots")

    host = session.conf.get("spark.driver.bindAddress")  # on a cluster, the driver's address
    tracker = RabitTracker(n_workers=TASKS, host_ip=host, sortby="task")
    tracker.start()
    connection = tracker.worker_args()
    columns = list(rows.columns)

    def train(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        from pyspark import BarrierTaskContext

        rank = BarrierTaskContext.get().partitionId()
        # Every task takes part, even without rows.
        mine = pd.concat([pd.DataFrame(columns=columns, dtype=float), *batches])
        features = mine.drop(columns=["qid", "label"])
        with CommunicatorContext(**connection, dmlc_task_id=str(rank)):
            data = xgb.DMatrix(features, mine["label"], qid=mine["qid"].astype(int))
            log: dict = {}
            booster = xgb.train(
                {"base_score": 0.0, "disable_default_eval_metric": 1, "nthread": 1},
                data,
                num_boost_round=20,
                obj=lp.lambda_objective("ndcg@10"),
                custom_metric=lp.eval_metric("ndcg@10"),
                evals=[(data, "train")],
                evals_result=log,
                verbose_eval=False,
            )
        if rank == 0:  # all tasks have the same model
            value = log["train"]["ndcg@10"][-1]
            yield pd.DataFrame({"model": [bytes(booster.save_raw("json"))], "value": [value]})

    frame = session.createDataFrame(rows)  # on a cluster, session.read.parquet(...)
    whole = frame.repartition(TASKS, "qid").sortWithinPartitions("qid")
    (made,) = whole.mapInPandas(train, "model binary, value double", barrier=True).collect()
    booster = xgb.Booster(model_file=bytearray(made["model"]))
    scores = booster.predict(xgb.DMatrix(rows.drop(columns=["qid", "label"])))
    value = lp.evaluate(rows["label"], scores, qid=rows["qid"], metrics="ndcg@10")["ndcg@10"]
    print(f"training NDCG@10 reported by the tasks {made['value']:.4f}, of the model {value:.4f}")
    session.stop()


if __name__ == "__main__":
    main()
