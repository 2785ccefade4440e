"""Train for rank correlation by date, Gini with exposures, and the C-index of survival times.

Returns, claims and times are generated.  Each objective is compared with the loss that is usual.
"""

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from scipy.stats import rankdata, spearmanr

from lambdaplus import eval_metric, evaluate, lambda_objective, query_folds

objective = lambda_objective("spearman")

# Returns: each date is a query.
random = np.random.default_rng(0)
dates, names = 60, 100
X = random.normal(size=(dates * names, 8))
returns = 0.3 * X[:, 0] + random.standard_t(3, size=dates * names)
ranks = rankdata(returns.reshape(dates, names), axis=1).ravel() / names
half, group = dates * names // 2, [names] * (dates // 2)

params = {"metric": "None", "num_leaves": 8, "learning_rate": 0.05, "verbose": -1}
for name, target, loss in (("squared error", ranks, "l2"), ("spearman", returns, objective)):
    train = lgb.Dataset(X[:half], target[:half], group=group)
    valid = train.create_valid(X[half:], target[half:], group=group)
    model = lgb.train(
        {**params, "objective": loss},
        train,
        num_boost_round=200,
        valid_sets=[valid],
        feval=eval_metric("spearman"),
        callbacks=[lgb.early_stopping(30, verbose=False)],
    )
    scores = model.predict(X[half:])
    found = evaluate(returns[half:], scores, group=group, metrics="spearman")
    print(f"{name:<14} rank correlation {found['spearman']:.4f} in {model.best_iteration} rounds")

first = slice(half, half + names)  # the first date of the second half
of_scipy = spearmanr(returns[first], scores[:names])[0]
print("on one date, as SciPy:", np.isclose(found.per_query["spearman"][0], of_scipy))

# By date: each fold is tested on later dates, and gap=5 leaves out the days before.
day = np.repeat(np.arange(dates), names)
for train, test in query_folds(qid=day, order=day, n_splits=3, gap=5):
    data = lgb.Dataset(X[train], returns[train], group=[names] * (train.size // names))
    scores = lgb.train({**params, "objective": objective}, data, 30).predict(X[test])
    found = evaluate(returns[test], scores, qid=day[test], metrics="spearman")
    of_day = found.per_query["spearman"]
    print(
        f"to day {day[train].max()}, from day {day[test].min()}: mean {of_day.mean():.3f}, "
        f"by its standard deviation {of_day.mean() / of_day.std(ddof=1):.1f}"
    )

# Claims: all rows are one ranking, labels are claims by exposure, and exposures are weights.
exposure = random.uniform(0.1, 1, size=len(X))
claims = random.poisson(exposure * np.exp(0.5 * X[:, 1] - 1))
rate = claims / exposure
train = lgb.Dataset(X[:half], rate[:half], weight=exposure[:half])
for loss in ("poisson", lambda_objective("gini")):
    scores = lgb.train({**params, "objective": loss}, train, 60).predict(X[half:])
    found = evaluate(rate[half:], scores, weight=exposure[half:], metrics="gini")
    print(f"{loss}: Gini {found['gini']:.4f}")

# Survival times: negative if censored.
X = random.normal(size=(1200, 5))
time, end = random.exponential(np.exp(-X[:, 0])), random.exponential(2.0, size=1200)
labels = np.where(time <= end, time, -end)  # negative: censored
train, valid = (xgb.DMatrix(X[rows], labels[rows]) for rows in (slice(600), slice(600, None)))
params = {"max_depth": 3, "eta": 0.02, "disable_default_eval_metric": 1}
losses = {
    "survival:cox": {"params": {**params, "objective": "survival:cox"}},
    "cindex": {"params": params, "obj": lambda_objective("cindex")},
}
for name, loss in losses.items():
    model = xgb.train(
        **loss,
        dtrain=train,
        num_boost_round=300,
        custom_metric=eval_metric("cindex"),
        evals=[(valid, "valid")],
        early_stopping_rounds=20,
        verbose_eval=False,
    )
    print(f"{name:<13} C-index {model.best_score:.4f} in {model.best_iteration + 1} rounds")
