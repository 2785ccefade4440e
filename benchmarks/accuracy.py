"""What trees and objectives gain: real sets, long lists, digits and generated rankings.

    python benchmarks/accuracy.py fit LETOR_FOLDS flights:FOLDER [...] --seeds 0,1,2,3,4
    python benchmarks/accuracy.py fit generated:1000:0.02:1:even --trees 'node=.5;node=1,rows=1.'
    python benchmarks/accuracy.py fit LETOR_FOLDS [...] --frameworks catboost --trees default
    python benchmarks/accuracy.py show

Sets, trees and contenders are named as in `trees`.  One training of each contender follows all
metrics, and each metric has its own round, the best on validation queries.  A difference is a mean
over the folds, or draws, of a set and then over sets, with an error over trainings and queries.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import list_sets
import numpy as np
from kept_fits import keep_tables, read, run, study_parser, values_in
from tables import LEVEL, Tested
from trees import (
    AS_IT_COMES,
    CHOSEN,
    FRAMEWORK_NAMES,
    OURS,
    OWN_PAIRS,
    THEIRS,
    WITH_LOG_LOSS,
    Fits,
    best_of,
    by_trees,
    fit,
    tasks,
)  # fmt: skip

from lambdaplus.evaluation import Table
from lambdaplus.evaluation.effects import Effect, RunMeans, on_queries, over_folds, over_sets
from lambdaplus.evaluation.significance import holm
from lambdaplus.study.detectable import seen

METRICS = ("map", "ndcg@10", "auc", "mrr", "recall@20")
OURS_FOR = {"map": "map", "ndcg@10": "ndcg", "auc": "auc", "mrr": "arhr", "recall@20": "map"}
"""The default objective of each metric, on graded labels, too."""
WITH_LOG_LOSS_FOR = dict(zip(("map", "ndcg@10"), WITH_LOG_LOSS, strict=True))
"""The same with three quarters of log-loss."""
OWN = {"lightgbm": "lambdarank", "xgboost": "rank:ndcg"}
EVERY_ROW = "node=1,rows=1."
"""Trees of the same leaves and rate that see every row and column."""
FOLDS = 5  # of the sets in LETOR's format
MARGIN = 0.005
LEVEL_MEANS = f"level: the 95 % interval lies within {MARGIN}"
Contender = tuple[str, str]  # trees, name
OfFramework = tuple[str, str, str]  # framework, trees, name


def is_real(on: str) -> bool:
    return on.startswith(("build/", "flights:"))


def seeds_of(fits: Fits, on: str, one: OfFramework, metric: str) -> set[int]:
    """The seeds with which a contender was trained and followed by the metric."""
    return {key[4] for key, fit in fits.items() if key[:4] == (on, *one) and metric in fit["valid"]}


def of_folds(fits: Fits, on: str, contenders: Sequence[OfFramework], metric: str) -> list[RunMeans]:
    """The test queries of each fold, or draw, that all contenders have; seeds are runs of it."""
    seeds = set.intersection(*(seeds_of(fits, on, one, metric) for one in contenders))
    folds: dict[int, list[int]] = {}
    for seed in sorted(seeds):
        folds.setdefault(seed % FOLDS if on.startswith("build/") else seed, []).append(seed)
    return [
        on_queries(*(
            [values_in(fits[on, *one, seed]["queries"][metric]) for seed in some]
            for one in contenders
        ))
        for some in folds.values()
    ]  # fmt: skip


def effect(
    fits: Fits, framework: str, contenders: Sequence[Contender], metric: str, sets: Sequence[str]
) -> Effect | None:
    """A contender's mean value over sets, or that of the first less the second."""
    both = [(framework, *one) for one in contenders]
    return mean_over_sets([of_folds(fits, on, both, metric) for on in sets])


def mean_over_sets(found: Sequence[Sequence[RunMeans]]) -> Effect | None:
    """The mean over sets of the means over folds; None if a set has no values."""
    if not all(map(len, found)):
        return None
    mean = over_sets([over_folds(folds) for folds in found])
    if all(len(folds) == 1 and max(folds[0].counts) == 1 for folds in found):
        return mean._replace(freedom=math.nan)  # a test would be of two models
    return mean


def shown(found: Effect | None, more: str = "") -> Tested | str:
    return Tested(f"{found.mean:+.4f} ± {found.error:.4f}", found.p_value, more) if found else ""


