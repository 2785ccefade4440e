"""How often a method is significantly better than itself, and how often a better one is found.

    python benchmarks/false_alarms.py fit queries tables
    python benchmarks/false_alarms.py show

Generated data sets, with queries and without, in five folds.  Objectives are trained with six seeds
on each fold.  Seeds of the same objective are compared with each other by `compare_runs`, alone and
by three, on one, three and five folds; other objectives with the first seeds, for the power.  The
plain test is the one over the queries, or rows, of all folds, of the mean over seeds.
"""

from __future__ import annotations

import argparse
import base64
import itertools
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from kept_fits import keep_tables, read, run, study_parser, train
from scipy import stats

from lambdaplus import compare_runs, evaluate, lambda_objective, ranking_trees
from lambdaplus.data import Fold, RankingData, cross_validation
from lambdaplus.evaluation import Evaluation, Table
from lambdaplus.evaluation.significance import row_statistics
from lambdaplus.metrics import parse_metric
from lambdaplus.study.trainers import train_lightgbm

SETS, FOLDS, SEEDS, LEVEL = 40, 5, 6, 0.05
DOCUMENTS = 25
TREES = ranking_trees("lightgbm")
OURS = "lambdaplus"


class Kind(NamedTuple):
    """A kind of data, and its methods by name: their objectives and parameters."""

    metric: str
    methods: dict[str, tuple[Any, dict[str, Any]]]


SAMPLED = {
    "num_leaves": TREES["num_leaves"], "learning_rate": 0.1, "bagging_fraction": TREES["subsample"],
    "bagging_freq": 1, "feature_fraction": 0.5,
}  # fmt: skip
DEFAULT = {"learning_rate": 0.1}
KINDS = {
    "queries": Kind(
        "map",
        {
            OURS: (lambda_objective("map"), SAMPLED),
            "lambdarank, default trees": ("lambdarank", DEFAULT),
            "log-loss": ("binary", SAMPLED),
        },
    ),
    "tables": Kind(
        "auc",
        {
            OURS: (lambda_objective("auc"), SAMPLED),
            "log-loss, default trees": ("binary", DEFAULT),
            "log-loss": ("binary", SAMPLED),
        },
    ),
}
Key = tuple[str, int, str, int, int]  # kind, data set, method, fold, seed


@lru_cache(4)
def folds_of(kind: str, number: int) -> list[Fold]:
    """Five folds of 100 or 200 queries, or 2,500 or 5,000 rows, by the number of the set."""
    random = np.random.default_rng(number)
    lists = (100, 200)[number % 2]
    n = lists * DOCUMENTS
    X = random.normal(size=(n, 10))
    signal = X[:, 0] + 0.7 * X[:, 1] * X[:, 2] + 0.5 * np.sin(2 * X[:, 3])
    noisy = signal + 0.4 * (X[:, 4] > 0) * X[:, 5] + 1.5 * random.normal(size=n)
    qid = np.repeat(np.arange(lists), DOCUMENTS) if kind == "queries" else np.zeros(n, np.int64)
    labels = (noisy > 2.5).astype(np.float64)
    return cross_validation(RankingData(X, labels, qid, grouped=kind == "queries"), FOLDS)


def tasks(given: argparse.Namespace) -> Iterator[Key]:
    for own in (True, False):  # false alarms first
        for kind, number, fold in itertools.product(given.sets, range(SETS), range(FOLDS)):
            for method in KINDS[kind].methods:
                seeds = SEEDS if method == OURS else SEEDS // 2
                if own == (method == OURS):
                    yield from ((kind, number, method, fold, seed) for seed in range(seeds))


def fit(key: Key) -> dict[str, Any]:
    kind, number, method, fold, seed = key
    metric, methods = KINDS[kind]
    target, params = methods[method]
    begin = time.process_time()
    trained = train(
        train_lightgbm, target, params, folds_of(kind, number)[fold], [metric],
        rounds=100, patience=20, every=1, seed=100 * seed + fold,
    )  # fmt: skip
    scores = base64.b64encode(trained.scores[metric].astype("<f4").tobytes()).decode()
    return {"key": key, "scores": scores, "seconds": time.process_time() - begin}


# What was measured --------------------------------------------------------------------------------


class Trainings:
    """The evaluations of the trainings of a data set."""

    def __init__(self, kind: str, number: int, scores: dict[Key, str]) -> None:
        self.kind, self.number, self.scores = kind, number, scores
        self._made: dict[tuple[str, int, int], Evaluation] = {}

    def of(self, method: str, folds: int, seeds: Sequence[int]) -> list[list[Evaluation]]:
        """Fold by fold, those of these seeds."""
        return [[self._one(method, fold, seed) for seed in seeds] for fold in range(folds)]

    def _one(self, method: str, fold: int, seed: int) -> Evaluation:
        key = method, fold, seed
        if key not in self._made:
            test = folds_of(self.kind, self.number)[fold].test
            text = self.scores[self.kind, self.number, *key]
            scores = np.frombuffer(base64.b64decode(text), "<f4").astype(np.float64)
            lists: dict[str, Any] = {"qid": test.qid} if self.kind == "queries" else {}
            metric = KINDS[self.kind].metric
            self._made[key] = evaluate(test.labels, scores, metrics=[metric], **lists)
        return self._made[key]


