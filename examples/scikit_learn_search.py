"""Search over estimators, objectives and parameters with scikit-learn's GridSearchCV.

scikit-learn's metadata routing passes the qid to ``fit`` and ``score``, and `query_folds` does not
split queries.
"""

import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from lambdaplus import LightGBMRanker, XGBoostRanker, query_folds
from lambdaplus.data import digits_queries

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

found = search.cv_results_
print("NDCG@10, mean of three folds of the training queries")
for params, mean in zip(found["params"], found["mean_test_score"], strict=True):
    values = [f"{name}={value}" for name, value in params.items() if name != "ranker"]
    print(f"{mean:.4f}  {type(params['ranker']).__name__:<14}  {', '.join(values)}")
score = search.score(test.features, test.labels, qid=test.qid)
print(f"The best one on the test queries: {score:.4f}")
