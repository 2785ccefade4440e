"""The same search for every contender: 30 draws of trees and of its own options.

    python benchmarks/equal_search.py fit LETOR_FOLDS [...] flights:FOLDER --seeds 0,1,2,3,4
    python benchmarks/equal_search.py show

SET is named as in `list_sets`; the seed is the number of the fold.  Every contender gets the same
draws of leaves, rate, rows and columns, and own draws of its own options.  The best draw and the
best round on validation queries are tested.  `show` also reads the trainings of
`out_of_the_box`, for the trees of `ranking_trees` without a search.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import list_sets
import numpy as np
import out_of_the_box as box
from catboost_trainer import train_catboost
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
from lambdaplus.compute.array_types import Floats
from lambdaplus.evaluation import Table
from lambdaplus.study.trainers import train_lightgbm, train_xgboost

TRAINERS = {"lightgbm": train_lightgbm, "xgboost": train_xgboost, "catboost": train_catboost}
FRAMEWORKS = {"lightgbm": "LightGBM", "xgboost": "XGBoost", "catboost": "CatBoost"}
METRICS = ("map", "ndcg@10")
DRAWS, SEEDS = 30, 5
MOST_ROUNDS = 800

Options = dict[str, tuple[Any, ...]]
OURS: Options = {}
PAIRS: Options = {
    "lambdarank_pair_method": ("topk", "mean"),
    "lambdarank_num_pair_per_sample": (1, 4, 16, 64),
    "lambdarank_normalization": (True, False),
}
POSITIVES: Options = {"scale_pos_weight": (1, 3, 10)}
CONTENDERS: dict[str, dict[str, tuple[str, Options]]] = {
    "lightgbm": {
        "lambda_map": ("map", OURS),
        "lambda_ndcg": ("ndcg@10", {"surrogate": ("ndcg", "ndcg@10"), **OURS}),
        "lambdarank": (
            "lambdarank",
            {
                "lambdarank_truncation_level": (10, 30, 100, 10_000),
                "lambdarank_norm": (True, False),
            },
        ),
        "rank_xendcg": ("rank_xendcg", {}),
        "log-loss": ("binary", POSITIVES),
    },
    "xgboost": {
        "lambda_map": ("map", OURS),
        "lambda_ndcg": ("ndcg@10", {"surrogate": ("ndcg", "ndcg@10"), **OURS}),
        "rank:ndcg": ("rank:ndcg", PAIRS),
        "rank:map": ("rank:map", PAIRS),
        "log-loss": ("binary:logistic", POSITIVES),
    },
    "catboost": {"YetiRank": ("YetiRank", {"mode": ("Classic", "MAP", "NDCG")})},
}
"""The objective of each contender, and the choices of its own options."""
OURS_FOR = {"map": "lambda_map", "ndcg@10": "lambda_ndcg"}

Key = tuple[str, str, str, int, int]  # set, framework, contender, draw, seed


def trees(framework: str, draw: int) -> dict[str, Any]:
    """Leaves, rate, rows and columns of a draw, the same for every contender."""
    random = np.random.default_rng([7, draw])
    leaves = round(float(np.exp(random.uniform(np.log(4), np.log(64)))))
    rate = float(np.exp(random.uniform(np.log(0.03), np.log(0.3))))
    rows, columns = random.uniform([0.3, 0.2], 1.0)
    if framework == "catboost":
        depth = max(1, round(np.log2(leaves)))
        return {
            "depth": depth, "learning_rate": rate, "bootstrap_type": "Bernoulli",
            "subsample": rows, "rsm": columns,
        }  # fmt: skip
    return box.record(leaves, rate, rows, columns)[framework]


def options_of(name: str, choices: Options, draw: int) -> dict[str, Any]:
    random = np.random.default_rng([draw, zlib.crc32(name.encode())])
    return {option: values[random.integers(len(values))] for option, values in choices.items()}


def tasks(given: argparse.Namespace) -> Iterator[Key]:
    wanted = [(f, name) for f in given.frameworks for name in CONTENDERS[f]]
    for seed, draw, on in product(given.seeds, range(DRAWS), given.sets):
        for framework, name in wanted:
            yield on, framework, name, draw, seed


fold_of = lru_cache(8)(list_sets.fold_of)


def fit(key: Key) -> dict[str, Any]:
    on, framework, name, draw, seed = key
    target, choices = CONTENDERS[framework][name]
    options = options_of(name, choices, draw)
    params = trees(framework, draw)
    objective: Any = target
    if name.startswith("lambda_"):
        objective = lambda_objective(target, **options)
    elif framework == "catboost":
        objective = f"{target}:mode={options['mode']}"
    else:
        params |= options
    rate = params["learning_rate"]
    trained = train_and_test(
        TRAINERS[framework], objective, params, fold_of(on, seed), METRICS,
        rounds=round(min(24 / rate, MOST_ROUNDS)), patience=round(5 / rate), every=5, seed=seed,
    )  # fmt: skip
    return {"key": key, **trained}


# What was measured --------------------------------------------------------------------------------

Fits = dict[Key, dict[str, Any]]


def best_draw(
    fits: Fits, on: str, framework: str, name: str, metric: str, seed: int
) -> dict[str, Any] | None:
    """The training that is best on validation queries, if all draws are trained."""
    draws = [fits.get((on, framework, name, draw, seed)) for draw in range(DRAWS)]
    trained = [one for one in draws if one]
    return max(trained, key=lambda one: one["valid"][metric]) if all(draws) else None


Values = dict[tuple[str, int], Floats]  # test values of queries, by set and fold


def searched(fits: Fits, framework: str, name: str, metric: str) -> Values:
    """Test values after a search, of the folds for which it is finished."""
    best = {
        (on, seed): best_draw(fits, on, framework, name, metric, seed)
        for on, seed in product(_sets(fits), range(SEEDS))
    }
    return {key: values_in(one["test"][metric]) for key, one in best.items() if one}


def without_search(fits: box.Fits, framework: str, contender: box.Contender, metric: str) -> Values:
    return {
        (on, seed): values_in(one["test"][metric])
        for (on, *middle, seed), one in fits.items()
        if middle == [framework, *contender]
    }


def contenders(fits: Fits, plain: box.Fits, framework: str, metric: str) -> dict[str, Values]:
    """The values of every contender after its search, and of some without one."""
    found = {name: searched(fits, framework, name, metric) for name in CONTENDERS[framework]}
    if framework in box.TREES:
        ours = box.TREES[framework], box.OURS_FOR[metric]
        own = box.OWN[framework]
        found["lambdaplus, ranking_trees without a search"] = without_search(
            plain, framework, ours, metric
        )
        found[f"{own}, default trees"] = without_search(plain, framework, ("box", own), metric)
    return found


def after_search(fits: Fits, plain: box.Fits) -> list[Table]:
    """Every contender less our objective for the metric in the same framework; and by set."""
    sets = _sets(fits)
    rows: dict[str, list[Any]] = {}
    by_set: dict[str, list[Any]] = {}
    for framework, metric in product(CONTENDERS, METRICS):
        ours_in = "lightgbm" if framework == "catboost" else framework
        ours = searched(fits, ours_in, OURS_FOR[metric], metric)
        for name, values in contenders(fits, plain, framework, metric).items():
            title = f"{name}, {FRAMEWORKS[framework]}"
            means, less = _beside(values, ours, sets)
            mean = f"{np.mean(means):.4f}" if ours.keys() <= values.keys() else ""
            rows.setdefault(title, [title]).extend([mean, less])
            by_set.setdefault(title, [title]).extend(f"{one:.4f}" for one in means)
    heads = [("", *(head for m in METRICS for head in (m.upper(), f"{m.upper()}, difference")))]
    heads.append(("", *(f"{m.upper()}, {list_sets.in_words(on)}" for m in METRICS for on in sets)))
    foot = (
        "test values, the mean over sets; differences from the objective of lambdaplus for the "
        "metric in the same framework (for CatBoost, in LightGBM), over the folds of both; no mean "
        "where searches of some folds are missing; ±: standard error over test queries"
    )
    return [Table(heads[0], [*rows.values()], [foot]), Table(heads[1], [*by_set.values()])]


def _beside(values: Values, ours: Values, sets: list[str]) -> tuple[list[float], Tested | str]:
    """The means of each set, and the difference from ours, over the folds of both."""
    both = [key for key in ours if key in values]
    each = [np.concatenate([values[key] for key in both if key[0] == on]) for on in sets]
    less = [
        np.concatenate([values[key] - ours[key] for key in both if key[0] == on]) for on in sets
    ]
    mean, error, p = mean_over_sets(less)
    cell = Tested(f"{mean:+.4f} ± {error:.4f}", p) if error else ""
    return [float(np.nanmean(one)) for one in each], cell


def over_built_in(fits: Fits) -> Table:
    """Our objective less the built-in one that is best on validation queries, after searches."""
    sets = _sets(fits)
    cells: dict[str, Tested | str] = {}
    for metric, framework in product(METRICS, box.TREES):

        def on_validation(name: str, framework: str = framework, metric: str = metric) -> float:
            best = [
                best_draw(fits, on, framework, name, metric, seed)
                for on, seed in product(sets, range(SEEDS))
            ]
            return float(np.mean([one["valid"][metric] for one in best if one]))

        built_in = set(CONTENDERS[framework]) - set(OURS_FOR.values())
        name = max(sorted(built_in), key=on_validation)
        ours = searched(fits, framework, OURS_FOR[metric], metric)
        _, found = _beside(ours, searched(fits, framework, name, metric), sets)
        head = f"{metric.upper()}, {FRAMEWORKS[framework]}"
        cells[head] = found._replace(more=f" ({name})") if isinstance(found, Tested) else found
    title = f"lambdaplus less the best built-in objective, each after {DRAWS} trials"
    return Table(["", *cells], [[title, *cells.values()]])


def chosen(fits: Fits) -> Table:
    """Settings of the best draws, so that a bound of the search that binds is seen."""
    heads = {
        "leaves": "num_leaves", "rate": "learning_rate", "rows": "bagging_fraction",
        "columns": "feature_fraction_bynode",
    }  # fmt: skip
    rows = []
    for framework, names in CONTENDERS.items():
        for name in names:
            found = []
            for on, seed, metric in product(_sets(fits), range(SEEDS), METRICS):
                best = best_draw(fits, on, framework, name, metric, seed)
                if best:
                    drawn = trees("lightgbm", best["key"][3])
                    found.append([*(drawn[one] for one in heads.values()), best["rounds"][metric]])
            quartiles = np.quantile(np.array(found, dtype=float), [0.25, 0.5, 0.75], axis=0).T
            shown = [" / ".join(f"{one:.2g}" for one in row) for row in quartiles]
            rows.append([f"{name}, {FRAMEWORKS[framework]}", *shown])
    foot = "quartiles of the trials that are best on validation queries"
    return Table(["", *heads, "rounds"], rows, [foot])


def _sets(fits: Fits) -> list[str]:
    return list(dict.fromkeys(key[0] for key in fits))


def show(given: argparse.Namespace) -> None:
    fits: Fits = {tuple(one["key"]): one for one in read(given.kept)}
    plain: box.Fits = {tuple(one["key"]): one for one in read(given.plain)}
    together, by_set = after_search(fits, plain)
    tables = {
        "After a search": together,
        "Over built-in objectives": over_built_in(fits),
        "By set": by_set,
        "Settings": chosen(fits),
    }
    keep_tables("equal-search", fits, tables)


def main() -> None:
    parser = study_parser(__doc__, "equal-search")
    parser.add_argument("--frameworks", type=lambda text: text.split(","), default=[*CONTENDERS])
    parser.add_argument("--plain", type=Path, default=Path("build/out-of-the-box"))
    run(parser.parse_args(), fit, tasks, show)


if __name__ == "__main__":
    main()
