"""Train on simulated clicks, with and without a correction for position bias."""

import lightgbm as lgb
import numpy as np

import lambdaplus as lp
from lambdaplus.data import digits_queries
from lambdaplus.objectives.position_bias import PositionBias

fold = digits_queries()[0]
train, test = fold.train, fold.test
random = np.random.default_rng(0)

# In 20 sessions of each query, ten documents were shown in the order of one feature.  A document at
# rank r is seen with probability 1 / r, and then clicked with probability .9 if relevant, else .1.
rows, clicks = [], []
for query in np.unique(train.qid):
    found = np.flatnonzero(train.qid == query)
    shown = found[np.argsort(train.features[found, 27])][:10]
    for _ in range(20):
        looked = random.random(10) < 1.0 / np.arange(1, 11)
        clicked = looked & (random.random(10) < np.where(train.labels[shown] > 0, 0.9, 0.1))
        if clicked.any():
            rows.append(shown)
            clicks.append(clicked)

data = lgb.Dataset(
    train.features[np.concatenate(rows)],
    np.concatenate(clicks).astype(int),
    group=[10] * len(rows),
    position=np.tile(np.arange(10), len(rows)),
)
plain = lp.lambda_objective("ndcg@10")
corrected = PositionBias(plain)
for name, objective in (("ignoring the bias", plain), ("learning the bias", corrected)):
    params = {"objective": objective, "verbose": -1, "num_leaves": 15}
    scores = lgb.train(params, data, 60).predict(test.features)
    value = lp.evaluate(test.labels, scores, qid=test.qid, metrics="ndcg@10")["ndcg@10"]
    print(f"{name}: test NDCG@10 by true labels {value:.4f}")
print("bias of the positions:", " ".join(f"{b:.2f}" for b in corrected.bias_))
