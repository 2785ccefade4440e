"""Size of Hessians and leaf values beside the frameworks' own, for parameters that depend on them.

min_sum_hessian_in_leaf, min_child_weight and the L2 regularisation are compared with sums of
Hessians, and the step of a leaf is the sum of gradients divided by that of Hessians.  This prints
the mean Hessian of a row in the first tree and in a later one, and the standard deviation of the
scores after as many rounds: of the frameworks' own ranking objectives, and of ours.

    python benchmarks/hessians.py SET [SET ...]

SET is a folder of LETOR folds, generated-clean or generated-noisy.
"""

from __future__ import annotations

import argparse

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from ranking_sets import folds_by_name, set_name
from tables import keep

from lambdaplus import lambda_objective
from lambdaplus.data import RankingData
from lambdaplus.evaluation import Table

OURS = ("ndcg", "map", "auc")
ROUNDS = 50


def of_lightgbm(train: RankingData, objective: object) -> list[float]:
    data = lgb.Dataset(train.features, train.labels, group=train.group)
    params = {"objective": objective, "verbose": -1, "num_leaves": 16, "seed": 0}
    model = lgb.train(params, data, ROUNDS)
    trees = [tree["tree_structure"] for tree in model.dump_model()["tree_info"]]
    sums = [trees[at]["internal_weight"] for at in (0, -1)]
    scores = model.predict(train.features, raw_score=True)
    return [*(total / len(train.labels) for total in sums), float(np.std(scores))]


def of_xgboost(train: RankingData, objective: object) -> list[float]:
    data = xgb.DMatrix(train.features, train.labels, group=train.group)
    named = isinstance(objective, str)
    params = {"objective": objective if named else "rank:ndcg", "base_score": 0.0, "eta": 0.1}
    model = xgb.train(params, data, ROUNDS, obj=None if named else objective)
    table = model.trees_to_dataframe()
    cover = table[table["Node"] == 0]["Cover"].to_numpy() / len(train.labels)
    scores = model.predict(data, output_margin=True)
    return [float(cover[0]), float(cover[-1]), float(np.std(scores))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+")
    chosen = parser.parse_args().sets
    columns = ("set", "objective", "Hessian, first tree", f"tree {ROUNDS}", "std of scores")
    by_framework = {
        "LightGBM": (of_lightgbm, ("lambdarank", "rank_xendcg")),
        "XGBoost": (of_xgboost, ("rank:ndcg", "rank:pairwise")),
    }
    tables = {}
    for framework, (measured, own) in by_framework.items():
        rows = []
        for name in chosen:
            train = folds_by_name(name)[0].train
            for objective in (*own, *map(lambda_objective, OURS)):
                title = objective if isinstance(objective, str) else objective.__name__
                rows.append((set_name(name), title, *measured(train, objective)))
        tables[framework] = Table(columns, rows)
    names = " ".join(map(set_name, chosen))
    keep("hessians", f"python benchmarks/hessians.py {names}", tables)


if __name__ == "__main__":
    main()
