"""Choose the share of damped pairs for each objective, on validation queries.

    python benchmarks/pair_functions.py fit SET [SET ...] [--draws 3] [--jobs 2]
    python benchmarks/pair_functions.py choose
    python benchmarks/pair_functions.py test

SET is named as in `ranking_sets.folds_by_name`.  Every objective is trained with each share, and
each framework's own objectives, with trees of 4, 16 and 64 leaves; the n-th draw has the n-th fold
and seed.  The value of a training is the highest mean of `WINDOW` consecutive evaluations on
validation queries by the objective's metric, and that of a share on a set the mean over draws and
trees.  Sets are weighted as in `defaults.py`, known items like generated ones.

The rule: the share with the highest mean over sets and frameworks, or no damping, which is cheaper,
if that is within one standard error over sets of it; or one share for all objectives, if it is
nowhere further behind the best than one error and `ONE_RULE`.

``fit`` writes each finished training to the folder --kept, from which the same command continues;
``choose`` makes the tables of validation values, and ``test`` those of test queries, where leaves
and round are chosen by validation.
"""

from __future__ import annotations

import argparse
import base64
import json
import multiprocessing
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from defaults import TRAINERS, best_window
from differences import FRAMEWORKS
from numpy.typing import ArrayLike
from ranking_sets import KNOWN_ITEMS, LABEL_NOISE, folds_by_name, generated, set_name
from rich.progress import track
from tables import keep

from lambdaplus import LambdaObjective, evaluate, lambda_objective, parse_metric
from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.data import Fold, RankingData
from lambdaplus.evaluation import Table
from lambdaplus.objectives import Objective
from lambdaplus.ranking.queries import Queries
from lambdaplus.study import Config, Method
from lambdaplus.study.methods import Task

METRICS_OF = {  # of each objective; that of ndcg@10 is that of ndcg, that of mrr that of map
    "ndcg": ("ndcg", "ndcg@10"), "map": ("map",), "auc": ("auc",)
}  # fmt: skip
METRICS = tuple(metric for mine in METRICS_OF.values() for metric in mine)
OWN = {"lightgbm": ("lambdarank",), "xgboost": ("rank:ndcg", "rank:map", "rank:pairwise")}
LEAVES = (16, 4, 64)
SETTINGS = Config(rounds=1000, patience=50, learning_rate=0.1, every=5)
TREES = {
    "lightgbm": lambda leaves: {"num_leaves": leaves, "feature_fraction": 0.7},
    "xgboost": lambda leaves: {"max_leaves": leaves, "colsample_bytree": 0.7},
}
QUERIES = (300, 300, 2000)  # of generated sets
ONE_RULE = 0.001
CHOSEN = dict.fromkeys(METRICS, "none")  # by `choose`; test queries are read for these alone


@dataclass(unsafe_hash=True)
class HalfOfEach(Objective):
    """The mean of both gradients, each normalised: both halves count the same in each query."""

    plain: LambdaObjective
    damped: LambdaObjective

    def __post_init__(self) -> None:
        self.metric, self.one_group = self.plain.metric, False

    def derivatives(self, queries: Queries, scores: ArrayLike) -> tuple[Floats, Floats]:
        both = [one.derivatives(queries, scores) for one in (self.plain, self.damped)]
        return np.mean([one[0] for one in both], axis=0), np.mean([one[1] for one in both], axis=0)


SHARES: dict[str, dict[str, Any]] = {  # in the order of their prices
    "none": {"damping": None},
    "third": {"damping": 0.01, "damped": 1 / 3},
    "half": {"damping": 0.01, "damped": 0.5},
    "two thirds": {"damping": 0.01, "damped": 2 / 3},
    "damped": {"damping": 0.01, "damped": 1.0},
    "half, level": {},
}
STAGES = (("none", "half", "damped", "own"), ("third", "half, level"), ("two thirds",))


def objective(metric: str, share: str) -> Any:
    if share == "half, level":
        return HalfOfEach(objective(metric, "none"), objective(metric, "damped"))
    return lambda_objective(metric, **SHARES[share])


Key = tuple[str, str, str, int, int]  # set, framework, name of the objective, leaves, draw


def tasks(sets: list[str], draws: int, stages: str) -> Iterator[Key]:
    """What matters most comes first, and what is finished early is balanced."""
    pairs = [
        ((n + turn) % draws, leaves) for turn in range(draws) for n, leaves in enumerate(LEAVES)
    ]
    for stage, (draw, leaves) in product(stages, dict.fromkeys(pairs)):
        for data, framework in product(sets, TRAINERS):
            for share in STAGES[int(stage)]:
                ours = [f"{metric}, {share}" for metric in METRICS_OF]
                for name in OWN[framework] if share == "own" else ours:
                    yield data, framework, name, leaves, draw


@cache
def folds(data: str) -> list[Fold]:
    kind, _, other = data.rpartition(":")
    if other in LABEL_NOISE and not kind:
        return [generated(LABEL_NOISE[data], number, QUERIES) for number in range(5)]
    return folds_by_name(data)