class Compared(NamedTuple):
    """A difference, its p by the test over trainings, and by that over queries or rows alone."""

    difference: float
    p: float
    plain: float


def compared(first: list[list[Evaluation]], second: list[list[Evaluation]]) -> Compared:
    """The comparison of two methods, or of one with itself."""
    lists = {"first": [*chain(*first)], "second": [*chain(*second)]}
    [pair] = compare_runs(lists).pairs
    metric, seeds = pair.metric, len(first[0])
    if not first[0][0].rows:
        gaps = [
            np.mean([one.per_query[metric] for one in a], axis=0)
            - np.mean([one.per_query[metric] for one in b], axis=0)
            for a, b in zip(first, second, strict=True)
        ]
        values = np.concatenate(gaps)
        plain = stats.ttest_1samp(values[~np.isnan(values)], 0.0).pvalue
        return Compared(pair.difference, pair.p_value, float(plain))
    weights, variance = np.repeat([1 / seeds, -1 / seeds], seeds), 0.0
    for a, b in zip(first, second, strict=True):
        rows = [one.rows[metric] for one in a + b]
        covariance = row_statistics(parse_metric(metric), rows).covariance
        variance += weights @ covariance @ weights / len(first) ** 2
    plain = 2 * stats.norm.sf(abs(pair.difference) / np.sqrt(variance))
    return Compared(pair.difference, pair.p_value, float(plain))


def halves(seeds: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All pairs of so many seeds and as many others."""
    every = list(itertools.combinations(range(SEEDS), seeds))
    return [(a, b) for a, b in itertools.combinations(every, 2) if not {*a} & {*b}]


def share(p: Sequence[float]) -> str:
    return f"{np.mean(np.array(p) < LEVEL):.1%}"


def table_of(kind: str, scores: dict[Key, str]) -> Table:
    wanted: dict[str, set[Key]] = {}
    for number, method in itertools.product(range(SETS), KINDS[kind].methods):
        seeds = SEEDS if method == OURS else SEEDS // 2
        wanted[method] = wanted.get(method, set()) | {
            (kind, number, method, f, s) for f in range(FOLDS) for s in range(seeds)
        }
    finished = {
        method: {n for n in range(SETS) if {key for key in keys if key[1] == n} <= scores.keys()}
        for method, keys in wanted.items()
    }
    trainings = {n: Trainings(kind, n, scores) for n in finished[OURS]}
    others = [method for method in KINDS[kind].methods if method != OURS and finished[method]]
    rows = []
    for folds, seeds in itertools.product((1, 3, 5), (1, 3)):
        same = [
            compared(one.of(OURS, folds, a), one.of(OURS, folds, b))
            for one in trainings.values()
            for a, b in halves(seeds)
        ]
        tested = (folds, seeds) != (1, 1)
        row = [
            folds, seeds, len(same), share([each.p for each in same]) if tested else "no test",
            share([each.plain for each in same]),
        ]  # fmt: skip
        for other in others:
            drawn = [range(seeds)] if seeds > 1 else [(seed,) for seed in range(SEEDS // 2)]
            found = [
                compared(one.of(OURS, folds, seed), one.of(other, folds, seed))
                for n, one in trainings.items()
                if n in finished[other]
                for seed in drawn
            ]
            row += [
                f"{np.mean([each.difference for each in found]):+.4f}",
                share([each.p for each in found]) if tested else "no test",
                share([each.plain for each in found]),
            ]
        rows.append(row)
    heads = ["folds", "seeds", "comparisons", "false alarms", "plain test"]
    for other in others:
        heads += [f"less {other}", "found", "plain test"]
    metric = KINDS[kind].metric.upper()
    sets = " and ".join(str(len(finished[other])) for other in others)
    others_on = f" (with others on {sets})" if others else ""
    foot = [
        f"{metric} of lambdaplus compared with itself, other seeds, and with other objectives on "
        f"{len(trainings)} generated data sets{others_on}: the share with p < .05. Plain: the "
        f"test over the {'queries' if kind == 'queries' else 'rows'} alone."
    ]
    return Table(heads, rows, foot)


def show(given: argparse.Namespace) -> None:
    fits = {tuple(one["key"]): one for one in read(given.kept)}
    scores = {key: one["scores"] for key, one in fits.items()}
    kinds = [kind for kind in KINDS if any(key[0] == kind for key in scores)]
    keep_tables("false-alarms", fits, {kind.capitalize(): table_of(kind, scores) for kind in kinds})


def main() -> None:
    given = study_parser(__doc__ or "", "false-alarms").parse_args()
    run(given, fit, tasks, show)


if __name__ == "__main__":
    main()
