"""How often two different methods of equal value are called different.

    python benchmarks/false_alarms.py fit queries tables
    python benchmarks/false_alarms.py show

Many small data sets are sampled in the same way, with queries and without.  On five folds of each,
an objective of lambdaplus and log-loss are trained with six seeds, with equal trees.  There is one
comparison for each data set and number of folds and seeds, so the shares of p < .05 have intervals
over independent data sets.  Two nulls are made by subtraction from the difference:

- *new training data*: the mean difference over all data sets;
- *these data*: the difference of the methods trained on this very data set, on many new queries or
  rows.  It is a mean over all six seeds, in which the s tested seeds have the share a, and the
  others, k = 6 - s, the rest.  A difference of seeds c then leaves (1 - a) times the difference of
  two means of s and of k seeds, whose variance, (1 - a)^2 (1 / s + 1 / k), is 1 / s as it should
  be if 1 - a is the root of k / 6.
"""

from __future__ import annotations

import argparse
import base64
import itertools
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from kept_fits import keep_tables, read, run, study_parser, train
from scipy import stats

from lambdaplus import evaluate, lambda_objective, ranking_trees
from lambdaplus.compute.array_types import Floats
from lambdaplus.data import Fold, RankingData, cross_validation
from lambdaplus.evaluation import Evaluation, Table
from lambdaplus.evaluation.compare import effect_of
from lambdaplus.evaluation.effects import Effect, on_queries, over_folds
from lambdaplus.study.boosted_trainer import train_lightgbm

SETS, FOLDS, SEEDS, LEVEL = 200, 5, 6, 0.05
DOCUMENTS, LISTS, NEW_LISTS = 15, 100, 400
CELLS = (1, 3), (3, 1), (3, 3), (5, 1), (5, 2), (5, 3)  # folds, seeds
TREES = ranking_trees("lightgbm")
# Rows and columns are sampled as by `ranking_trees`; few rounds are enough for so few rows.
SAMPLED = {
    "num_leaves": 7, "learning_rate": 0.2, "bagging_fraction": TREES["subsample"],
    "bagging_freq": 1, "feature_fraction": 0.5, "min_data_in_leaf": 10,
}  # fmt: skip
OURS, OTHER = "lambdaplus", "log-loss"


class Column(NamedTuple):
    """What is compared: a metric, whether queries have weights, on how many sets, in which cells.

    A bootstrap over rows takes seconds, so it has fewer sets and cells.
    """

    name: str
    metric: str
    weighted: bool = False
    sets: int = SETS
    cells: tuple[tuple[int, int], ...] = CELLS


class Kind(NamedTuple):
    """A kind of data: whether it has queries, and what is compared; the first metric is trained."""

    queries: bool
    columns: tuple[Column, ...]

    @property
    def metrics(self) -> list[str]:
        return [*dict.fromkeys(column.metric for column in self.columns)]


KINDS = {
    "queries": Kind(True, (Column("MAP", "map"), Column("MAP, weighted queries", "map", True))),
    "tables": Kind(
        False,
        (
            Column("AUC", "auc"),
            Column("average precision", "map", sets=80, cells=((3, 1), (5, 1), (5, 2))),
        ),
    ),
}
Key = tuple[str, int, str, int, int]  # kind, data set, method, fold, seed


def sampled(kind: str, lists: int, random: np.random.Generator) -> RankingData:
    """Lists of documents, of which a table is the rows.

    Some lists have more positives than others, which log-loss has to fit and pairs do not.
    """
    n = lists * DOCUMENTS
    of_list = np.repeat(np.arange(lists), DOCUMENTS)
    X = random.normal(size=(n, 10))
    X[:, 9] = random.normal(size=lists)[of_list]
    signal = X[:, 0] + 0.7 * X[:, 1] * X[:, 2] + 0.5 * np.sin(2 * X[:, 3]) + X[:, 9]
    noisy = signal + 0.4 * (X[:, 4] > 0) * X[:, 5] + 1.5 * random.normal(size=n)
    labels = (noisy > 2.2).astype(np.float64)
    qid = of_list if KINDS[kind].queries else np.zeros(n, np.int64)
    return RankingData(X, labels, qid, grouped=KINDS[kind].queries)


