"""Clicks favour what was shown first: learn the positions' bias beside the ranking.

python examples/position_bias.py
"""

import lightgbm as lgb
import numpy as np

import lambdaplus as lp
from lambdaplus.data import digits_queries
from lambdaplus.objectives.position_bias import PositionBias

fold = digits_queries()[0]
train, test = fold.train, fold.test
random = np.random.default_rng(0)

# Ten documents of each query were shown by a poor ranker (one feature), in 20 sessions. A document
# at rank r is looked at with probability 1 / r, and then clicked if relevant, or by mistake.
rows, clicks, positions, sessions = [], [], [], []
for query in np.unique(train.qid):
    found = np.flatnonzero(train.qid == query)
    shown = found[np.argsort(train.features[found, 27])][:10]
    for _ in range(20):
        looked = random.random(10) < 1.0 / np.arange(1, 11)
        clicked = looked & (random.random(10) < np.where(train.labels[shown] > 0, 0.9, 0.1))
        if clicked.any():
            rows.append(shown)
            clicks.append(clicked)
            positions.append(np.arange(10))
            sessions.append(10)

data = lgb.Dataset(
    train.features[np.concatenate(rows)],
    np.concatenate(clicks).astype(int),
    group=sessions,
    position=np.concatenate(positions),
)
plain = lp.lambda_objective("ndcg@10")
corrected = PositionBias(plain)
for name, objective in (("ignoring the bias", plain), ("learning the bias", corrected)):
    params = {"objective": objective, "verbose": -1, "num_leaves": 15}
    scores = lgb.train(params, data, 60).predict(test.features)
    value = lp.evaluate(test.labels, scores, qid=test.qid, metrics="ndcg@10")["ndcg@10"]
    print(f"{name}: test NDCG@10 by true labels {value:.4f}")
print("bias of the positions:", " ".join(f"{b:.2f}" for b in corrected.bias_))
