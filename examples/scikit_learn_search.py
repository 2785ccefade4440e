"""scikit-learn's GridSearchCV over both estimators, their objective being one of the parameters.

Queries reach ``fit`` and ``score`` by scikit-learn's metadata routing, and `query_folds` keeps them
whole.  Prints the points of the grid by their cross-validated NDCG@10, and the test value of the
best one.
"""

from __future__ import annotations

import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from lambdaplus import LightGBMRanker, XGBoostRanker, query_folds
from lambdaplus.data import digits_queries
from lambdaplus.evaluation import Table

sklearn.set_config(enable_metadata_routing=True)

fold = digits_queries()[0]
train, test = fold.train, fold.test
same = {"eval_metric": "ndcg@10", "n_estimators": 20, "n_jobs": 1, "random_state": 0}
grid = [
    {
        "ranker": [LightGBMRanker(num_leaves=15, verbose=-1, **same)],
        "ranker__objective": ["ndcg@10", "map", "ndcg@10 + 0.5*map"],
    },
    {
        "ranker": [XGBoostRanker(objective="map", **same)],
        "ranker__max_depth": [2, 4],
    },
]
search = GridSearchCV(
    Pipeline([("ranker", LightGBMRanker())]), grid, cv=query_folds(qid=train.qid, n_splits=3)
)
search.fit(train.features, train.labels, qid=train.qid)

results = search.cv_results_
rows = []
for params, mean, std in zip(
    results["params"], results["mean_test_score"], results["std_test_score"], strict=True
):
    chosen = {name.removeprefix("ranker__"): value for name, value in params.items()}
    kind = type(chosen.pop("ranker")).__name__
    rows.append((kind, *(f"{name}={value}" for name, value in chosen.items()), mean, std))
rows.sort(key=lambda row: -row[2])
score = search.score(test.features, test.labels, qid=test.qid)
print(
    Table(
        ("estimator", "parameter", "ndcg@10", "deviation"),
        [(kind, name, float(mean), float(std)) for kind, name, mean, std in rows],
        ("Three folds of the training queries.", f"The first one on the test queries: {score:.4f}"),
    )
)