@lru_cache(2)
def folds_of(kind: str, number: int) -> list[Fold]:
    """Five folds of a data set."""
    return cross_validation(sampled(kind, LISTS, np.random.default_rng(number)), FOLDS)


@lru_cache(2)
def new_rows(kind: str) -> RankingData:
    return sampled(kind, NEW_LISTS, np.random.default_rng(10**6))


def weights_of(data: RankingData) -> Floats:
    """Those of rows, by their query: about lognormal, more for queries that differ more."""
    by_list = np.exp(data.features[:, 9] + 0.5 * np.sin(10 * data.features[:, 9]))
    return np.asarray(by_list, np.float64)


def tasks(given: argparse.Namespace) -> Iterator[Key]:
    for number, kind in itertools.product(range(SETS), given.sets):  # set by set
        for fold, seed, method in itertools.product(range(FOLDS), range(SEEDS), (OURS, OTHER)):
            yield kind, number, method, fold, seed


def as_text(scores: Floats) -> str:
    return base64.b64encode(scores.astype("<f4").tobytes()).decode()


def judged(kind: str, data: RankingData, column: Column, scores: Floats) -> Evaluation:
    lists: dict[str, Any] = {"qid": data.qid} if KINDS[kind].queries else {}
    weight = weights_of(data) if column.weighted else None
    return evaluate(data.labels, scores, weight=weight, metrics=[column.metric], **lists)


def fit(key: Key) -> dict[str, Any]:
    """The scores of the test rows, and the values on new rows, by metric."""
    kind, number, method, fold, seed = key
    begin = time.process_time()
    metrics, data, new = KINDS[kind].metrics, folds_of(kind, number)[fold], new_rows(kind)
    target = lambda_objective(metrics[0]) if method == OURS else "binary"
    n = data.test.labels.size
    both = RankingData(
        np.concatenate([data.test.features, new.features]),
        np.concatenate([data.test.labels, new.labels]),
        np.concatenate([data.test.qid, new.qid + (LISTS if KINDS[kind].queries else 0)]),
        grouped=KINDS[kind].queries,
    )
    trained = train(
        train_lightgbm, target, SAMPLED, replace(data, test=both), metrics,
        rounds=60, patience=10, every=1, seed=100 * seed + fold,
    )  # fmt: skip
    scores = {metric: as_text(trained.scores[metric][:n]) for metric in metrics}
    values = {
        of.name: judged(kind, new, of, trained.scores[of.metric][n:])[of.metric]
        for of in KINDS[kind].columns
    }
    return {"key": key, "scores": scores, "new": values, "seconds": time.process_time() - begin}


# What was measured --------------------------------------------------------------------------------


def share_of_others(seeds: int) -> float:
    """1 - a, as the module says."""
    return math.sqrt((SEEDS - seeds) / SEEDS)


class Compared(NamedTuple):
    """A comparison by the test, and by that over queries alone, if any; the true difference."""

    effect: Effect
    plain: Effect | None
    truth: float


