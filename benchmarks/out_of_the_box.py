"""Trees and objectives for rankings: what a user gets out of the box, and with `ranking_trees`.

    python benchmarks/out_of_the_box.py fit LETOR_FOLDS [...] --seeds 0,1,2,3,4
    python benchmarks/out_of_the_box.py fit flights:FOLDER digits generated:30:0.1:1:uneven [...]
    python benchmarks/out_of_the_box.py show

``fit`` has --trees, such as box,16/.05/.5/.5, --frameworks and --contenders 'map;lambdarank'.

SET is named as in `list_sets`.  The seed is the number of the fold, or of the draw of a generated
set.  Every contender is trained with the same trees and rounds.  The round is the one with the
highest validation value of each metric.  ``fit`` writes finished trainings to the folder --kept,
from which the same command continues.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import list_sets
import numpy as np
from kept_fits import (
    keep_tables,
    mean_over_sets,
    read,
    run,
    study_parser,
    train_and_test,
    values_in,
)
from tables import Tested

from lambdaplus import lambda_objective
from lambdaplus.evaluation import Table
from lambdaplus.study.trainers import train_lightgbm, train_xgboost

TRAINERS = {"lightgbm": train_lightgbm, "xgboost": train_xgboost}
METRICS = ("map", "ndcg@10", "auc", "mrr", "p@5")


def record(leaves: int, rate: float, rows: float, columns: float) -> dict[str, dict[str, Any]]:
    return {
        "lightgbm": {
            "num_leaves": leaves, "learning_rate": rate, "bagging_fraction": rows,
            "bagging_freq": 1, "feature_fraction_bynode": columns,
        },
        "xgboost": {
            "max_leaves": leaves, "learning_rate": rate, "subsample": rows,
            "colsample_bynode": columns,
        },
    }  # fmt: skip


# A study's trainers sample rows and columns unless they are told not to.
BOX: dict[str, dict[str, Any]] = {
    "lightgbm": {
        "num_leaves": 31, "learning_rate": 0.1, "bagging_fraction": 1.0, "bagging_freq": 0,
        "feature_fraction_bynode": 1.0,
    },
    "xgboost": {
        "max_depth": 6, "max_leaves": 0, "grow_policy": "depthwise", "learning_rate": 0.1,
        "subsample": 1.0, "colsample_bynode": 1.0,
    },
}  # fmt: skip


def trees_of(name: str) -> dict[str, dict[str, Any]]:
    """``box``, the frameworks' defaults but for a rate of .1, or LEAVES/RATE/ROWS/COLUMNS."""
    if name == "box":
        return BOX
    leaves, rate, rows, columns = name.split("/")
    return record(int(leaves), float(rate), float(rows), float(columns))


def rounds_of(name: str) -> tuple[int, int]:
    """Rounds and patience: shorter steps take more."""
    rate = 0.1 if name == "box" else float(name.split("/")[1])
    return round(40 / rate), round(6 / rate)


OURS: dict[str, tuple[Any, dict[str, Any]]] = {
    "map": ("map", {}),
    "ndcg": ("ndcg", {}),
    "auc": ("auc", {"surrogate": "auc"}),
    "auc, equal pairs": ("auc", {"surrogate": "auc", "pairs": "equal"}),
    "arhr": ("arhr", {}),
    "mrr": ("mrr", {"surrogate": "mrr"}),
    "p@5": ("p@5", {"surrogate": "p@5"}),
    "ndcg@10": ("ndcg@10", {"surrogate": "ndcg@10"}),
    "map@10": ("map@10", {"surrogate": "map@10"}),
}
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
OURS_FOR = {"map": "map", "ndcg@10": "ndcg", "auc": "auc", "mrr": "arhr"}
"""The default objective of each metric, on graded labels, too."""
FIRST = ("map", "ndcg@10")
OWN = {"lightgbm": "lambdarank", "xgboost": "rank:ndcg"}
FRAMEWORKS = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}
TREES = {"lightgbm": "16/.05/.5/.5", "xgboost": "16/.1/.5/.5"}
"""Those of `ranking_trees`."""
RATES = {"lightgbm": ["16/.05/.5/.5"], "xgboost": ["16/.05/.5/.5", "16/.1/.5/.5"]}
"""With which the best built-in objective is found: XGBoost's log-loss has no doubled Hessians."""
OTHER_SHAPES = ("generated:40:", "generated:200:", "generated:600:")
"""Sets on which nothing was chosen."""
SEEDS = 5
Key = tuple[str, str, str, str, int]  # set, framework, trees, contender, seed


