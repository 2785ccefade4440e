"""Which trees suit rankings: a study of leaves, samples of rows and columns, and steps.

    python benchmarks/trees.py fit SET [...] --trees 'node=.5;tree=.5,node=1' --seeds 0,1,2
    python benchmarks/trees.py show [--by-set] [--less TREES]

SET is named as in `list_sets`.  Trees are named by what they have in common in both frameworks:
leaves, rate (twice as large in XGBoost, whose Hessians of rankings are twice as large), shares of
rows, of columns by tree and of columns by node, and by parameters of a framework; what is not named
is as in `BASE`.  ``ranking_trees`` is those of the package, ``default`` the framework's at a rate
of .1.  A training is evaluated every few rounds on validation and test queries; validation chooses
the round.  ``seconds`` are those of the processor.
"""

from __future__ import annotations

import argparse
import ast
import time
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, product
from typing import Any, NamedTuple

import list_sets
import numpy as np
from catboost_trees import EVERY, ROUNDS, fit_catboost
from kept_fits import keep_tables, per_query, read, run, study_parser
from tables import Tested

from lambdaplus import lambda_objective, ranking_trees
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.data import Fold, RankingData
from lambdaplus.evaluation import Table
from lambdaplus.evaluation.effects import on_queries, over_folds, over_sets
from lambdaplus.metrics.means import mean_values
from lambdaplus.study.boosted_trainer import NAMES_IN_LIGHTGBM
from lambdaplus.study.boosters import fit_lightgbm, fit_xgboost
from lambdaplus.study.methods import parse_criterion

CHOSEN = "ranking_trees"
"""Those of the package, of the middle size."""
BASE: dict[str, Any] = {"leaves": 16, "rate": 0.05, "rows": 0.5, "tree": 1.0, "node": 0.5}
NAMES = {
    "lightgbm": {
        "leaves": "num_leaves", "rate": "learning_rate", "rows": "bagging_fraction",
        "tree": "feature_fraction", "node": "feature_fraction_bynode",
        "depth": "max_depth", "l2": "lambda_l2", "extra": "extra_trees",
    },
    "xgboost": {
        "leaves": "max_leaves", "rate": "learning_rate", "rows": "subsample",
        "tree": "colsample_bytree", "node": "colsample_bynode", "depth": "max_depth",
        "l2": "lambda",
    },
}  # fmt: skip
ALWAYS = {
    "lightgbm": {"bagging_freq": 1},
    "xgboost": {"max_depth": 0, "grow_policy": "lossguide"},
}
DEFAULT = {
    "lightgbm": {"num_leaves": 31, "learning_rate": 0.1},
    "xgboost": {"max_depth": 6, "learning_rate": 0.1},
}
RATE_OF_RANKINGS = {"lightgbm": 1, "xgboost": 2}
FIT: dict[str, Any] = {
    "lightgbm": fit_lightgbm, "xgboost": fit_xgboost, "catboost": fit_catboost
}  # fmt: skip


def numbers_of(trees: str) -> dict[str, Any]:
    parts = (part.split("=") for part in trees.split(",") if part)
    return {name: ast.literal_eval(value) for name, value in parts}


def parameters_of(trees: str, framework: Any, doubled: bool) -> dict[str, Any]:
    if trees == "default":
        return dict(DEFAULT[framework])
    if trees == CHOSEN:
        found = ranking_trees(framework)
        found["learning_rate"] /= 1 if doubled else RATE_OF_RANKINGS[framework]
        names = NAMES_IN_LIGHTGBM if framework == "lightgbm" else {}
        return {names.get(name, name): value for name, value in found.items()}
    given = {**BASE, **numbers_of(trees)}
    if doubled:
        given["rate"] *= RATE_OF_RANKINGS[framework]
    names = NAMES[framework]
    return ALWAYS[framework] | {names.get(name, name): value for name, value in given.items()}


