"""Choose the default options of our objectives' pairs, without log-loss, on validation queries.

    python benchmarks/defaults.py SET [SET ...] [--draws 5]

The rule is the cheapest option within one standard error of the best, over both frameworks.  Tables
mark its choice among all options ("rule") and among those whose gradient costs at most `AT_MOST`
times lambdarank's ("chosen").  SET is a folder of LETOR folds, generated-clean or generated-noisy;
its weight is the root of its number of queries, and half of that for generated sets.

The n-th draw of the trees' parameters is the same for every objective, and is trained on the n-th
fold.  The value of a training is the highest mean of `WINDOW` consecutive evaluations on validation
queries.  Finished trainings are stored in the folder --kept.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import contenders
import numpy as np
from one_line import OWN, SETTINGS, with_trees
from ranking_sets import LABEL_NOISE, folds_by_name, set_name
from rich.progress import track
from tables import keep

from lambdaplus import lambda_objective
from lambdaplus.evaluation import Table
from lambdaplus.study import Config, Method, Study, find_methods
from lambdaplus.study.trainers import train_lightgbm, train_xgboost

TRAINERS = {"lightgbm": train_lightgbm, "xgboost": train_xgboost}
METRICS = ("map", "ndcg", "auc", "ndcg@10", "ndcg@5", "map@5", "p@5", "mrr", "success@1")
WINDOW = 5
AT_MOST = (0.6, 0.9)  # of lambdarank's time, on queries as in MSLR and on short ones
WITHOUT_CUTOFF = ("map", "ndcg", "auc")
PAIRS_ALONE: dict[str, Any] = {"damping": None, "pointwise": 0.0}
OPTIONS: dict[str, dict[str, Any]] = {
    "": {},
    ", damping": {"damping": 0.01},
}
CUT = ("ndcg@10", "ndcg@5", "map@5", "p@5", "mrr")
SUMS = ("ndcg + auc", "map + auc", "mrr + auc", "mrr + map")
OURS: dict[str, tuple[str, dict[str, Any]]] = {  # name: the metric, options
    **{m + name: (m, options) for m in WITHOUT_CUTOFF for name, options in OPTIONS.items()},
    **{m: (m, {}) for m in CUT},
    **{m: (m, {"pairs": "swap"} if "auc" in m else {}) for m in SUMS},
}
UNCUT = tuple(m + name for m in WITHOUT_CUTOFF for name in OPTIONS)
CANDIDATES: dict[str, Sequence[str]] = {  # by metric: what may be its default
    **{m: [m + name for name in OPTIONS] for m in WITHOUT_CUTOFF},
    **{m: [m, *UNCUT, *SUMS] for m in CUT},
    "success@1": ["mrr", *UNCUT, *SUMS],
}


def objective(name: str) -> Any:
    metric, options = OURS[name]
    surrogate = {} if "+" in metric else {"surrogate": metric}  # of this metric, not its default
    return lambda_objective(metric, **{**PAIRS_ALONE, **surrogate, **options})


def methods(framework: str) -> list[Method]:
    own = find_methods(",".join(f"{framework}:{name}" for name in OWN[framework]))
    trainer = TRAINERS[framework]
    ours = [Method(f"{framework}:{name}", trainer, objective(name), "ndcg") for name in OURS]
    return [*ours, *own]


class Training(NamedTuple):
    """One training, with the mean of its best window by each metric."""

    framework: str
    name: str
    on: str
    draw: int
    value: dict[str, float]


def trained(
    data: str, every: list[Method], metrics: Sequence[str], draws: int, kept: Path, jobs: int,
    settings: Config = SETTINGS,
) -> list[Training]:  # fmt: skip
    folds = folds_by_name(data)
    trainings = []
    for number in track(range(draws), description=set_name(data)):
        drawn = [with_trees(method, number) for method in every]
        study = Study(
            [folds[number % len(folds)]], drawn, list(metrics),
            replace(settings, seeds=(number,), trials=1), folder=kept / set_name(data), jobs=jobs,
        )  # fmt: skip
        study.finish()
        by_method: dict[str, dict[str, float]] = {}
        curves = study.results.curves.group_by("method", "metric", maintain_order=True)
        for (method, metric), curve in curves:
            by_method.setdefault(str(method), {})[str(metric)] = best_window(curve["value"])
        for method, value in by_method.items():
            framework, _, name = method.partition(":")
            trainings.append(Training(framework, name, set_name(data), number, value))
    return trainings


def best_window(curve: Any) -> float:
    """The highest mean over consecutive values."""
    width = min(WINDOW, len(curve))
    return float(np.convolve(curve, np.full(width, 1 / width), "valid").max())


def prices() -> dict[str, list[float]]:
    """Nanoseconds of a gradient per row, on queries as in MSLR and short ones, on one thread."""
    found: dict[str, list[float]] = {}
    for shape in (contenders.web_search(2000), contenders.short_queries(200_000)):
        ours = {name: objective(name) for name in OURS}
        for name, ms in contenders.milliseconds(shape, 9, 1, ours=ours).items():
            found.setdefault(name.partition(" ")[2], []).append(1e6 * ms / shape.labels.size)
    return found


Values = dict[tuple[str, int], float]  # by set and draw


def mean_and_error(values: Values, weight_of: dict[str, float]) -> tuple[float, float]:
    """Weighted mean over sets, each the mean of its draws, and its standard error."""
    sets = [on for on, _ in values]
    weight = np.array([weight_of[on] / sets.count(on) for on in sets])
    weight /= weight.sum()
    each = np.array(list(values.values()))
    mean, n = float(weight @ each), len(each)
    return mean, float(np.sqrt((weight**2 * (each - mean) ** 2).sum() * n / (n - 1)))


def cheapest_of_best(
    values: dict[str, Values], price: dict[str, list[float]], weight_of: dict[str, float]
) -> tuple[str, str]:
    """The best option, and the cheapest within one standard error of it."""
    best = max(values, key=lambda name: mean_and_error(values[name], weight_of)[0])

    def is_level(name: str) -> bool:
        less = {key: value - values[best][key] for key, value in values[name].items()}
        mean, error = mean_and_error(less, weight_of)
        return mean >= -error

    return best, next(
        name for name in sorted(values, key=lambda n: sum(price[n])) if is_level(name)
    )


def table_of(
    metric: str, trainings: list[Training], price: dict[str, list[float]],
    weight_of: dict[str, float],
) -> Table:  # fmt: skip
    """The difference of each option from the best one, in the order of cost."""
    by_name: dict[str, dict[tuple[str, int], list[float]]] = {}
    for one in trainings:
        mine = by_name.setdefault(one.name, {})
        mine.setdefault((one.on, one.draw), []).append(one.value[metric])
    values = {
        name: {key: float(np.mean(each)) for key, each in mine.items()}
        for name, mine in by_name.items()
    }
    options = {name: values[name] for name in CANDIDATES[metric]}
    best, rule = cheapest_of_best(options, price, weight_of)
    dear = np.array(AT_MOST) * price["lambdarank"]
    cheap = {name: mine for name, mine in options.items() if (price[name] <= dear).all()}
    _, chosen = cheapest_of_best(cheap, price, weight_of)
    rows = []
    own = [name for framework in TRAINERS for name in OWN[framework]]
    for name in [*sorted(options, key=lambda n: sum(price[n])), *own]:
        less = {key: value - values[best][key] for key, value in values[name].items()}
        marks = {"best": best, "rule": rule, "chosen": chosen}
        named = [mark for mark, marked in marks.items() if marked == name]
        by_set = [np.mean([v for (on, _), v in less.items() if on == one]) for one in weight_of]
        mean, error = mean_and_error(less, weight_of)
        rows.append([
            name + (f" ({', '.join(named)})" if named else ""),
            " / ".join(f"{ns:.0f}" for ns in price.get(name, [])),
            *(f"{value:+.4f}" for value in by_set), f"{mean:+.4f} ± {error:.4f}",
        ])  # fmt: skip
    foot = (
        f"validation {metric} minus that of {best}; ns: time of a gradient per row, on queries as "
        "in MSLR and on short ones; ±: standard errors over pairs of a set and a draw"
    )
    return Table(["", "ns", *weight_of, "mean"], rows, [foot])


def read_arguments(name: str, description: str) -> argparse.Namespace:
    """The arguments of a script that trains draws; ``name`` is that of its results."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kept", type=Path, default=Path("build") / name)
    parser.add_argument("--results", default=name, help="name in benchmarks/results")
    return parser.parse_args()


def main() -> None:
    given = read_arguments("defaults", __doc__.splitlines()[0])
    trainings, weight_of = [], {}
    every = [method for framework in TRAINERS for method in methods(framework)]
    for data in given.sets:
        trainings += trained(data, every, METRICS, given.draws, given.kept, given.jobs)
        queries = sum(fold.valid.n_queries for fold in folds_by_name(data))
        weight_of[set_name(data)] = queries**0.5 * (0.5 if data in LABEL_NOISE else 1.0)
    price = prices()
    keep(
        given.results,
        " ".join(["python benchmarks/defaults.py", *sys.argv[1:]]),
        {metric: table_of(metric, trainings, price, weight_of) for metric in CANDIDATES},
    )


if __name__ == "__main__":
    main()