def tasks(given: argparse.Namespace) -> Iterator[Key]:
    for seed, on, trees, framework in product(
        given.seeds, given.sets, given.trees, given.frameworks
    ):
        wanted = (
            [*THEIRS[framework], *OURS_FOR.values()]
            if given.contenders == ["main"]
            else given.contenders
        )
        for name in wanted:
            if name in OURS or name in THEIRS[framework]:
                yield on, framework, trees, name, seed


fold_of = lru_cache(2)(list_sets.fold_of)


def fit(key: Key) -> dict[str, Any]:
    on, framework, trees, name, seed = key
    params = dict(THEIRS[framework].get(name, {}))
    target = params.pop("objective", None)
    if target is None:
        metric, options = OURS[name]
        target = lambda_objective(metric, **options)
    rounds, patience = rounds_of(trees)
    every = 10 if on.startswith("generated") else 5
    params = {**trees_of(trees)[framework], **params}
    trained = train_and_test(
        TRAINERS[framework], target, params, fold_of(on, seed), METRICS,
        rounds=rounds, patience=patience, every=every, seed=seed,
    )  # fmt: skip
    return {"key": key, **trained}


# What was measured --------------------------------------------------------------------------------

Fits = dict[Key, dict[str, Any]]
Contender = tuple[str, str]  # trees, name


def difference(
    fits: Fits, framework: str, one: Contender, other: Contender, metric: str, sets: list[str]
) -> tuple[float, float, float]:
    """The mean over sets of the difference of test queries, its error, and p (Welch's t-test)."""
    each = []
    for on in sets:
        found = [
            values_in(fits[on, framework, *one, seed]["test"][metric])
            - values_in(fits[on, framework, *other, seed]["test"][metric])
            for seed in range(SEEDS)
            if (on, framework, *one, seed) in fits and (on, framework, *other, seed) in fits
        ]
        if not found:
            return np.nan, np.nan, np.nan
        each.append(np.concatenate(found))
    return mean_over_sets(each)


def mean_value(fits: Fits, framework: str, one: Contender, metric: str, sets: list[str]) -> float:
    return float(np.mean([
        np.nanmean(np.concatenate([
            values_in(fits[on, framework, *one, seed]["test"][metric])
            for seed in range(SEEDS) if (on, framework, *one, seed) in fits
        ])) for on in sets
    ]))  # fmt: skip


def on_validation(
    fits: Fits, framework: str, one: Contender, metric: str, sets: list[str], beside: Contender
) -> float:
    """The mean over sets of the validation values, of the seeds that ``beside`` has, too."""
    means = []
    for on in sets:
        values = [
            fits[on, framework, *one, seed]["valid"][metric]
            for seed in range(SEEDS)
            if (on, framework, *one, seed) in fits and (on, framework, *beside, seed) in fits
        ]
        means.append(np.mean(values) if values else np.nan)
    return float(np.mean(means))


def best_built_in(fits: Fits, framework: str, metric: str, sets: list[str]) -> Contender:
    """The framework's objective, with one of its rates, that is best on validation queries."""
    ours = TREES[framework], OURS_FOR[metric]
    every = [
        (trees, name)
        for trees, name in product(RATES[framework], THEIRS[framework])
        if all((on, framework, trees, name, 0) in fits for on in sets)
    ]
    return max(every, key=lambda one: on_validation(fits, framework, one, metric, sets, ours))


