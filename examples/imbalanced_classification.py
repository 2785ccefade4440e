"""Rare positives, no queries: optimise average precision itself instead of log-loss.

python examples/imbalanced_classification.py
"""

import lightgbm as lgb
from sklearn.datasets import make_classification
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split

import lambdaplus as lp

X, y = make_classification(
    20_000, 20, n_informative=6, n_redundant=4, weights=[0.975], class_sep=0.7, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
print(f"{y_train.sum()} of {y_train.size} training rows are positive")

for objective in ("binary", lp.lambda_map):
    params = {"objective": objective, "verbose": -1}
    model = lgb.train(params, lgb.Dataset(X_train, y_train), 50)
    ap = average_precision_score(y_test, model.predict(X_test))
    name = "log-loss" if objective == "binary" else "lambda_map"
    print(f"{name:<11} test average precision {ap:.4f}")
