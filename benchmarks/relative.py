"""Add features relative to the query, and change nothing else.

    python benchmarks/relative.py SET [SET ...] [--draws 2] [--pilot SET ...]

SET is a folder of LETOR folds or `GENERATED`.  Every objective is trained on the same trees, of 4
and of 16 leaves, with and without ranks or z beside the features.  Leaves and round are chosen on
the validation queries of a fold by the metric in the table; and so is the kind of feature for the
rows "chosen", by the mean over objectives.  A draw is a seed of the trees.  The other kinds, and
those that replace the features, are compared on the sets --pilot, on validation queries alone.
Finished trainings are stored in the folder --kept, from which the same command continues.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
from differences import Difference, Values, difference
from ranking_sets import folds_by_name, set_name
from rich.progress import track
from tables import Tested, keep
from web_search import web_search_like

from lambdaplus.data import Fold, RankingData
from lambdaplus.evaluation import Table
from lambdaplus.study import Config, Method, Study, find_methods

GENERATED = "web-search-like-folds"
QUERIES = (60, 30, 200)  # of a generated fold, for training, validation and testing
WIDTH = 50  # features of a generated document
METRICS = {"map": "MAP", "ndcg@10": "NDCG@10"}
METHODS = (
    "lightgbm:lambdarank", "lightgbm:rank_xendcg", "lightgbm:lambda_map", "lightgbm:lambda_ndcg",
    "xgboost:rank:ndcg", "xgboost:rank:map", "xgboost:lambda_map", "xgboost:lambda_ndcg",
)  # fmt: skip
LEAVES = (4, 16)
SETTINGS = Config(rounds=300, patience=30)
TREES = {
    "lightgbm": {"feature_fraction": 0.5, "bagging_fraction": 0.7, "bagging_freq": 1},
    "xgboost": {"colsample_bytree": 0.5, "subsample": 0.7},
}
NAME_OF_LEAVES = {"lightgbm": "num_leaves", "xgboost": "max_leaves"}
RAW, CHOSEN = "raw", "chosen"
KINDS = (RAW, "rank", "z")
DISTANCES = {"best": np.max, "median": np.median}  # less the query's best, or its median
PILOT = (*KINDS, "rank,z", "best", "median", "rank alone", "z alone")
ALONE = " alone"
HEADLINE = {  # our objective for a metric, and one of the framework's own
    "map": (
        ("lightgbm:lambda_map", "lightgbm:lambdarank"),
        ("xgboost:lambda_map", "xgboost:rank:map"),
    ),
    "ndcg@10": (
        ("lightgbm:lambda_ndcg", "lightgbm:lambdarank"),
        ("xgboost:lambda_ndcg", "xgboost:rank:ndcg"),
    ),
}


class Trained(NamedTuple):
    """A training with its best round by one metric."""

    on: str
    kind: str
    method: str
    metric: str
    draw: int
    fold: str
    leaves: int
    validation: float
    round: int
    test: float


def folds_of_set(data: str) -> list[Fold]:
    return [generated(fold) for fold in range(5)] if data == GENERATED else folds_by_name(data)


def generated(fold: int) -> Fold:
    """Queries as in web search, by a model of relevance that is different in each fold."""
    data = web_search_like(sum(QUERIES), WIDTH, random_state=fold)
    ends = np.cumsum([0, *QUERIES])
    return Fold(f"{fold}", *(data.take_queries(np.arange(*ends[i : i + 2])) for i in range(3)))


def relative(X: Any, sizes: Any, kind: str) -> Any:
    """Ranks in the query, of mean 0, or distances from its mean in standard deviations."""
    queries = pd.DataFrame(X).groupby(np.repeat(np.arange(len(sizes)), sizes))
    if kind == "rank":
        return queries.rank(pct=True).to_numpy() - 0.5 - 0.5 / queries.transform("count").to_numpy()
    mean, deviation = (queries.transform(of).to_numpy() for of in ("mean", lambda x: x.std(ddof=0)))
    return np.divide(X - mean, deviation, where=deviation > 0, out=np.where(np.isnan(X), X, 0.0))


def with_features(fold: Fold, kind: str) -> Fold:
    def part(data: RankingData) -> RankingData:
        X, names = data.features, kind.removesuffix(ALONE).split(",")
        if kind in DISTANCES:
            queries = np.split(X, data.queries.boundaries[1:-1])
            X = np.hstack([X, np.concatenate([q - DISTANCES[kind](q, axis=0) for q in queries])])
        else:
            added = [relative(X, data.group, name) for name in names]
            X = np.hstack(added if kind.endswith(ALONE) else [X, *added])
        return replace(data, features=X, feature_names=())

    if kind == RAW:
        return fold
    return Fold(fold.name, *map(part, (fold.train, fold.valid, fold.test)))


def with_leaves(method: Method, leaves: int) -> Method:
    """As a search space with one value of each parameter, so that each metric chooses its round."""
    trees = {**TREES[method.family], NAME_OF_LEAVES[method.family]: leaves}
    return replace(method, grid={}, space={name: (value,) for name, value in trees.items()})


def trained(
    data: str, kinds: Iterable[str], leaves: Sequence[int], number: int, kept: Path
) -> list[Trained]:
    """All trainings on a set with one draw."""
    on, folds, found = set_name(data), folds_of_set(data), []
    every = [(kind, n) for kind in kinds for n in leaves]
    for kind, n in track(every, description=f"{on}, draw {number}"):
        methods = [with_leaves(method, n) for method in find_methods(",".join(METHODS))]
        study = Study(
            [with_features(fold, kind) for fold in folds], methods, list(METRICS),
            replace(SETTINGS, seeds=(number,), trials=1), folder=kept / on,
        )  # fmt: skip
        study.finish()
        tests = study.results.values.group_by("method", "fold", "metric").agg(
            pl.col("value").mean().alias("test")
        )
        rows = study.results.fits.join(tests, on=["method", "fold", "metric"])
        chosen = ("method", "metric", "fold", "validation", "round", "test")
        for method, metric, fold, validation, best, test in rows.select(chosen).iter_rows():
            key = (on, kind, method, metric, number, fold, n)
            found.append(Trained(*key, validation, best, test))
    return found


def best_leaves(trainings: Iterable[Trained]) -> list[Trained]:
    """Of the trainings that differ in their leaves only, the best on validation queries."""
    best: dict[tuple[object, ...], Trained] = {}
    for one in sorted(trainings, key=lambda one: one.leaves):
        key = one[:6]
        if key not in best or one.validation > best[key].validation:
            best[key] = one
    return list(best.values())


def chosen_kinds(trainings: Iterable[Trained]) -> dict[tuple[str, str, str], str]:
    """For each set, metric and fold, the kind with the highest mean validation value."""
    values: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for one in trainings:
        of = values.setdefault((one.on, one.metric, one.fold), {})
        of.setdefault(one.kind, []).append(one.validation)
    return {key: max(of, key=lambda kind: np.mean(of[kind])) for key, of in values.items()}


def by_fold(trainings: Sequence[Trained], metric: str, field: str) -> Values:
    """Values "validation" or "test" of "method, kind" and set: means over draws of each fold."""
    kinds = chosen_kinds(trainings)
    each: dict[tuple[str, str], dict[str, list[float]]] = {}
    for one in trainings:
        if one.metric == metric:
            names = [one.kind]
            if kinds[one.on, metric, one.fold] == one.kind:
                names.append(CHOSEN)
            for kind in names:
                of_fold = each.setdefault((f"{one.method}, {kind}", one.on), {})
                of_fold.setdefault(one.fold, []).append(getattr(one, field))
    values: Values = {}
    for (name, on), folds in each.items():
        means = np.array([np.mean(folds[fold]) for fold in sorted(folds)])
        values.setdefault(name, {})[on] = means
    return values


def gain_table(
    trainings: Sequence[Trained], metric: str, kinds: Iterable[str], field: str = "test"
) -> Table:
    """Each kind less raw features, by objective and set, and on the mean of the objectives."""
    values = by_fold(trainings, metric, field)
    for kind in (RAW, *kinds):
        every = [values[f"{method}, {kind}"] for method in METHODS]
        values[f"mean, {kind}"] = {on: np.mean([of[on] for of in every], axis=0) for on in every[0]}
    sets = list(values[f"mean, {RAW}"])
    rows = []
    for kind in kinds:
        for method in ("mean", *METHODS):
            pair = f"{method}, {kind}", f"{method}, {RAW}"
            cells = [difference(values, *pair, some) for some in (*([on] for on in sets), sets)]
            rows.append([kind, method, *(one.cell for one in cells)])
    foot = f"{field} {METRICS[metric]} less that on raw features; ±: standard errors over folds"
    return Table(["", "objective", *sets, "mean"], rows, [f"{foot}, of means over draws; t-tests"])


def means_table(trainings: Sequence[Trained], metric: str) -> Table:
    values = by_fold(trainings, metric, "test")
    sets = list(values[f"{METHODS[0]}, {RAW}"])
    names = [f"{method}, {kind}" for method in METHODS for kind in (*KINDS, CHOSEN)]
    rows = [
        [
            name,
            *(float(of[on].mean()) for on in sets),
            float(np.mean([of[on].mean() for on in sets])),
        ]
        for name, of in ((name, values[name]) for name in names)
    ]
    return Table(["", *sets, "mean"], rows, [f"test {METRICS[metric]}, mean over folds and draws"])


def changes(trainings: Sequence[Trained], kinds: Iterable[str]) -> list[dict[str, object]]:
    """The gains of each kind over all sets, on the mean of the objectives of a framework."""
    found: list[dict[str, object]] = []
    values = {metric: by_fold(trainings, metric, "test") for metric in METRICS}
    for kind, framework in itertools.product(kinds, TREES):
        mine = [method for method in METHODS if method.startswith(framework)]
        gains = {}
        for metric, of in values.items():
            every = {name: [of[f"{method}, {name}"] for method in mine] for name in (kind, RAW)}
            sets = list(every[kind][0])
            pair: Values = {
                name: {on: np.mean([value[on] for value in some], axis=0) for on in sets}
                for name, some in every.items()
            }
            gains[metric] = list(difference(pair, kind, RAW, sets))
        found.append({"kind": kind, "framework": framework, "gains": gains})
    return found


def headlines(trainings: Sequence[Trained]) -> list[dict[str, object]]:
    """Ours on relative features less the framework's own on raw ones: both changes together."""
    found: list[dict[str, object]] = []
    for metric, pairs in HEADLINE.items():
        values = by_fold(trainings, metric, "test")
        for (ours, own), kind in itertools.product(pairs, (RAW, *KINDS[1:], CHOSEN)):
            names, sets = (f"{ours}, {kind}", f"{own}, {RAW}"), list(values[f"{own}, {RAW}"])
            for on, where in [*((one, [one]) for one in sets), ("mean", sets)]:
                means = [float(np.mean([values[n][one].mean() for one in where])) for n in names]
                gain = difference(values, *names, where)
                found.append({"metric": metric, "ours": names[0], "own": names[1], "on": on,
                              "means": means, **gain._asdict()})  # fmt: skip
    return found