def on_validation(
    fits: Fits, framework: str, one: Contender, metric: str, sets: Sequence[str]
) -> float:
    """The mean over sets of the best validation values of a contender."""
    return float(np.mean([
        np.mean([
            max(fit["valid"][metric]) for key, fit in fits.items()
            if key[:4] == (on, framework, *one)
        ]) for on in sets
    ]))  # fmt: skip


def best_built_in(
    fits: Fits, framework: str, trees: str, metric: str, sets: Sequence[str]
) -> str | None:
    """The framework's objective that is best on validation queries."""
    names = [
        name for name in THEIRS[framework]
        if all(seeds_of(fits, on, (framework, trees, name), metric) for on in sets)
    ]  # fmt: skip
    return max(
        names,
        key=lambda name: on_validation(fits, framework, (trees, name), metric, sets),
        default=None,
    )


def less_best(
    fits: Fits, framework: str, trees: str, metric: str, sets: Sequence[str],
    ours: dict[str, str] = OURS_FOR,
) -> tuple[Effect | None, str]:  # fmt: skip
    """The objective of the metric less the best built-in one, with the same trees, and its name."""
    best = best_built_in(fits, framework, trees, metric, sets)
    if best is None:
        return None, ""
    pair = (trees, ours[metric]), (trees, best)
    return effect(fits, framework, pair, metric, sets), best


def over_best(fits: Fits, framework: str, trees: str, *of: Any, **ours: dict[str, str]) -> Any:
    found, best = less_best(fits, framework, trees, *of, **ours)
    return shown(found, f" ({best})" + ", level" * (found is not None and is_level(found)))


def is_level(found: Effect) -> bool:
    """Whether a difference was tested, and is below the margin."""
    return not math.isnan(found.freedom) and max(map(abs, found.interval())) < MARGIN


LESS = (
    "±: standard error over trainings and queries; where each contender has one training on a set, "
    f"over queries alone, without a test; {LEVEL_MEANS}"
)


def heads(metrics: Sequence[str]) -> list[str]:
    return [f"{m.upper()}, {name}" for m in metrics for name in FRAMEWORK_NAMES.values()]


def trees_and_objectives(fits: Fits, metrics: Sequence[str], sets: Sequence[str]) -> Table:
    """What trees and objectives gain over a framework's ranking objective with default trees."""
    rows: list[list[Any]] = []
    columns = list(product(metrics, FRAMEWORK_NAMES))

    def less(title: str, trees: str, name: str) -> None:
        cells = []
        for metric, framework in columns:
            found = {
                "own": OWN[framework], "ours": OURS_FOR[metric],
                "both": WITH_LOG_LOSS_FOR.get(metric, ""),
            }.get(name, name)  # fmt: skip
            pair = (trees, found), ("default", OWN[framework])
            cells.append(shown(effect(fits, framework, pair, metric, sets)))
        rows.append([title, *cells])

    first = [effect(fits, f, [("default", OWN[f])], m, sets) for m, f in columns]
    rows.append([
        "lambdarank, rank:ndcg, default trees",
        *(f"{found.mean:.4f}" if found else "" for found in first),
    ])  # fmt: skip
    less("lambdaplus, default trees", "default", "ours")
    less("lambdarank, rank:ndcg, ranking_trees", CHOSEN, "own")
    less("log-loss, ranking_trees", CHOSEN, "log-loss")
    less("lambdaplus, ranking_trees", CHOSEN, "ours")
    if {*metrics} <= {*WITH_LOG_LOSS_FOR}:
        less("lambdaplus with log-loss, ranking_trees", CHOSEN, "both")
    last = [over_best(fits, framework, CHOSEN, metric, sets) for metric, framework in columns]
    rows.append(["lambdaplus less the best built-in objective, both with ranking_trees", *last])
    foot = (
        "test values, the mean over sets; differences from the first row, and in the last row "
        f"from the built-in objective that is best on validation queries, in brackets; {LESS}"
    )
    return Table(["", *heads(metrics)], rows, [foot])


def over_built_in(
    fits: Fits, framework: str, trees: str, metrics: Sequence[str], sets: Sequence[str]
) -> Table:
    """The objective of each metric less each built-in objective, with the same trees."""
    rows = [
        [name, *(
            shown(effect(fits, framework, [(trees, OURS_FOR[m]), (trees, name)], m, sets))
            for m in metrics
        )]
        for name in THEIRS[framework]
    ]  # fmt: skip
    foot = f"test values of lambdaplus less those of the built-in objective; {LESS}"
    columns = ["less", *(metric.upper() for metric in metrics)]
    return Table(columns, [row for row in rows if any(row[1:])], [foot])


