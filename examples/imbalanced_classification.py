"""Rare positives without queries: average precision as the objective, compared with log-loss.

One data set with few positives says little, so the difference is a mean over several, with its
standard error.  docs/research/results/accuracy.md has results on real data.
"""

import lightgbm as lgb
import numpy as np
from sklearn.datasets import make_classification

import lambdaplus as lp

SETS = 6
values = {"log-loss": [], "lambda_map": []}
for seed in range(SETS):
    X, y = make_classification(  # 2 % positives, a quarter of which have a wrong label
        10_000, 20, n_informative=8, n_redundant=4, weights=[0.985], flip_y=0.01, random_state=seed
    )
    train = lgb.Dataset(X[:4000], y[:4000])
    valid = train.create_valid(X[4000:6000], y[4000:6000])
    for name, objective in (("log-loss", "binary"), ("lambda_map", lp.lambda_map)):
        params = {"objective": objective, "metric": "None", "num_leaves": 15, "num_threads": 1}
        model = lgb.train(
            {**params, "verbose": -1}, train, 150, [valid], feval=lp.eval_metric("map"),
            callbacks=[lgb.early_stopping(20, verbose=False)],
        )  # fmt: skip
        found = lp.evaluate(y[6000:], model.predict(X[6000:]), metrics="map")
        values[name].append(found["map"])

for name, found in values.items():
    print(f"{name:<10}  test average precision {np.mean(found):.4f} (mean of {SETS} sets)")
gain = np.subtract(values["lambda_map"], values["log-loss"])
error = gain.std(ddof=1) / SETS**0.5
print(f"difference by set from {gain.min():+.4f} to {gain.max():+.4f}")
verdict = "no clear difference" if abs(gain.mean()) < 2 * error else "a clear difference"
print(f"in the mean {gain.mean():+.4f}, standard error {error:.4f}: {verdict}")
