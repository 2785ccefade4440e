"""What each change of a training gives, beside trees and objectives.

    python benchmarks/what_helps.py fit LETOR_FOLDS [...] --seeds 0,1,2,3,4
    python benchmarks/what_helps.py fit flights:FOLDER
    python benchmarks/what_helps.py show

SET is named as in `list_sets`; the seed is the number of the fold.  All trainings have the trees of
`ranking_trees` and the objective of lambdaplus for the metric.  `show` also reads the trainings of
`out_of_the_box` and `equal_search`, for the rows of trees, objectives and a search.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import equal_search
import list_sets
import numpy as np
import out_of_the_box as box
from kept_fits import (
    keep_tables,
    mean_over_sets,
    per_query,
    read,
    run,
    study_parser,
    train,
    train_and_test,
    values_in,
)
from scipy.stats import rankdata
from tables import Tested

from lambdaplus import lambda_objective
from lambdaplus.compute.array_types import Floats
from lambdaplus.data import Fold, RankingData
from lambdaplus.evaluation import Table

METRICS = ("map", "ndcg@10")
MODELS = 5
Key = tuple[str, str, str, str, int]  # set, framework, metric, change, seed


def _beside_features(added: Callable[[Floats], Floats]) -> Callable[[Fold, int], Fold]:
    """A change that adds columns, a function of the features of each query."""

    def of(part: RankingData) -> RankingData:
        queries = np.split(np.asarray(part.features), part.queries.boundaries[1:-1])
        return replace(
            part, features=np.hstack([part.features, np.concatenate([*map(added, queries)])])
        )

    return lambda fold, _: Fold(fold.name, of(fold.train), of(fold.valid), of(fold.test))


def _z(features: Floats) -> Floats:
    spread = features.std(axis=0)
    return (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def _half(fold: Fold, seed: int) -> Fold:
    order = np.random.default_rng(seed).permutation(fold.train.n_queries)
    return replace(fold, train=fold.train.take_queries(np.sort(order[: order.size // 2])))


CHANGES: dict[str, Callable[[Fold, int], Fold]] = {
    "none": lambda fold, _: fold,
    "half": _half,
    "ranks": _beside_features(lambda features: rankdata(features, axis=0) / len(features)),
    "z": _beside_features(_z),
}
SEEDS = f"mean of the scores of {MODELS} seeds"


def tasks(given: argparse.Namespace) -> Iterator[Key]:
    for seed, on, framework, metric in product(given.seeds, given.sets, box.TREES, METRICS):
        for change in (*CHANGES, SEEDS):
            yield on, framework, metric, change, seed


fold_of = lru_cache(2)(list_sets.fold_of)


def fit(key: Key) -> dict[str, Any]:
    on, framework, metric, change, seed = key
    trees = box.TREES[framework]
    rounds, patience = box.rounds_of(trees)
    given = (
        box.TRAINERS[framework], lambda_objective(box.OURS_FOR[metric]),
        box.trees_of(trees)[framework],
    )  # fmt: skip
    settings = {"rounds": rounds, "patience": patience, "every": 5}
    fold = fold_of(on, seed)
    if change != SEEDS:
        changed = CHANGES[change](fold, seed)
        return {"key": key, **train_and_test(*given, changed, [metric], **settings, seed=seed)}
    start = time.process_time()
    scores = [
        train(*given, fold, [metric], **settings, seed=100 * seed + one).scores[metric]
        for one in range(MODELS)
    ]
    tested = per_query(fold.test, metric, np.mean(scores, axis=0))
    return {"key": key, "test": {metric: tested}, "seconds": time.process_time() - start}


# What was measured --------------------------------------------------------------------------------


SEARCH = f"a search of {equal_search.DRAWS} trials"
Pair = tuple[box.Contender, box.Contender]  # the middle of two keys of trainings


def pairs(framework: str, metric: str) -> dict[str, Pair]:
    """The trainings that each row compares."""
    trees, own = box.TREES[framework], box.OWN[framework]
    ours = trees, box.OURS_FOR[metric]
    same = metric, "none"
    return {
        "ranking_trees, not default trees": ((trees, own), ("box", own)),
        "then: the objective of lambdaplus, not lambdarank, rank:ndcg": (ours, (trees, own)),
        f"then: {SEARCH}": ((metric, SEARCH), ours),
        f"then: {SEEDS}": ((metric, SEEDS), same),
        "then: ranks in the query beside the features": ((metric, "ranks"), same),
        "then: z-scores in the query beside the features": ((metric, "z"), same),
        "all training queries, not half of them": (same, (metric, "half")),
    }


def gain(fits: dict[Any, Any], on: str, framework: str, pair: Pair, metric: str) -> Floats:
    """The differences of all test queries, of the folds that have both trainings."""
    found = []
    for seed in range(box.SEEDS):
        both = [fits.get((on, framework, *one, seed)) for one in pair]
        if all(both):
            values = [values_in(one["test"][metric]) for one in both if one]
            found.append(values[0] - values[1])
    return np.concatenate(found)


def show(given: argparse.Namespace) -> None:
    kept = {tuple(one["key"]): one for one in read(given.kept)}
    plain = {tuple(one["key"]): one for one in read(given.plain)}
    searches = {tuple(one["key"]): one for one in read(given.searches)}
    sets = list(dict.fromkeys(key[0] for key in kept))
    columns = [(metric, framework) for metric in METRICS for framework in box.TREES]
    searched = {
        (on, framework, metric, SEARCH, seed): best
        for on, (metric, framework), seed in product(sets, columns, range(box.SEEDS))
        if (best := equal_search.best_draw(
            searches, on, framework, equal_search.OURS_FOR[metric], metric, seed
        ))
    }  # fmt: skip
    fits = {**plain, **kept, **searched}

    def cell(title: str, metric: str, framework: str) -> Tested:
        pair = pairs(framework, metric)[title]
        each = [gain(fits, on, framework, pair, metric) for on in sets]
        mean, error, p = mean_over_sets(each)
        return Tested(f"{mean:+.4f} ± {error:.4f}", p)

    rows = [
        [title, *(cell(title, metric, framework) for metric, framework in columns)]
        for title in pairs(framework="lightgbm", metric="map")
    ]
    heads = ["", *(f"{m.upper()}, {box.FRAMEWORKS[framework]}" for m, framework in columns)]
    foot = (
        "gains in test values, the mean over sets; then: beside ranking_trees and the objective of "
        "lambdaplus; ±: standard errors over test queries"
    )
    keep_tables("what-helps", kept, {"What helps": Table(heads, rows, [foot])})


def main() -> None:
    parser = study_parser(__doc__, "what-helps")
    parser.add_argument("--plain", type=Path, default=Path("build/out-of-the-box"))
    parser.add_argument("--searches", type=Path, default=Path("build/equal-search"))
    run(parser.parse_args(), fit, tasks, show)


if __name__ == "__main__":
    main()