def own_pairs(fits: Fits, framework: str) -> Table:
    """Pairs that are weighted by a metric itself less those of the default objective."""
    rows = []
    for name in OWN_PAIRS:
        sets = [on for on in dict.fromkeys(key[0] for key in fits)
                if seeds_of(fits, on, (framework, CHOSEN, name), "map")]  # fmt: skip
        if sets:
            rows.append([name, *(
                shown(effect(fits, framework, [(CHOSEN, name), (CHOSEN, OURS_FOR[m])], m, sets))
                for m in METRICS
            )])  # fmt: skip
    foot = f"less the default objective of the metric, on OHSUMED and MQ2008; {LESS}"
    return Table(["", *(metric.upper() for metric in METRICS)], rows, [foot])


def by_set(fits: Fits, metric: str, sets: Sequence[str]) -> Table:
    rows = [
        [list_sets.in_words(on), *(over_best(fits, f, CHOSEN, metric, [on]) for f in THEIRS)]
        for on in sets
    ]
    foot = f"lambdaplus less the best built-in objective, both with ranking_trees; {LESS}"
    return Table(["set", *FRAMEWORK_NAMES.values()], rows, [foot])


def by_kind(fits: Fits, kinds: dict[str, tuple[str, Sequence[str]]], ours: dict[str, str]) -> Table:
    """Our objective of each metric less the best built-in one, by kind of data."""
    rows = [
        [kind, *(
            over_best(fits, framework, trees, metric, sets, ours=ours)
            for metric, framework in product(ours, FRAMEWORK_NAMES)
        )]
        for kind, (trees, sets) in kinds.items()
    ]  # fmt: skip
    foot = (
        "lambdaplus less the built-in objective that is best on validation queries, in brackets, "
        f"with the same trees; {LESS}"
    )
    return Table(["", *heads(tuple(ours))], [row for row in rows if any(row[1:])], [foot])


def decided(fits: Fits, sets: Sequence[str]) -> Table:
    """On how many single sets lambdaplus is ahead, behind or level, and what could be seen."""
    found: dict[str, list[Effect]] = {
        metric: [
            one for on, framework in product(sets, THEIRS)
            if (one := less_best(fits, framework, CHOSEN, metric, [on])[0])
            and not math.isnan(one.freedom)
        ]
        for metric in METRICS
    }  # fmt: skip
    p = iter(holm(np.array([one.p_value for every in found.values() for one in every])))
    rows = []
    for metric, every in found.items():
        sure = [bool(next(p) < LEVEL) for _ in every]
        level = [
            is_level(one) for one, tested in zip(every, sure, strict=True) if not tested
        ]  # fmt: skip
        smallest = np.median([seen(one, LEVEL) for one in every]) if every else math.nan
        rows.append([
            metric.upper(), len(every),
            *(sum(s and sign * one.mean > 0 for s, one in zip(sure, every, strict=True))
              for sign in (1, -1)),
            sum(level), len(every) - sum(sure) - sum(level), f"{smallest:.4f}",
        ])  # fmt: skip
    foot = (
        "lambdaplus less the built-in objective that is best on validation queries, with the same "
        "trees, on each set in each framework; ahead, behind: p < .05, with Holm's correction over "
        f"the table; {LEVEL_MEANS}; seen: the median difference that such a test without "
        "correction finds in four of five studies"
    )
    return Table(["metric", "tests", "ahead", "behind", "level", "open", "seen"], rows, [foot])


TREES = {CHOSEN: "ranking_trees", "default": "default trees"}
NAMES = dict.fromkeys([*OURS, *WITH_LOG_LOSS, *THEIRS["lightgbm"], *THEIRS["xgboost"]])