def in_words(trees: str) -> str:
    """What differs from 16 leaves, half of the rows and half of the columns by node."""
    words = {
        "rate": "learning rate", "tree": "columns by tree", "node": "columns by node",
        "extra": "extra trees",
    }  # fmt: skip
    if trees in ("default", CHOSEN):
        return "default trees" if trees == "default" else trees
    return ", ".join(
        words.get(name, name) + ("" if value is True else f" {value:g}")
        for name, value in numbers_of(trees).items()
        if (name, value) not in (("tree", 1), ("node", 1)) or "tree" not in trees
    )


def rate_of(trees: str) -> float:
    if trees == "default":
        return 0.1
    return BASE["rate"] if trees == CHOSEN else {**BASE, **numbers_of(trees)}["rate"]


OURS = ("map", "ndcg", "auc", "arhr")
"""Metrics whose objectives of lambdaplus are trained."""
OWN_PAIRS = tuple(f"{metric}, own pairs" for metric in ("mrr", "ndcg@10", "map@10"))
"""Metrics that by default weight pairs by another one, their surrogate, or by all ranks."""
WITH_LOG_LOSS = tuple(f"0.25*{metric}+0.75*logloss(relevant=1)" for metric in ("map", "ndcg"))
"""Pairs and the plain log-loss together, see `both`."""
THEIRS: dict[str, dict[str, dict[str, Any]]] = {
    "lightgbm": {
        "log-loss": {"objective": "binary"},
        "lambdarank": {"objective": "lambdarank"},
        "rank_xendcg": {"objective": "rank_xendcg"},
    },
    "xgboost": {
        "log-loss": {"objective": "binary:logistic"},
        "rank:ndcg": {"objective": "rank:ndcg"},
        "rank:map": {"objective": "rank:map"},
        "rank:map, mean": {"objective": "rank:map", "lambdarank_pair_method": "mean"},
    },
}
AS_IT_COMES: dict[str, dict[str, Any]] = {
    name: {"objective": name}
    for name in ("Logloss", "QuerySoftMax", "YetiRank", "YetiRank:mode=MAP")
}
"""Objectives of CatBoost, which are trained with its own trees and rate alone."""
Key = tuple[str, str, str, str, int]  # set, framework, trees, contender, seed


@lru_cache(2)
def fold_of(name: str, seed: int) -> Fold:
    return list_sets.fold_of(name, seed)


@lru_cache(2)
def evaluated(name: str, seed: int) -> RankingData:
    """Validation and test queries as one set, so that both are scored in each round."""
    fold = fold_of(name, seed)
    parts = fold.valid, fold.test
    qid = np.repeat(
        np.arange(sum(part.n_queries for part in parts)),
        np.concatenate([part.group for part in parts]),
    )
    return RankingData(
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.labels for part in parts]),
        qid,
        feature_names=fold.train.feature_names,
        categories=fold.train.categories,
        grouped=fold.train.grouped,
    )


class Curves:
    """Values of metrics on validation and test queries; ends a training without gains."""

    def __init__(self, fold: Fold, metrics: list[str], patience: int, every: int) -> None:
        self.fold, self.patience, self.every = fold, patience, every
        self.metrics = [parse_criterion(name) for name in metrics]
        self.valid: dict[str, list[float]] = {str(metric): [] for metric in self.metrics}
        self.test: dict[str, list[float]] = {str(metric): [] for metric in self.metrics}
        self.best: dict[str, Any] = {}
        self.round, self.looking, self.seconds = 0, 0.0, list[float]()

    def see(self, scores: Any) -> bool:
        self.round += 1
        if self.round % self.every:
            return False
        start = time.process_time()
        self.seconds.append(start - self.looking)
        over = self._look(np.array(scores, dtype=np.float64))
        self.looking += time.process_time() - start
        return over

    def _look(self, scores: Any) -> bool:
        n = self.fold.valid.labels.size
        parts = (self.valid, self.fold.valid, scores[:n]), (self.test, self.fold.test, scores[n:])
        for curves, data, some in parts:
            for name, value in mean_values(self.metrics, data.queries, some).items():
                curves[name].append(round(float(value), 5))
        last = len(next(iter(self.valid.values()))) - 1
        for name, curve in self.valid.items():
            if name not in self.best or curve[-1] > curve[self.best[name][0]]:
                self.best[name] = last, scores[n:]
        return all((last - best) * self.every >= self.patience for best, _ in self.best.values())