def shown(found: tuple[float, float, float], more: str = "") -> Tested | str:
    mean, error, p = found
    return "" if np.isnan(mean) else Tested(f"{mean:+.4f} ± {error:.4f}", p, more)


def out_of_the_box(fits: Fits, sets: list[str], metrics: Sequence[str]) -> Table:
    """What trees and objectives gain over a framework's ranking objective with default trees."""
    rows: list[list[Any]] = []
    columns = [(metric, framework) for metric in metrics for framework in THEIRS]
    heads = [f"{metric.upper()}, {FRAMEWORKS[framework]}" for metric, framework in columns]

    def row(title: str, cell: Any) -> None:
        rows.append([title, *(cell(metric, framework) for metric, framework in columns)])

    def less(box: bool, name: str | None) -> Any:
        def cell(metric: str, framework: str) -> Any:
            found = OWN[framework] if name == "own" else name or OURS_FOR[metric]
            one = "box" if box else TREES[framework], found
            against = "box", OWN[framework]
            return shown(difference(fits, framework, one, against, metric, sets))

        return cell

    def over_best(metric: str, framework: str) -> Any:
        best = best_built_in(fits, framework, metric, sets)
        pair = (TREES[framework], OURS_FOR[metric]), best
        return shown(difference(fits, framework, *pair, metric, sets), f" ({best[1]})")

    row(
        "lambdarank, rank:ndcg, default trees",
        lambda m, f: f"{mean_value(fits, f, ('box', OWN[f]), m, sets):.4f}",
    )
    row("lambdaplus, default trees", less(True, None))
    row("lambdarank, rank:ndcg, ranking_trees", less(False, "own"))
    row("log-loss, ranking_trees", less(False, "log-loss"))
    row("lambdaplus, ranking_trees", less(False, None))
    row("lambdaplus less the best built-in objective, both with ranking_trees", over_best)
    foot = (
        "test values, the mean over sets; differences from the first row, and in the last row "
        "from the built-in objective that is best on validation queries, in brackets (in XGBoost "
        "with a rate of .05 or .1); ±: standard errors over test queries"
    )
    return Table(["", *heads], rows, [foot])


def by_set(fits: Fits, metric: str, sets: list[str]) -> Table:
    rows = []
    for on, framework in product(sets, THEIRS):
        box, trees = ("box", OWN[framework]), TREES[framework]
        best = best_built_in(fits, framework, metric, [on])
        ours = trees, OURS_FOR[metric]
        rows.append([
            f"{list_sets.in_words(on)}, {FRAMEWORKS[framework]}",
            f"{mean_value(fits, framework, box, metric, [on]):.4f}",
            *(
                shown(difference(fits, framework, one, box, metric, [on]))
                for one in (("box", OURS_FOR[metric]), (trees, OWN[framework]), ours)
            ),
            shown(difference(fits, framework, ours, best, metric, [on]), f" ({best[1]})"),
        ])  # fmt: skip
    heads = (
        "set", "lambdarank, rank:ndcg, default trees", "lambdaplus, default trees",
        "lambdarank, rank:ndcg, ranking_trees", "lambdaplus, ranking_trees",
        "lambdaplus less the best built-in objective",
    )  # fmt: skip
    return Table(heads, rows, ["differences from the second column; ±: over test queries"])