def time_to_the_best(fits: Fits, kinds: dict[str, Sequence[str]]) -> Table:
    """Rounds and seconds to the best model by MAP, relative to the framework's own objective."""
    rows: list[list[Any]] = []
    for (kind, sets), framework, trees, name in product(
        kinds.items(), FRAMEWORK_NAMES, TREES, NAMES
    ):
        one, own = (trees, name), (CHOSEN, OWN[framework])
        means = np.array([
            [np.mean([best_of(fits[on, framework, *each, seed], "map") for seed in seeds], axis=0)
             for each in (one, own)]
            for on in sets
            if (seeds := set.intersection(*(
                seeds_of(fits, on, (framework, *each), "map") for each in (one, own)
            )))
        ])  # fmt: skip
        if len(means) == len(sets) > 0:
            rounds, seconds = np.exp(np.log(means[:, 0, 1:] / means[:, 1, 1:]).mean(axis=0))
            gain = None if one == own else effect(fits, framework, (one, own), "map", sets)
            rows.append([
                f"{kind}, {FRAMEWORK_NAMES[framework]}", TREES[trees], name,
                f"{means[:, 0, 1].mean():.0f}", f"{rounds:.2f}", f"{seconds:.2f}",
                shown(gain),
            ])  # fmt: skip
    foot = (
        "until the best validation MAP; rounds, relative, seconds, MAP: to and less lambdarank or "
        "rank:ndcg with ranking_trees; seconds of the processor on one thread, without those of "
        f"validation; geometric means over sets of relative numbers; {LESS}"
    )
    columns = ["data", "trees", "objective", "rounds", "relative", "seconds, relative", "MAP"]
    return Table(columns, rows, [foot])


def show(given: argparse.Namespace) -> None:
    fits: Fits = {tuple(one["key"][:5]): one for one in read(given.kept)}
    sets = list(dict.fromkeys(key[0] for key in sorted(fits, key=str)))
    real = list(filter(is_real, sets))
    long = [on for on in sets if on.startswith("generated:1000")]
    kinds = {
        "LETOR, MSLR, ClueWeb09, flights": (CHOSEN, real),
        "lists of 1,000 documents": (CHOSEN, long),
        "lists of 1,000 documents, trees that see every row": (EVERY_ROW, long),
        "images of digits": (CHOSEN, ["digits"]),
        "12 features with interactions": (CHOSEN, ["pairs:12:120:40:1.5"]),
        "categories and missing cells": (CHOSEN, ["mixed:16:300:30:1"]),
    }
    kinds = {kind: pair for kind, pair in kinds.items() if pair[1] and {*pair[1]} <= {*sets}}
    begin = {
        "12 features": ("pairs:12:",), "categories": ("mixed:",), "digits": ("digits",)
    }  # fmt: skip
    tables = {
        "Real sets": trees_and_objectives(fits, METRICS[:2], real),
        "Real sets, AUC, MRR and recall": trees_and_objectives(fits, METRICS[2:], real),
        "By kind": by_kind(fits, kinds, OURS_FOR),
        "By kind, pairs with log-loss": by_kind(fits, kinds, WITH_LOG_LOSS_FOR),
        "What was decided": decided(fits, real),
        **{
            f"{kind}, {name}": over_built_in(fits, framework, trees, METRICS, some)
            for kind, (trees, some) in kinds.items()
            for framework, name in FRAMEWORK_NAMES.items()
        },
        **{f"By set, {metric.upper()}": by_set(fits, metric, real) for metric in METRICS},
        "Time to the best model": time_to_the_best(
            fits, {kind: some for kind, (trees, some) in kinds.items() if trees == CHOSEN}
        ),
        **{f"Own pairs, {name}": own_pairs(fits, f) for f, name in FRAMEWORK_NAMES.items()},
        **{
            f"Trees, {FRAMEWORK_NAMES[framework]}, {name}": by_trees(
                fits, framework, name, "map", begin
            )
            for framework in THEIRS
            for name in ("map", OWN[framework], "log-loss")
        },
    }
    keep_tables("accuracy", fits, {title: table for title, table in tables.items() if table.rows})


def main() -> None:
    parser = study_parser(__doc__, "accuracy")
    parser.add_argument("--trees", type=lambda text: text.split(";"), default=[CHOSEN, "default"])
    parser.add_argument(
        "--contenders", type=lambda text: text.split(";"),
        default=[*NAMES, *AS_IT_COMES],
    )  # fmt: skip
    parser.add_argument("--metrics", type=lambda text: text.split(","), default=[*METRICS])
    parser.add_argument("--frameworks", type=lambda text: text.split(","), default=[*THEIRS])
    parser.add_argument("--patience", type=float, default=4.0, help="rounds times rate")
    run(parser.parse_args(), fit, tasks, show)


if __name__ == "__main__":
    main()