def fit(key: tuple[Any, ...]) -> dict[str, Any]:
    """Train for up to 60 rounds over the rate, with a patience in the same unit."""
    on, framework, trees, *_, patience = key
    if framework == "catboost":
        return train(key, ROUNDS, ROUNDS, EVERY)
    rate = rate_of(trees)
    every = 10 if rate < 0.03 or on.startswith(("generated:", "flights:")) else 5
    return train(key, round(60 / rate), round(patience / rate), every)


def train(key: tuple[Any, ...], rounds: int, patience: int, every: int) -> dict[str, Any]:
    on, framework, trees, name, seed, metrics, *_ = key
    fold = fold_of(on, seed)
    params = dict({**THEIRS, "catboost": AS_IT_COMES}[framework].get(name, {}))
    target: Any = params.pop("objective", None)
    if target is None:
        metric, _, own = name.partition(", ")
        target = lambda_objective(metric, surrogate=metric if own else None)
    if framework != "catboost":
        params |= parameters_of(trees, framework, name != "log-loss")
    curves = Curves(fold, metrics.split(","), patience, every)
    with limit_threads(1):
        curves.looking = time.process_time()
        FIT[framework](
            target, params, fold.train, evaluated(on, seed), curves.see,
            rounds=rounds, seed=seed, threads=1,
        )  # fmt: skip
    return {
        "key": key,
        "every": curves.every,
        "valid": curves.valid,
        "test": curves.test,
        "times": [round(each, 3) for each in curves.seconds],
        "seconds": curves.seconds[-1],
        "queries": {
            metric: per_query(fold.test, metric, scores)
            for metric, (_, scores) in curves.best.items()
            if fold.test.grouped
        },
    }


def tasks(given: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    for seed, on, trees, framework, name in product(
        given.seeds, given.sets, given.trees, given.frameworks, given.contenders
    ):
        if framework == "catboost":
            known = trees == "default" and name in AS_IT_COMES
        else:
            known = name in (*OURS, *OWN_PAIRS, *WITH_LOG_LOSS) or name in THEIRS[framework]
        if known:
            yield on, framework, trees, name, seed, ",".join(given.metrics), given.patience


# What was measured --------------------------------------------------------------------------------

Fits = dict[tuple[str, str, str, str, int], dict[str, Any]]
FRAMEWORK_NAMES = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}
Kinds = dict[str, tuple[str, ...]]
KINDS: Kinds = {
    "few features": ("pairs:",),
    "200 features, categories": ("correlated:", "mixed:"),
    "LETOR, MSLR, ClueWeb09, flights": ("build/", "flights:"),
    "digits": ("digits",),
    "1,000 documents": ("generated:1000:",),
}
"""Kinds of queries, and how the names of their sets begin."""


class Best(NamedTuple):
    """Of a training: the test value at the round with the best validation value, and its time."""

    value: float
    round: int
    seconds: float


def best_of(fit: dict[str, Any], metric: str) -> Best:
    place = int(np.argmax(fit["valid"][metric]))
    return Best(fit["test"][metric][place], (place + 1) * fit["every"], fit["times"][place])