def by_trees(fits: Fits, sets: list[str]) -> Table:
    """Validation and test values of each record less those of default trees."""
    rows = []
    names = list(dict.fromkeys(key[2] for key in fits))
    for framework, trees in product(THEIRS, names):
        cells: list[Any] = []
        for metric, ours in product(FIRST, (False, True)):
            name = OURS_FOR[metric] if ours else OWN[framework]
            if not all((on, framework, trees, name, 0) in fits for on in sets):
                cells.append("")
                continue
            one, box = (trees, name), ("box", name)
            valid = on_validation(fits, framework, one, metric, sets, box)
            valid -= on_validation(fits, framework, box, metric, sets, one)
            tested = difference(fits, framework, one, box, metric, sets)
            cells.append(f"{valid:+.4f} / {tested[0]:+.4f}")
        if any(cells):
            title = "default" if trees == "box" else trees
            rows.append([f"{title}, {FRAMEWORKS[framework]}", *cells])
    heads = [f"{m.upper()}, {name}" for m in FIRST for name in ("built-in", "lambdaplus")]
    foot = (
        "leaves/rate/rows/columns; validation / test values less those of the same objective with "
        "default trees; built-in: lambdarank, rank:ndcg"
    )
    return Table(["", *heads], rows, [foot])


def by_option(fits: Fits, framework: str, sets: list[str]) -> Table:
    """Each contender less the default objective of the metric, with the same trees."""
    rows = []
    for name in (*THEIRS[framework], *OURS):
        cells: list[Any] = []
        for metric, ours in OURS_FOR.items():
            trees = TREES[framework]
            both = [(on, framework, trees, one, 0) for on in sets for one in (name, ours)]
            some = [on for on in sets if {key for key in both if key[0] == on} <= fits.keys()]
            if not some:
                cells += ["", ""]
                continue
            pair = (trees, name), (trees, ours)
            valid = on_validation(fits, framework, pair[0], metric, some, pair[1])
            valid -= on_validation(fits, framework, pair[1], metric, some, pair[0])
            cells += [
                f"{valid:+.4f}",
                shown(difference(fits, framework, *pair, metric, some), f" ({len(some)})"),
            ]
        if any(cells):
            rows.append([name, *cells])
    heads = [f"{m.upper()}, {part}" for m in OURS_FOR for part in ("validation", "test")]
    foot = (
        f"less the objective of the metric: {', '.join(OURS_FOR.values())}; in brackets: sets; "
        "±: standard errors over test queries"
    )
    return Table(["", *heads], rows, [foot])


def show(given: argparse.Namespace) -> None:
    fits: Fits = {tuple(one["key"]): one for one in read(given.kept)}
    sets = list(dict.fromkeys(key[0] for key in fits))
    large = [on for on in sets if on.startswith("web-search")]
    other = [on for on in sets if on.startswith(OTHER_SHAPES)]
    digits = [on for on in sets if on == "digits"]
    real = [on for on in sets if not on.startswith(("generated", "digits", "web-search"))]
    lists = [on for on in sets if on not in large]
    generated = [on for on in lists if on not in (*real, *other)]
    of = {
        "Real sets": real, "Generated sets and digits": generated, "Other shapes": other,
        "A million rows": large,
    }  # fmt: skip
    tables = {
        **{
            f"{title}{'' if metrics == FIRST else ', AUC and MRR'}": out_of_the_box(
                fits, some, metrics
            )
            for title, some in of.items()
            for metrics in (FIRST, ("auc", "mrr"))
            if some and (some != large or metrics == FIRST)  # there, NDCG is trained alone
        },
        **{f"By set, {metric.upper()}": by_set(fits, metric, lists) for metric in OURS_FOR},
        **{
            f"Trees, {title.lower()}": by_trees(fits, some)
            for title, some in {**of, "images of digits": digits}.items()
            if some
        },
        **{f"Options, {FRAMEWORKS[name]}": by_option(fits, name, lists) for name in THEIRS},
    }
    keep_tables("out-of-the-box", fits, tables)


def main() -> None:
    parser = study_parser(__doc__, "out-of-the-box")
    parser.add_argument(
        "--trees", type=lambda text: text.split(","), default=["box", *TREES.values()]
    )
    parser.add_argument("--contenders", type=lambda text: text.split(";"), default=["main"])
    parser.add_argument("--frameworks", type=lambda text: text.split(","), default=[*THEIRS])
    run(parser.parse_args(), fit, tasks, show)


if __name__ == "__main__":
    main()
