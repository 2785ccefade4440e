"""Declare a metric, train for it, and evaluate it."""

import lightgbm as lgb
import numpy as np

import lambdaplus as lp
from lambdaplus.data import digits_queries
from lambdaplus.metrics import Declaration

# The label is the price of an item if it would be bought, and 0 otherwise.  Only the first five
# ranks count; the weight of rank r is 6 - r.
revenue = Declaration(
    name="revenue",
    title="Share of the best possible revenue",
    source="this example",
    binary=False,
    discount=lambda metric, ranks: np.maximum(6.0 - ranks, 0.0),
    gain=lambda counts: counts.label,
    normalizer=lambda counts: counts.ideal(counts.label),
)


def priced(data, random):
    """Features and labels of items at random prices; the price is the last feature."""
    price = random.integers(1, 11, len(data.labels))
    return np.column_stack([data.features, price]), data.labels * price


# For comparison, AUC as the objective, which ignores prices.
values = {"revenue": [], "auc": []}
random = np.random.default_rng(0)
for fold in digits_queries():
    train = lgb.Dataset(*priced(fold.train, random), group=fold.train.group)
    features, labels = priced(fold.test, random)
    for name, metric in (("revenue", revenue), ("auc", "auc")):
        params = {"objective": lp.lambda_objective(metric), "verbose": -1, "num_threads": 1}
        scores = lgb.train(params, train, 30).predict(features)
        found = lp.evaluate(labels, scores, qid=fold.test.qid, metrics=[revenue])
        values[name].append(found[revenue])

for name, found in values.items():
    print(f"trained for {name:<7}  test revenue {np.mean(found):.4f} (mean of five folds)")
gain = np.subtract(values["revenue"], values["auc"])
print(f"difference {gain.mean():+.4f}, standard error {gain.std(ddof=1) / gain.size**0.5:.4f}")
