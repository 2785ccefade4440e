"""Train XGBoost on two workers of Ray Train: NDCG with queries, average precision without."""

import tempfile
from pathlib import Path

import pandas as pd
import ray.train
import xgboost as xgb
from ray.train.xgboost import RayTrainReportCallback, XGBoostTrainer

import lambdaplus as lp
from lambdaplus.data import digits_queries

WORKERS, ROUNDS = 2, 20


def write_whole_queries(rows: pd.DataFrame, folder: Path) -> None:
    """Write a file for each worker; Ray Data would split queries, so it does not read them."""
    worker_of_query = rows["qid"].rank(method="dense").astype(int) % WORKERS
    for worker in range(WORKERS):
        mine = rows[worker_of_query == worker].sort_values("qid", kind="stable")
        mine.to_parquet(folder / f"{worker}.parquet")


def train(config: dict) -> None:
    rank = ray.train.get_context().get_world_rank()
    rows = pd.read_parquet(f"{config['folder']}/{rank}.parquet")
    metric, queries = config["metric"], config["queries"]
    features, qid = rows.drop(columns=["qid", "label"]), rows["qid"] if queries else None
    data = xgb.DMatrix(features, rows["label"], qid=qid)
    checkpoint = ray.train.get_checkpoint()  # after an interruption
    model = RayTrainReportCallback.get_model(checkpoint) if checkpoint else None
    xgb.train(
        {"base_score": 0.0, "disable_default_eval_metric": 1, "nthread": 1},
        data,
        num_boost_round=ROUNDS - (model.num_boosted_rounds() if model else 0),
        obj=lp.lambda_objective(metric),
        custom_metric=lp.eval_metric(metric),
        evals=[(data, "train")],
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
        # Without queries, all rows are one ranking, and may be on any worker.
        for metric, queries in (("ndcg@10", True), ("map", False)):
            trainer = XGBoostTrainer(
                train,
                train_loop_config={"folder": folder, "metric": metric, "queries": queries},
                scaling_config=ray.train.ScalingConfig(num_workers=WORKERS),
                run_config=ray.train.RunConfig(
                    storage_path=f"{folder}/runs",
                    failure_config=ray.train.FailureConfig(max_failures=2),
                ),
            )
            checkpoint = trainer.fit().checkpoint
            booster = RayTrainReportCallback.get_model(checkpoint)
            scores = booster.predict(xgb.DMatrix(rows.drop(columns=["qid", "label"])))
            qid = rows["qid"] if queries else None
            value = lp.evaluate(rows["label"], scores, qid=qid, metrics=metric)[metric]
            print(f"training {metric} of the model from {WORKERS} workers: {value:.4f}")


if __name__ == "__main__":
    main()
