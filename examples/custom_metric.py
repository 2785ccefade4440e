"""A metric of your own, declared in ten lines, evaluated and optimised at once.

python examples/custom_metric.py
"""

import lightgbm as lgb
import numpy as np

import lambdaplus as lp
from lambdaplus.datasets import digits_queries
from lambdaplus.metrics import Declaration

# A reader who scans five results and gives the one at rank r the attention 6 - r.
patience = Declaration(
    name="patience",
    title="Share of a reader's attention that relevant documents get",
    source="this example",
    binary=False,
    discount=lambda metric, ranks: np.maximum(6.0 - ranks, 0.0),
    gain=lambda facts: facts.label,
    normalizer=lambda facts: facts.ideal(facts.label),
)

fold = digits_queries()[0]
train = lgb.Dataset(fold.train.features, fold.train.labels, group=fold.train.group)
test = fold.test
value = {}
for metric in (patience, "auc"):
    params = {"objective": lp.lambda_objective(metric), "verbose": -1, "learning_rate": 0.1}
    scores = lgb.train(params, train, 60).predict(test.features)
    name = "patience" if metric is patience else metric
    value[name] = lp.evaluate(test.labels, scores, qid=test.qid, metrics=[patience])[patience]
    print(f"trained for {name:<8}  test patience {value[name]:.4f}")