def fit(key: Key) -> dict[str, Any]:
    data, framework, name, leaves, draw = key
    fold, start = folds(data)[draw % 5], time.process_time()
    metric, _, share = name.partition(", ")
    target = objective(metric, share) if share else name
    metrics = tuple(parse_metric(metric) for metric in METRICS_OF.get(metric, METRICS))
    method = Method(name, TRAINERS[framework], target, "ndcg")
    task = Task(
        method, TREES[framework](leaves), fold.train, fold.valid, SETTINGS, draw, metrics, fold.name
    )
    with limit_threads(1):
        fitted: Any = TRAINERS[framework](task)
        curves = {str(metric): one.curve for metric, one in fitted.items()}
        tested = {
            str(metric): per_query(fold.test, metric, one.predict(fold.test))
            for metric, one in fitted.items()
        }
    return {
        "key": [set_name(data), *key[1:]],
        "valid": {metric: best_window(curve) for metric, curve in curves.items()},
        "rounds": {str(metric): one.rounds for metric, one in fitted.items()},
        "test": tested,
        "queries": fold.valid.n_queries,
        "seconds": time.process_time() - start,
    }


def per_query(part: RankingData, metric: Any, scores: Floats) -> str:
    """The values of all queries, as text of 16 bits for each; 65535 is NaN."""
    found = evaluate(part.labels, scores, group=part.group, metrics=[metric]).per_query[str(metric)]
    whole = np.where(np.isnan(found), 65535, np.rint(65534 * np.nan_to_num(found)))
    return base64.b64encode(whole.astype("<u2").tobytes()).decode()


def values_in(text: str) -> Floats:
    whole = np.frombuffer(base64.b64decode(text), "<u2")
    return np.where(whole == 65535, np.nan, whole / 65534)


def fit_all(given: argparse.Namespace) -> None:
    given.kept.mkdir(parents=True, exist_ok=True)
    file = given.kept / "fits.jsonl"
    finished = {tuple(one["key"]) for one in read(given.kept)}
    left = [
        key
        for key in tasks(given.sets, given.draws, given.stages)
        if (set_name(key[0]), *key[1:]) not in finished
    ]
    with multiprocessing.get_context("spawn").Pool(given.jobs) as pool, file.open("a") as out:
        for one in track(pool.imap_unordered(fit, left), total=len(left)):
            out.write(json.dumps(one, default=float) + "\n")
            out.flush()


def read(kept: Path) -> list[dict[str, Any]]:
    file = kept / "fits.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


Values = dict[str, dict[str, dict[str, dict[tuple[int, int], float]]]]
"""Validation values by name of the objective, framework, set, and leaves and draw."""


def validation_values(fits: list[dict[str, Any]], metric: str) -> Values:
    values: Values = {}
    for one in fits:
        on, framework, name, leaves, draw = one["key"]
        if metric in one["valid"]:
            by_set = values.setdefault(name.partition(", ")[2] or name, {}).setdefault(
                framework, {}
            )
            by_set.setdefault(on, {})[leaves, draw] = one["valid"][metric]
    return values


def gain(values: Values, name: str, base: str, framework: str, on: str) -> float:
    """The mean difference over the trees and draws that both have; NaN if there are none."""
    of = [values.get(one, {}).get(framework, {}).get(on, {}) for one in (name, base)]
    both = of[0].keys() & of[1].keys()
    return float(np.mean([of[0][key] - of[1][key] for key in both])) if both else np.nan


Weights = dict[str, float]  # by set


def gains(values: Values, name: str, base: str, sets: Iterable[str]) -> Floats:
    """The mean of both frameworks on each set."""
    return np.array(
        [np.mean([gain(values, name, base, one, on) for one in TRAINERS]) for on in sets]
    )


def weights_of(fits: list[dict[str, Any]]) -> dict[str, float]:
    """The root of the number of validation queries of each set; half of it for made-up ones."""
    queries = {(one["key"][0], one["key"][4]): one["queries"] for one in fits}
    return {
        name: sum(n for (on, _), n in queries.items() if on == name) ** 0.5
        / (2 if name in LABEL_NOISE or name.endswith(KNOWN_ITEMS) else 1)
        for name, _ in queries
    }


def mean_and_error(each: Floats, sets: Weights) -> tuple[float, float]:
    """The weighted mean over the sets that have a value, and its standard error."""
    known = ~np.isnan(each)
    each, weights = each[known], np.array(list(sets.values()))[known]
    n, weights = each.size, weights / weights.sum()
    mean = float(weights @ each)
    return mean, float(np.sqrt((weights**2 * (each - mean) ** 2).sum() * n / (n - 1)))


def str_of(mean: float, error: float) -> str:
    return f"{mean:+.4f} ± {error:.4f}"


def is_level(values: Values, name: str, best: str, sets: Weights, slack: float = 0.0) -> bool:
    if name == best:
        return True
    mean, error = mean_and_error(gains(values, name, best, sets), sets)
    return mean >= -error - slack


