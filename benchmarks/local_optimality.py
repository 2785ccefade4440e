"""Is a trained ranker a local optimum of its metric?  A Monte-Carlo check on the training queries.

    python benchmarks/local_optimality.py [--folder DIR] [--rounds 200] [--json FILE]

Donmez, Svore & Burges 2009 asked it of LambdaRank's weights, and Welleck 2016 leaves it open for
LambdaMART and AUC.  Take random directions of unit length, go a step along each, and count how
often the metric of the training queries rises.  Where the metric has a slope, half the directions
rise; at a local optimum, none does.  If none of 299 rises, fewer than 1 % of all directions do, at
95 % confidence.

Directions in the space of scores move every document by itself; those in the space of leaf values
move the documents of a leaf together, which is all that the model can do.  Steps are relative to
the length of what is moved: the scores about their query's mean, or the leaf values.  "Rise" is the
most that any of these directions gains, in either space.  The rows "one round" are a control: a
model of one tree is far from any optimum.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray
from rich.progress import track
from scipy.stats import beta

from lambdaplus import lambda_objective
from lambdaplus.data import RankingData, digits_queries, read_folds
from lambdaplus.data.queries import Queries
from lambdaplus.evaluation.result_tables import Table
from lambdaplus.metrics import parse_metric
from lambdaplus.metrics.entries import Scored
from lambdaplus.metrics.values import values

OBJECTIVES = {
    **{name: lambda_objective(name) for name in ("auc", "mauc", "map", "mrr", "ndcg")},
    "mrr, textbook": lambda_objective("mrr", noise=None),
}
STEPS = (0.01, 0.03, 0.1, 0.3)
DIRECTIONS = 299  # 0.99 ** 299 < 0.05
Array = NDArray[Any]


def train(data: RankingData, objective: Any, rounds: int) -> tuple[Array, Array]:
    """Leaf of every row in every tree, (n, rounds), numbered over all trees; and leaf values."""
    params = {"num_leaves": 15, "learning_rate": 0.1, "verbose": -1, "num_threads": 1}
    rows = lightgbm.Dataset(data.features, data.labels, group=data.group)
    booster = lightgbm.train({**params, "objective": objective}, rows, rounds)
    leaf = booster.predict(data.features, pred_leaf=True, num_threads=1)
    leaf = leaf.reshape(len(data.labels), -1)
    sizes = leaf.max(axis=0) + 1
    value = [booster.get_leaf_output(t, i) for t, size in enumerate(sizes) for i in range(size)]
    return leaf + np.concatenate([[0], np.cumsum(sizes)[:-1]]), np.array(value)


def scores_of(leaf: Array, value: Array) -> Array:
    return np.asarray(value[leaf].sum(axis=1))


def within_queries(scores: Array, sizes: Array) -> Array:
    """Scores about their query's mean: what is the same for a whole query ranks nothing."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return np.asarray(scores - np.repeat(np.add.reduceat(scores, starts) / sizes, sizes))


def directions(space: str, leaf: Array, value: Array, sizes: Array, seed: int) -> Iterator[Array]:
    """What a step of 1 in each random direction adds to the scores, (n,) each."""
    rng = np.random.default_rng(seed)
    length = np.linalg.norm(within_queries(scores_of(leaf, value), sizes))
    for _ in range(DIRECTIONS):
        if space == "scores":
            move = rng.normal(size=len(leaf))
            yield length * move / np.linalg.norm(move)
        else:
            move = rng.normal(size=value.size)
            yield scores_of(leaf, np.linalg.norm(value) * move / np.linalg.norm(move))


def rising(name: str, data: RankingData, leaf: Array, value: Array) -> list[dict[str, Any]]:
    """Share of the directions along which the metric rises, for each space and step."""
    queries, metric = Queries(data.labels, group=data.group), parse_metric(name)
    start = scores_of(leaf, value)

    def mean(scores: Array) -> float:
        return float(np.nanmean(values(metric, Scored(queries, scores))))

    here, found = mean(start), []
    for space in ("scores", "leaf values"):
        change = np.array(
            [
                [mean(start + step * move) - here for step in STEPS]
                for move in directions(space, leaf, value, data.group, seed=0)
            ]
        )
        for step, moved in zip(STEPS, change.T, strict=True):
            rose = int((moved > 0).sum())
            found.append(
                {
                    "space": space, "step": step, "value": here, "rose": rose / DIRECTIONS,
                    "below": float(beta.ppf(0.95, rose + 1, DIRECTIONS - rose)),
                    "largest_rise": max(0.0, float(moved.max())),
                }
            )  # fmt: skip
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=pathlib.Path, help="of LETOR folds; the first is taken")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "1"
    folds = read_folds(arguments.folder) if arguments.folder else digits_queries()
    data, results, rows = folds[0].train, [], []
    for name, objective in track(OBJECTIVES.items(), "training and stepping"):
        for rounds in (1, arguments.rounds):
            found = rising(str(objective.metric), data, *train(data, objective, rounds))
            results += [{"objective": name, "rounds": rounds, **each} for each in found]
            of = f"{name}, {'one round' if rounds == 1 else f'{rounds} rounds'}"
            most = max(each["largest_rise"] for each in found)
            rows.append([of, found[0]["value"], most, *(f"{each['rose']:.0%}" for each in found)])
    heads = [f"{space} {step:g}" for space in ("scores", "leaves") for step in STEPS]
    foot = (
        f"share of {DIRECTIONS} random directions that raise the training metric, by relative step",
        "0% of them, and no rise, means fewer than 1 % of all directions, at 95 % confidence",
    )
    table = Table(["model", "metric", "rise", *heads], rows, foot)
    print(table.to_markdown())
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
