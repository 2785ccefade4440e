"""Optimise weighted sums of metrics, and compare them with objectives for a single metric."""

from lambdaplus import LightGBMRanker, evaluate
from lambdaplus.data import digits_queries
from lambdaplus.evaluation import Table

METRICS = ("map", "mrr", "auc")
STOP = {"early_stopping_rounds": 30, "verbose": -1}  # parameters of LightGBM

fold = digits_queries()[0]
train, valid, test = fold.train, fold.valid, fold.test
rows = []
for objective in ("map", "mrr", "auc", "map + 0.5*mrr", "map + mrr + auc"):
    model = LightGBMRanker(objective=objective, num_leaves=15, n_jobs=1, random_state=0, **STOP)
    held_out = {"eval_set": [(valid.features, valid.labels)], "eval_qid": [valid.qid]}
    model.fit(train.features, train.labels, qid=train.qid, **held_out)
    scores = model.predict(test.features)
    found = evaluate(test.labels, scores, qid=test.qid, metrics=METRICS)
    rows.append((objective, model.best_iteration_, *(found[metric] for metric in METRICS)))
print(Table(("objective", "rounds", *METRICS), rows, ("Means over the test queries.",)))