def pairs_of(
    fits: Fits,
    framework: str,
    one: tuple[str, str],
    other: tuple[str, str],
    metric: str,
    kind: tuple[str, ...],
) -> list[tuple[list[Best], list[Best]]]:
    """Trainings with the trees and objective ``one`` and with the ``other``, by set."""
    found = []
    for on in dict.fromkeys(key[0] for key in fits if key[0].startswith(kind)):
        seeds = [
            key[4] for key in fits
            if key[:4] == (on, framework, *one) and (on, framework, *other, key[4]) in fits
        ]  # fmt: skip
        both = [
            [best_of(fits[on, framework, *each, seed], metric) for seed in seeds]
            for each in (one, other)
        ]
        if len(seeds) > 1:  # one training has no error
            found.append((both[0], both[1]))
    return found


def difference(found: list[tuple[list[Best], list[Best]]]) -> Tested | str:
    """The mean over sets of differences between trainings, with the error over trainings."""
    each = [
        over_folds([on_queries([a.value - b.value for a, b in zip(one, other, strict=True)])])
        for one, other in found
    ]
    if not each:
        return ""
    mean = over_sets(each)
    return Tested(f"{mean.mean:+.4f} ± {mean.error:.4f}", mean.p_value, f" ({len(each)})")


def time_of(found: list[tuple[list[Best], list[Best]]]) -> str:
    """The geometric mean over sets of the ratio of times to the best round."""
    ratios = [
        np.mean([a.seconds for a in one]) / np.mean([b.seconds for b in other])
        for one, other in found
    ]
    return f"{np.exp(np.mean(np.log(ratios))):.2f}" if ratios else ""


def by_trees(
    fits: Fits, framework: str, name: str, metric: str, kinds: Kinds, less: str = CHOSEN
) -> Table:
    """Other trees less these, with one objective, by kind of data."""
    rows = []
    for trees in dict.fromkeys(key[2] for key in fits if key[1::2] == (framework, name)):
        pair = (trees, name), (less, name)
        found = [pairs_of(fits, framework, *pair, metric, begin) for begin in kinds.values()]
        if trees != less and any(found):
            every = list(chain.from_iterable(found))
            cells = [difference(of_kind) for of_kind in found]
            rows.append([in_words(trees), *cells, difference(every), time_of(every)])
    foot = (
        f"{metric.upper()} of test rows at the best validation round, less that of "
        f"{in_words(less) or 'the base'}; "
        "in brackets: sets; ±: standard error over trainings; time: processor seconds to the best "
        "round, relative"
    )
    return Table(["trees", *kinds, "all", "time"], rows, [foot])


def show(given: argparse.Namespace) -> None:
    fits: Fits = {tuple(one["key"][:5]): one for one in read(given.kept)}
    names = dict.fromkeys(key[3] for key in fits)
    sets = sorted(dict.fromkeys(key[0] for key in fits))
    kinds = {list_sets.in_words(on): (on,) for on in sets} if given.by_set else KINDS
    found = {}
    for framework, title in FRAMEWORK_NAMES.items():
        for name in names:
            found[f"{title}, {name}"] = by_trees(fits, framework, name, "map", kinds, given.less)
        for metric in ("auc", "map"):
            found[f"Tables, {title}, {metric.upper()}"] = by_trees(
                fits, framework, "log-loss", metric, {"tables": ("table:",)}
            )
    tables = {title: table for title, table in found.items() if table.rows}
    keep_tables(given.kept.name, fits, tables)


def main() -> None:
    parser = study_parser(__doc__, "trees")
    parser.add_argument("--trees", type=lambda text: text.split(";"), default=[CHOSEN])
    parser.add_argument("--contenders", type=lambda text: text.split(";"), default=["map"])
    parser.add_argument("--metrics", type=lambda text: text.split(","), default=["map"])
    parser.add_argument("--frameworks", type=lambda text: text.split(","), default=[*THEIRS])
    parser.add_argument("--patience", type=float, default=4.0, help="rounds times rate")
    parser.add_argument("--less", default=CHOSEN, help="trees from which others differ in tables")
    parser.add_argument("--by-set", action="store_true", help="a column for each set of data")
    run(parser.parse_args(), fit, tasks, show)


if __name__ == "__main__":
    main()