def candidates(values: Values, sets: Weights) -> list[str]:
    """The shares that were trained on every set; others are shown only."""
    return [
        name
        for name in SHARES
        if name in values and not np.isnan(gains(values, name, "none", sets)).any()
    ]


def choice(values: Values, sets: Weights) -> tuple[str, str]:
    """The best share, and the one that the rule takes: none, if it is level with the best."""
    best = max(
        candidates(values, sets),
        key=lambda name: mean_and_error(gains(values, name, "none", sets), sets)[0],
    )
    return best, "none" if is_level(values, "none", best, sets) else best


def table_of(metric: str, values: Values, sets: Weights) -> Table:
    best, rule = choice(values, sets)
    rows = []
    own = {name: framework for framework, names in OWN.items() for name in names}
    for name in [*(name for name in SHARES if name in values), *own]:
        marks = [mark for mark, one in (("best", best), ("rule", rule)) if one == name]
        where = [own[name]] if name in own else list(TRAINERS)
        each = {
            one: np.array([gain(values, name, "none", one, on) for on in sets]) for one in where
        }
        both = np.mean(list(each.values()), axis=0)
        cells = [str_of(*mean_and_error(gain, sets)) for gain in each.values()]
        if name in own:
            cells.insert(list(TRAINERS).index(own[name]), "")
            cells[1 - list(TRAINERS).index(own[name])] = ""
        rows.append([
            name + (f" ({', '.join(marks)})" if marks else ""),
            *("" if np.isnan(value) else f"{value:+.4f}" for value in both), *cells,
            str_of(*mean_and_error(both, sets)),
        ])  # fmt: skip
    foot = (
        f"validation {metric} less that of no damping, mean over draws, trees and frameworks; "
        "±: standard errors over sets; the frameworks' own objectives in their framework alone"
    )
    return Table(["share damped", *sets, "LightGBM", "XGBoost", "mean"], rows, [foot])


def one_rule(by_metric: dict[str, Values], sets: Weights) -> list[str]:
    """The shares that are nowhere behind the best by more than an error and `ONE_RULE`."""
    return [
        name
        for name in SHARES
        if all(
            name in candidates(values, sets)
            and is_level(values, name, choice(values, sets)[0], sets, ONE_RULE)
            for values in by_metric.values()
        )
    ]


def tested(fits: list[dict[str, Any]], metric: str, chosen: str, sets: Weights) -> Table:
    """Test values of a share less those of the best of the framework's own objectives.

    That is the one with the best validation values on the set.  Leaves are chosen by validation.
    """
    rows = []
    for framework in TRAINERS:
        cells, means = [], []
        for on in sets:
            found: dict[str, dict[int, tuple[float, Floats]]] = {}
            for one in fits:
                where, trained, name, _, draw = one["key"]
                share = name.partition(", ")[2] or name
                if (where, trained) == (on, framework) and metric in one["valid"]:
                    best = found.setdefault(share, {}).get(draw, (-np.inf, np.empty(0)))
                    if one["valid"][metric] > best[0]:
                        found[share][draw] = one["valid"][metric], values_in(one["test"][metric])
            own = max(
                OWN[framework], key=lambda name: np.mean([v for v, _ in found[name].values()])
            )
            draws = found[chosen].keys() & found[own].keys()
            each = np.concatenate([found[chosen][d][1] - found[own][d][1] for d in sorted(draws)])
            each = each[~np.isnan(each)]
            error = each.std(ddof=1) / each.size**0.5
            mark = "*" if abs(each.mean()) > 1.96 * error else ""
            cells.append(f"{str_of(each.mean(), error)}{mark} ({own})")
            means.append(each.mean())
        cells.append(str_of(*mean_and_error(np.array(means), sets)))
        rows.append([FRAMEWORKS[framework], *cells])
    foot = (
        f"test {metric} of {chosen} less that of the framework's own objective in brackets, the "
        "best on validation queries; ±: standard errors over queries, of the mean over sets; *: "
        "p < .05"
    )
    return Table(["", *sets, "mean"], rows, [foot])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=("fit", "choose", "test"))
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--stages", default="012", help="which shares to fit, and their order")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kept", type=Path, default=Path("build/pair-functions"))
    given = parser.parse_args()
    if given.step == "fit":
        fit_all(given)
        return
    fits = read(given.kept)
    sets = weights_of(fits)
    by_metric = {metric: validation_values(fits, metric) for metric in METRICS}
    counts = {"fits": len(fits), "hours": sum(one["seconds"] for one in fits) / 3600}
    if given.step == "choose":
        tables = {metric: table_of(metric, values, sets) for metric, values in by_metric.items()}
        keep(
            "pair-functions", "python benchmarks/pair_functions.py choose", tables,
            one_rule=one_rule(by_metric, sets), **counts,
        )  # fmt: skip
    else:
        tables = {metric: tested(fits, metric, CHOSEN[metric], sets) for metric in METRICS}
        keep("pair-functions-test", "python benchmarks/pair_functions.py test", tables, **counts)


if __name__ == "__main__":
    main()