def compared(
    kind: str, column: Column, number: int, fits: Mapping[Key, dict[str, Any]]
) -> list[Compared]:
    """The comparisons of a data set, one for each number of folds and seeds."""
    metric, tests = column.metric, [fold.test for fold in folds_of(kind, number)]
    most = max(seeds for _, seeds in column.cells)

    def tested(method: str, fold: int, seed: int) -> Evaluation:
        text = fits[kind, number, method, fold, seed]["scores"][metric]
        scores = np.frombuffer(base64.b64decode(text), "<f4").astype(np.float64)
        return judged(kind, tests[fold], column, scores)

    def on_new(method: str) -> Floats:
        return np.array([
            [fits[kind, number, method, fold, seed]["new"][column.name] for seed in range(SEEDS)]
            for fold in range(FOLDS)
        ])  # fmt: skip

    runs = {
        method: [[tested(method, fold, seed) for seed in range(most)] for fold in range(FOLDS)]
        for method in (OURS, OTHER)
    }
    new, found = on_new(OURS) - on_new(OTHER), []
    for folds, seeds in column.cells:
        lists = [[run for fold in runs[m][:folds] for run in fold[:seeds]] for m in (OURS, OTHER)]
        plain = None
        if KINDS[kind].queries:
            means = [
                np.concatenate([
                    np.mean([run.per_query[metric] for run in fold[:seeds]], axis=0)
                    for fold in runs[method][:folds]
                ])
                for method in (OURS, OTHER)
            ]  # fmt: skip
            weights = None
            if column.weighted:
                weights = np.concatenate([fold[0].weights for fold in runs[OURS][:folds]])
            plain = over_folds([on_queries(*means, weights=weights)])
        others = share_of_others(seeds)
        of_tested, of_others = new[:folds, :seeds].mean(), new[:folds, seeds:].mean()
        truth = float((1.0 - others) * of_tested + others * of_others)
        found.append(Compared(effect_of(metric, *lists), plain, truth))
    return found


def alarms(effects: Sequence[Effect], truths: Floats) -> str:
    """The share of sets where the difference less the true one has p < .05, with its interval."""
    p = [e._replace(mean=e.mean - truth).p_value for e, truth in zip(effects, truths, strict=True)]
    found = stats.binomtest(int(np.sum(np.array(p) < LEVEL)), len(p))
    low, high = found.proportion_ci(method="wilson")
    return f"{100 * found.statistic:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def table_of(kind: str, column: Column, fits: Mapping[Key, dict[str, Any]]) -> Table:
    numbers = [
        number
        for number in range(SETS)
        if all((kind, number, method, fold, seed) in fits
               for method in (OURS, OTHER) for fold in range(FOLDS) for seed in range(SEEDS))
    ][: column.sets]  # fmt: skip
    by_set = [compared(kind, column, number, fits) for number in numbers]
    heads = ["folds", "seeds", "these data", "new training data", "mean difference"]
    if KINDS[kind].queries:
        heads[4:4] = ["plain test over queries"]
    rows = []
    for (folds, seeds), cell in zip(column.cells, zip(*by_set, strict=True), strict=True):
        effects = [one.effect for one in cell]
        truths = np.array([one.truth for one in cell])
        means = np.array([effect.mean for effect in effects])
        row = [folds, seeds, alarms(effects, truths)]
        row.append(alarms(effects, np.full(len(cell), means.mean())))
        if KINDS[kind].queries:
            row.append(alarms([one.plain for one in cell if one.plain], truths))
        rows.append([*row, f"{means.mean():+.4f}"])
    lists = f"{LISTS} queries" if KINDS[kind].queries else f"{LISTS * DOCUMENTS:,} rows"
    foot = [
        f"{column.name}: lambda_{KINDS[kind].metrics[0]} less log-loss on {len(numbers)} generated "
        f"data sets of {lists}, less the true difference: % of the sets with p < .05, and its "
        "95 % interval."
    ]
    return Table(heads, rows, foot)


def show(given: argparse.Namespace) -> None:
    fits = {tuple(one["key"]): one for one in read(given.kept)}
    tables = {
        f"{kind.capitalize()}: {column.name}": table_of(kind, column, fits)
        for kind in KINDS
        if any(key[0] == kind for key in fits)
        for column in KINDS[kind].columns
    }
    keep_tables("false-alarms", fits, tables)


def main() -> None:
    given = study_parser(__doc__ or "", "false-alarms").parse_args()
    run(given, fit, tasks, show)


if __name__ == "__main__":
    main()
