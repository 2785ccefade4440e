"""Train XGBoost with rank:ndcg and with objectives of lambdaplus, and print test values."""

import xgboost as xgb

from lambdaplus import eval_metric, evaluate, lambda_objective
from lambdaplus.data import RankingData, digits_queries
from lambdaplus.evaluation import Table

METRICS = ("auc", "map", "mrr", "ndcg@10")


def matrix(part: RankingData) -> xgb.DMatrix:
    return xgb.DMatrix(part.features, part.labels, group=part.group)


fold = digits_queries()[0]
train, valid, test = matrix(fold.train), matrix(fold.valid), matrix(fold.test)
params = {
    "objective": "rank:ndcg",  # with obj=, only the name in the saved model
    "disable_default_eval_metric": 1,
    "base_score": 0.0,
    "max_depth": 4,
    "nthread": 1,
    "seed": 0,
}

rows = []
for objective in (None, lambda_objective("map"), lambda_objective("ndcg@10")):
    booster = xgb.train(
        params,
        train,
        num_boost_round=100,
        obj=objective,  # the line that is added
        evals=[(valid, "valid")],
        custom_metric=eval_metric("map"),
        maximize=True,
        early_stopping_rounds=20,
        verbose_eval=False,
    )
    best = booster.best_iteration + 1
    scores = booster.predict(test, output_margin=True, iteration_range=(0, best))
    found = evaluate(fold.test.labels, scores, qid=fold.test.qid, metrics=METRICS)
    name = params["objective"] if objective is None else objective.__name__
    rows.append((name, best, *(found[metric] for metric in METRICS)))
print(Table(("objective", "rounds", *METRICS), rows, ("Means over the test queries.",)))