def headline_table(gains: Sequence[Mapping[str, Any]]) -> Table:
    columns = list(dict.fromkeys(gain["on"] for gain in gains))
    rows: dict[tuple[str, ...], list[Tested]] = {}
    for gain in gains:
        cells = rows.setdefault((METRICS[gain["metric"]], gain["ours"], gain["own"]), [])
        cells.append(Difference(gain["mean"], gain["error"], gain["p"]).cell)
    heads = ["", "ours", "own", *columns]
    return Table(heads, [[*key, *cells] for key, cells in rows.items()], ["±: over folds; t-tests"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--pilot", nargs="*", default=[], help="sets for the other kinds")
    parser.add_argument("--only-pilot", action="store_true", help="print its table and stop")
    parser.add_argument("--kept", type=Path, default=Path("build/relative"))
    parser.add_argument("--results", default="relative", help="name in benchmarks/results")
    given = parser.parse_args()
    tables = {}
    pilot = [one for data in given.pilot for one in trained(data, PILOT, LEAVES[:1], 0, given.kept)]
    if pilot:
        for metric, name in METRICS.items():
            table = gain_table(pilot, metric, PILOT[1:], "validation")
            tables[f"All kinds on validation queries, {LEAVES[0]} leaves: {name}"] = table
    if given.only_pilot:
        print(*(f"{title}\n{table}" for title, table in tables.items()), sep="\n")
        return
    every = [
        one
        for number in range(given.draws)
        for data in given.sets
        for one in trained(data, KINDS, LEAVES, number, given.kept)
    ]
    chosen = best_leaves(every)
    for metric, name in METRICS.items():
        tables[f"Beside the features, less raw features: {name}"] = gain_table(
            chosen, metric, (*KINDS[1:], CHOSEN)
        )
        tables[f"Means: {name}"] = means_table(chosen, metric)
    tables["Ours less the framework's own on raw features"] = headline_table(headlines(chosen))
    command = " ".join(["python benchmarks/relative.py", *sys.argv[1:]])
    keep(given.results, command, tables, changes=changes(chosen, (*KINDS[1:], CHOSEN)))


if __name__ == "__main__":
    main()
