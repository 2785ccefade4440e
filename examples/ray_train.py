"""XGBoost on two workers of Ray Train: whole queries in a file for each, and average precision.

python examples/ray_train.py
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import ray.train
import xgboost as xgb
from ray.train.xgboost import RayTrainReportCallback, XGBoostTrainer

import lambdaplus as lp
from lambdaplus.datasets import digits_queries

WORKERS = 2


def write_whole_queries(rows: pd.DataFrame, folder: Path) -> None:
    """A file for each worker.  Ray Data would split the rows anywhere, so it does not read them."""
    worker_of_query = rows["qid"].rank(method="dense").astype(int) % WORKERS
    for worker in range(WORKERS):
        mine = rows[worker_of_query == worker].sort_values("qid", kind="stable")
        mine.to_parquet(folder / f"{worker}.parquet")


def train(config: dict) -> None:
    rank = ray.train.get_context().get_world_rank()
    rows = pd.read_parquet(f"{config['folder']}/{rank}.parquet")
    features = rows.drop(columns=["qid", "label"])
    for name, objective, qid in (
        ("ndcg@10", lp.lambda_objective("ndcg@10"), rows["qid"]),
        ("map", lp.lambda_objective("map", relevant=2), None),  # all rows are one ranking
    ):
        data = xgb.DMatrix(features, rows["label"], qid=qid)
        metric = lp.eval_metric(str(objective.metric))
        checkpoint = ray.train.get_checkpoint()  # of a run that was interrupted
        model = RayTrainReportCallback.get_model(checkpoint) if checkpoint and qid is None else None
        xgb.train(
            {"base_score": 0.0, "disable_default_eval_metric": 1, "nthread": 1},
            data,
            num_boost_round=20,
            obj=objective,
            custom_metric=metric,
            evals=[(data, name)],
            verbose_eval=False,
            xgb_model=model,
            callbacks=[RayTrainReportCallback(frequency=10)],
        )


def main() -> None:
    fold = digits_queries()[0]
    rows = pd.DataFrame(fold.train.features).add_prefix("f")
    rows = rows.assign(qid=fold.train.qid.astype(int), label=fold.train.labels)
    with tempfile.TemporaryDirectory() as folder:
        write_whole_queries(rows, Path(folder))
        trainer = XGBoostTrainer(
            train,
            train_loop_config={"folder": folder},
            scaling_config=ray.train.ScalingConfig(num_workers=WORKERS),
            run_config=ray.train.RunConfig(storage_path=f"{folder}/runs"),
        )
        result = trainer.fit()
        for name, value in (result.metrics or {}).items():
            if isinstance(value, float) and not name.startswith("time"):
                print(f"{name} over all workers: {np.round(value, 4)}")


if __name__ == "__main__":
    main()
