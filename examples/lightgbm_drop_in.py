"""Train LightGBM with lambdarank and with objectives of lambdaplus, and print test values."""

import lightgbm as lgb

from lambdaplus import eval_metric, evaluate, lambda_objective
from lambdaplus.data import digits_queries
from lambdaplus.evaluation import Table

METRICS = ("auc", "map", "mrr", "ndcg@10")

fold = digits_queries()[0]
train = lgb.Dataset(fold.train.features, fold.train.labels, group=fold.train.group)
valid = train.create_valid(fold.valid.features, fold.valid.labels, group=fold.valid.group)
params = {"num_leaves": 15, "metric": "None", "num_threads": 1, "verbosity": -1, "seed": 0}

rows = []
for objective in ("lambdarank", lambda_objective("map"), lambda_objective("ndcg@10")):
    booster = lgb.train(
        {**params, "objective": objective},  # the line that changes
        train,
        num_boost_round=100,
        valid_sets=[valid],
        feval=eval_metric("map"),
        callbacks=[lgb.early_stopping(20, verbose=False)],
    )
    scores = booster.predict(fold.test.features)
    found = evaluate(fold.test.labels, scores, qid=fold.test.qid, metrics=METRICS)
    name = objective if isinstance(objective, str) else objective.__name__
    rows.append((name, booster.best_iteration, *(found[metric] for metric in METRICS)))
print(Table(("objective", "rounds", *METRICS), rows, ("Means over the test queries.",)))
