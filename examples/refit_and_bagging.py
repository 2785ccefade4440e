"""Refit a LightGBM model to new rows, and bag by query, with an objective of lambdaplus."""

import copy

import lightgbm as lgb
import numpy as np

from lambdaplus import evaluate, lambda_map
from lambdaplus.data import digits_queries


def refit(booster, objective, X, y, group, decay=0.9, learning_rate=0.1):
    """The old trees with new values of their leaves, as `Booster.refit` computes them."""
    refitted, leaves = copy.deepcopy(booster), booster.predict(X, pred_leaf=True)
    scores = np.zeros(len(y))
    for tree in range(booster.num_trees()):
        gradient, hessian = objective(y, scores, None, group)
        for leaf in np.unique(leaves[:, tree]):
            rows = leaves[:, tree] == leaf
            new = -learning_rate * gradient[rows].sum() / hessian[rows].sum()
            value = decay * booster.get_leaf_output(tree, leaf) + (1 - decay) * new
            refitted.set_leaf_output(tree, leaf, value)
            scores[rows] += value
    return refitted


def bagging(objective, sizes, random, share=0.8):
    """An objective that uses a share of the queries, chosen anew in each round."""

    def bagged(scores, data):
        gradient, hessian = objective(scores, data)
        kept = np.repeat(random.random(len(sizes)) < share, sizes)
        return gradient * kept, hessian * kept

    return bagged


if __name__ == "__main__":
    fold = digits_queries()[0]
    train, new, test = fold.train, fold.valid, fold.test
    data = lgb.Dataset(train.features, train.labels, group=train.group)
    objectives = {
        "trained": lambda_map,
        "bagged": bagging(lambda_map, train.group, np.random.default_rng(0)),
    }
    models = {
        name: lgb.train({"objective": objective, "verbose": -1, "num_threads": 1}, data, 30)
        for name, objective in objectives.items()
    }
    models["refitted"] = refit(models["trained"], lambda_map, new.features, new.labels, new.group)
    for name, model in models.items():
        found = evaluate(test.labels, model.predict(test.features), qid=test.qid, metrics="map")
        print(f"{name:<8}  test MAP {found['map']:.4f}")
