"""Rank candidates for users by date: candidates, purchases beyond them, and item numbers.

The purchases are generated; put your log in their place.  Each user and week is one query: the
items that similar users bought and those that sold best last week.  Two weeks are for training, one
is for early stopping, and the last one for the test.
"""

import lightgbm as lgb
import numpy as np
import pandas as pd

from lambdaplus import eval_metric, evaluate, lambda_objective, ranking_trees

random = np.random.default_rng(0)
weeks, users, items = 10, 600, 200
taste, style = random.normal(size=(users, 3)), random.normal(size=(3, items))
appeal = taste @ style + random.normal(size=items)
price, launch = random.gamma(2.0, 20.0, items), random.integers(-20, weeks - 1, items)
bought = np.zeros((weeks, users, items), dtype=int)


def first(values, k):
    return (-values).argsort(axis=1).argsort(axis=1) < k


for week in range(weeks):
    wish = np.where(launch > week, -np.inf, appeal + random.gumbel(size=appeal.shape))
    bought[week] = first(wish, random.poisson(2, (users, 1)))


def candidates(week):
    past, last = bought[:week].sum(axis=0), bought[week - 1].sum(axis=0)
    similar = past @ (past.T @ past / (1 + past.sum(axis=0)))
    user, item = np.nonzero(first(similar, 20) | first(last[None], 20))
    return pd.DataFrame(
        {
            "qid": week * users + user,
            "user": user,
            "item": item,
            "similar": similar[user, item],
            "sold": last[item],
            "sold_before": past.sum(axis=0)[item],
            "owned": past[user, item],
            "orders": past.sum(axis=1)[user],
            "weeks_on_sale": week - launch[item],
            "price": price[item],
            "label": bought[week, user, item],
        }
    )


train, valid, test = pd.concat([candidates(6), candidates(7)]), candidates(8), candidates(9)
features = list(train.columns[3:-1])  # without qid, user and item
none = 1 - test.groupby("qid")["label"].max().mean()
print(f"{len(test)} test rows, {none:.0%} of the users bought none of them")
print(f"of all purchases, {test['label'].sum() / bought[9].sum():.0%} are candidates")

# Purchases beyond the candidates count as missed: they are below all candidates.
user, item = np.nonzero(bought[9])
purchases = pd.DataFrame({"user": user, "item": item, "bought": 1})
judged = test.reset_index().merge(purchases, how="outer", on=["user", "item"])


def dataset(part, columns, reference=None):
    sizes = part.groupby("qid", sort=False).size().to_numpy()
    return lgb.Dataset(part[columns], part["label"], group=sizes, reference=reference)


def by_user(objective, metric, columns=features):
    data = dataset(train, columns)
    held_out, values, rounds = dataset(valid, columns, data), [], []
    for seed in range(3):
        params = {"objective": objective, "metric": "None", "seed": seed, "verbose": -1}
        model = lgb.train(
            {**params, **ranking_trees("lightgbm")},
            data,
            num_boost_round=200,
            valid_sets=[held_out],
            feval=eval_metric(metric),
            callbacks=[lgb.early_stopping(50, verbose=False)],
        )
        scores = pd.Series(model.predict(test[columns]))
        found = judged["index"].map(scores).fillna(scores.min() - 1)
        result = evaluate(judged["bought"].fillna(0), found, qid=judged["user"], metrics=metric)
        values.append(result.to_pandas()[metric])
        rounds.append(model.best_iteration)
    return pd.concat(values, axis=1).mean(axis=1), np.mean(rounds)


for metric in ("recall@20", "map@12"):
    base = None
    for objective in ("binary", "lambdarank", lambda_objective(metric)):
        values, rounds = by_user(objective, metric)
        base = values if base is None else base
        gain, name = values - base, objective if isinstance(objective, str) else metric
        print(f"{metric:<9} {name:<10} {values.mean():.4f}", end=" ")
        print(f"({gain.mean():+.4f} ± {gain.sem():.4f}) in {rounds:.0f} rounds")

# A number is no order; as a category, it lets the trees remember single items.
for part in (train, valid, test):
    part["item"] = pd.Categorical(part["item"], range(items))
values, _ = by_user("binary", "recall@20", [*features, "item"])
print(f"recall@20 of log-loss with item numbers: {values.mean():.4f}")
