"""What each change of a training gives: trees, rounds, features, queries, objective, seeds.

    python benchmarks/what_helps.py SET [SET ...]

Trains with the frameworks' defaults (LightGBM: 31 leaves, learning rate .1; XGBoost: depth 6,
learning rate .3), with smaller trees and rates, with parts of the training queries, and with five
seeds.  What is chosen is chosen on the validation queries of a fold, by the metric in the table;
test queries are read for the differences only.  The other rows are those of `one_line.py`,
`relative.py` and `defaults.py`, from their results.  SET is named as in `relative.py`.  Finished
trainings are lines of the file --kept, from which the same command continues.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from differences import FRAMEWORKS, Difference, Values, difference
from numpy.typing import NDArray
from ranking_sets import set_name
from relative import METRICS, folds_of_set
from rich.progress import track
from scipy.stats import ttest_1samp
from tables import RESULTS, Tested, keep

from lambdaplus import eval_metric, evaluate, lambda_map
from lambdaplus.data import Fold, RankingData
from lambdaplus.estimators.boosters import train_lightgbm, train_xgboost
from lambdaplus.evaluation import Table
from lambdaplus.study.trainers import Validation

ROUNDS, PATIENCE = 1000, 100
USUAL_ROUNDS = 100  # of LGBMRanker and XGBRanker
OBJECTIVES = {
    "lightgbm": {"lambdarank": "lambdarank", "lambda_map": lambda_map},
    "xgboost": {"rank:ndcg": "rank:ndcg", "lambda_map": lambda_map},
}
DEFAULTS = "defaults"
SIZES = tuple((leaves, rate) for leaves in (4, 16) for rate in (0.1, 0.03))
SAMPLED = {
    "lightgbm": {"feature_fraction": 0.5, "bagging_fraction": 0.7, "bagging_freq": 1},
    "xgboost": {"colsample_bytree": 0.5, "subsample": 0.7},
}
SHARES = (0.25, 0.5, 1.0)  # of the training queries
SEEDS = 5
BOTH = "both"
WORDS = {"rank": "ranks", "z": "z"}
Array = NDArray[np.float64]


class Model(NamedTuple):
    """Validation values by metric and round, scores by the number of trees, processor time."""

    curves: Mapping[str, list[float]]
    scores: Callable[[int], Array]
    seconds: float


TRAIN = {"lightgbm": train_lightgbm, "xgboost": train_xgboost}
RATE = {"lightgbm": 0.1, "xgboost": 0.3}  # the frameworks' defaults


def sized(framework: str, leaves: int) -> dict[str, Any]:
    """The parameters for trees of so many leaves; for 0, of the framework's default size."""
    if framework == "lightgbm":
        return {"num_leaves": leaves or 31}
    return {"grow_policy": "lossguide", "max_leaves": leaves, "max_depth": 0} if leaves else {}


def model_of(
    framework: str, train: RankingData, fold: Fold, objective: Any, leaves: int, rate: float,
    seed: int = 0, **others: Any,
) -> Model:  # fmt: skip
    """Train until a metric has not improved for 100 rounds: any in LightGBM, the last in XGBoost.

    These are the rules of the frameworks' own early stopping.
    """
    validation = Validation(fold.valid, eval_metric(*METRICS).metrics, PATIENCE)

    def watch(scores: Array) -> bool:
        validation.see(scores)
        over = [progress.over for progress in validation.progress.values()]
        return any(over) if framework == "lightgbm" else over[-1]

    params = {**sized(framework, leaves), "learning_rate": rate, **others}
    start = time.process_time()
    predict = TRAIN[framework](
        objective, params, train, fold.valid, watch, rounds=ROUNDS, seed=seed
    )
    seconds = time.process_time() - start
    curves = {str(metric): progress.values for metric, progress in validation.progress.items()}
    return Model(curves, lambda n: predict(fold.test, n), seconds)


def measured(fold: Fold, framework: str, objective: Any, number: int) -> dict[str, Any]:
    """All trainings of an objective on a fold: by their name, values of each metric."""
    found: dict[str, Any] = {}

    def train(data: RankingData, leaves: int, rate: float, **others: Any) -> Model:
        return model_of(framework, data, fold, objective, leaves, rate, **others)

    def note(name: str, model: Model, scores: Array | None = None) -> None:
        values: dict[str, Any] = {"seconds": model.seconds}
        for metric in METRICS:
            curve = model.curves[metric]
            best = int(np.argmax(curve)) + 1
            usual = min(USUAL_ROUNDS, len(curve))
            values[metric] = {
                "round": best,
                "validation": curve[best - 1],
                "test": value(fold, metric, model.scores(best) if scores is None else scores),
                "test of the usual rounds": value(fold, metric, model.scores(usual)),
            }
        found[name] = values

    note(DEFAULTS, train(fold.train, 0, RATE[framework]))
    for leaves, rate in SIZES:
        note(f"{leaves} leaves, {rate:g}", train(fold.train, leaves, rate))
    order = np.random.default_rng(number).permutation(fold.train.n_queries)
    for share in SHARES[:-1]:
        part = fold.train.take_queries(np.sort(order[: round(share * order.size)]))
        note(f"share {share:g}", train(part, 4, 0.1))
    models = [train(fold.train, 4, 0.1, seed=seed, **SAMPLED[framework]) for seed in range(SEEDS)]
    for seed, model in enumerate(models):
        note(f"seed {seed}", model)
    for metric in METRICS:
        mean = np.mean([m.scores(int(np.argmax(m.curves[metric])) + 1) for m in models], axis=0)
        found.setdefault("seeds averaged", {})[metric] = {"test": value(fold, metric, mean)}
    return found


def value(fold: Fold, metric: str, scores: Array) -> float:
    test = fold.test
    return float(evaluate(test.labels, scores, group=test.group, metrics=[metric]).mean[metric])


class Unit(NamedTuple):
    """All trainings of an objective on a fold."""

    on: str
    fold: str
    framework: str
    objective: str
    found: dict[str, Any]


def trained(sets: Iterable[str], kept: Path) -> list[Unit]:
    kept.parent.mkdir(parents=True, exist_ok=True)
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    units = {tuple(line[:4]): Unit(*line) for line in map(json.loads, lines)}
    for data in sets:
        for number, fold in enumerate(track(folds_of_set(data), description=set_name(data))):
            for framework, objectives in OBJECTIVES.items():
                for name, objective in objectives.items():
                    key = (set_name(data), fold.name, framework, name)
                    if key not in units:
                        units[key] = Unit(*key, measured(fold, framework, objective, number))
                        with kept.open("a", encoding="utf-8") as file:
                            file.write(json.dumps(units[key]) + "\n")
    return list(units.values())


class Row(NamedTuple):
    """One change: the differences of both metrics, and the time of the training by the change."""

    change: str
    framework: str
    gains: dict[str, Difference]
    times: float | None
    source: str


def chosen(unit: Unit, names: Iterable[str], metric: str) -> dict[str, Any]:
    """The training with the highest validation value."""
    every = [unit.found[name][metric] for name in names]
    return max(every, key=lambda one: one["validation"])


SIZE_NAMES = [DEFAULTS, *(f"{leaves} leaves, {rate:g}" for leaves, rate in SIZES)]
SEED_NAMES = [f"seed {seed}" for seed in range(SEEDS)]
WHOLE = "4 leaves, 0.1"
CHANGES: dict[str, tuple[Callable[[Unit, str], float], Callable[[Unit, str], float], Any, Any]] = {
    # by name: the value with the change, the value without it, names of trainings for the time
    "rounds by validation, not 100": (
        lambda unit, metric: unit.found[DEFAULTS][metric]["test"],
        lambda unit, metric: unit.found[DEFAULTS][metric]["test of the usual rounds"],
        None, None,
    ),
    "trees and learning rate by validation": (
        lambda unit, metric: chosen(unit, SIZE_NAMES, metric)["test"],
        lambda unit, metric: unit.found[DEFAULTS][metric]["test"],
        SIZE_NAMES, [DEFAULTS],
    ),
    "50% of the training queries, not 25%": (
        lambda unit, metric: unit.found["share 0.5"][metric]["test"],
        lambda unit, metric: unit.found["share 0.25"][metric]["test"],
        ["share 0.5"], ["share 0.25"],
    ),
    "100% of the training queries, not 50%": (
        lambda unit, metric: unit.found[WHOLE][metric]["test"],
        lambda unit, metric: unit.found["share 0.5"][metric]["test"],
        [WHOLE], ["share 0.5"],
    ),
    "mean of the scores of five seeds": (
        lambda unit, metric: unit.found["seeds averaged"][metric]["test"],
        lambda unit, metric: float(
            np.mean([unit.found[name][metric]["test"] for name in SEED_NAMES])
        ),
        SEED_NAMES, SEED_NAMES[:1],
    ),
}  # fmt: skip


def own_rows(units: list[Unit]) -> list[Row]:
    """The changes that this script measures, as means over both objectives of a framework."""
    rows = []
    for change, (after, before, more, less) in CHANGES.items():
        for framework, name in FRAMEWORKS.items():
            subset = [unit for unit in units if unit.framework == framework]
            if subset:
                gains = {m: _gain(subset, m, after, before) for m in METRICS}
                times = _seconds(subset, more) / _seconds(subset, less) if more else None
                rows.append(Row(change, name, gains, times, "what_helps.py"))
    return rows


def _seconds(units: Iterable[Unit], names: Iterable[str]) -> float:
    return sum(unit.found[name]["seconds"] for unit in units for name in names)


def _gain(units: list[Unit], metric: str, after: Any, before: Any) -> Difference:
    values: Values = {"after": {}, "before": {}}
    for on in dict.fromkeys(unit.on for unit in units):
        folds = dict.fromkeys(unit.fold for unit in units if unit.on == on)
        for name, of in {"after": after, "before": before}.items():
            values[name][on] = np.array([
                np.mean([of(unit, metric) for unit in units if (unit.on, unit.fold) == (on, fold)])
                for fold in folds
            ])  # fmt: skip
    return difference(values, "after", "before", list(values["after"]))


def stored(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def other_rows() -> list[Row]:
    """The changes that other scripts measured."""
    rows = []
    gains = [gain for gain in stored("one-line")["gains"] if gain["on"] == "mean"]
    for framework in ("lightgbm", "xgboost"):
        values = {
            gain["metric"]: Difference(gain["mean"], gain["error"], gain["p"])
            for gain in gains
            if gain["framework"] == framework and gain["metric"] in METRICS
        }
        change = "the lambdaplus objective, not the best built-in"
        rows.append(Row(change, FRAMEWORKS[framework], values, None, "one_line.py"))
    for gain in stored("relative")["changes"]:
        if gain["kind"] in WORDS:
            values = {metric: Difference(*gain["gains"][metric]) for metric in METRICS}
            times = _times_of_ranks() if gain["framework"] == "lightgbm" else None
            change = f"{WORDS[gain['kind']]} in the query beside the features"
            rows.append(Row(change, FRAMEWORKS[gain["framework"]], values, times, "relative.py"))
    names = {"map": ("MAP without", "map"), "ndcg@10": ("NDCG@10", "ndcg")}
    for option in ("damping",):
        values = {m: _of_options(title, n, f"{n}, {option}") for m, (title, n) in names.items()}
        price = _price("MAP without", f"map, {option}") / _price("MAP without", "map")
        rows.append(
            Row(f"the lambdaplus objective with {option}", BOTH, values, price, "defaults.py")
        )
    values = {"ndcg@10": _of_options("NDCG@10", "ndcg", "ndcg + auc")}
    price = _price("NDCG@10", "ndcg + auc") / _price("NDCG@10", "ndcg")
    rows.append(Row("ndcg + auc, not ndcg", BOTH, values, price, "defaults.py"))
    return rows


def by_size(rows: list[Row]) -> list[Row]:
    """The rows of the change with the largest mean gain first."""
    gains: dict[str, list[float]] = {}
    for row in rows:
        gains.setdefault(row.change, []).extend(gain.mean for gain in row.gains.values())
    return sorted(rows, key=lambda row: -np.mean(gains[row.change]))


def _options(title: str) -> dict[str, list[str]]:
    """The cells of a table of `defaults.py` by its options, without the marks of these."""
    tables = stored("defaults")["tables"]
    rows = next(table["rows"] for table in tables if table["title"].startswith(title))
    return {row[0].partition(" (")[0]: row[1:] for row in rows}


def _of_options(title: str, base: str, option: str) -> Difference:
    """The difference of two options, with its error over sets."""
    rows = _options(title)
    pairs = zip(rows[option][1:-1], rows[base][1:-1], strict=True)
    gains = np.array([float(one) - float(other) for one, other in pairs if one and other])
    error = float(gains.std(ddof=1) / gains.size**0.5)
    return Difference(float(gains.mean()), error, float(ttest_1samp(gains, 0.0).pvalue))


def _price(title: str, option: str) -> float:
    """Nanoseconds of a gradient on queries as in MSLR."""
    return float(_options(title)[option][0].partition(" / ")[0])


def _times_of_ranks() -> float:
    [table] = stored("relative-speed")["tables"]
    raw, relative = (row[3] for row in table["rows"] if row[0].startswith("lambdarank"))
    return float(relative / raw)


def learning_curve(units: list[Unit]) -> Table:
    """Test values by the share of the training queries, and the number of these."""
    rows = []
    for on in dict.fromkeys(unit.on for unit in units):
        subset = [unit for unit in units if unit.on == on]
        for share in SHARES:
            name = WHOLE if share == 1.0 else f"share {share:g}"
            means = [np.mean([unit.found[name][m]["test"] for unit in subset]) for m in METRICS]
            rows.append([on, f"{share:g}", *means])
    return Table(
        ["", "share of the training queries", *METRICS.values()], rows,
        ["test means over folds, frameworks and objectives; 4 leaves, learning rate .1"],
    )  # fmt: skip


def short_table(rows: list[Row]) -> Table:
    """A row for each change, with the gains in both frameworks."""
    by_change: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_change.setdefault(row.change, {})[row.framework] = row
    names = [FRAMEWORKS[framework] for framework in OBJECTIVES]
    shown = []
    for change, by_framework in by_change.items():
        cells = []
        for metric in METRICS:
            if BOTH in by_framework:
                gain = by_framework[BOTH].gains.get(metric)
                cells += [_short(gain, "both: ") if gain else "", ""]
            else:
                cells += [_short(by_framework[name].gains[metric]) for name in names]
        times = [f"{row.times:.1f}" for row in by_framework.values() if row.times is not None]
        shown.append([change, *cells, " / ".join(times)])
    heads = [f"{METRICS[metric]}, {name}" for metric in METRICS for name in names]
    foot = (
        "±: standard errors; t-tests; time: a multiple of that of the training; for damping and "
        "the sum, of that of a gradient"
    )
    return Table(["", *heads, "time"], shown, [foot])


def _short(gain: Difference, before: str = "") -> Tested:
    text = f"{gain.mean:+.3f} ± {gain.error:.3f}".replace("0.", ".")
    return Tested(before + text, gain.p)


def full_table(rows: list[Row]) -> Table:
    shown = [
        [row.change, row.framework, *cells, row.source]
        for row in rows
        for cells in [[row.gains[m].cell if m in row.gains else "" for m in METRICS]]
    ]
    foot = (
        "gains in test metrics, ±: standard errors over folds; of defaults.py in validation "
        "metrics, over sets; t-tests"
    )
    return Table(["", "", *METRICS.values(), "measured by"], shown, [foot])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="+")
    parser.add_argument("--kept", type=Path, default=Path("build/what-helps.jsonl"))
    parser.add_argument("--train-only", action="store_true", help="show no results")
    parser.add_argument("--results", default="what-helps", help="name in benchmarks/results")
    given = parser.parse_args()
    units = trained(given.sets, given.kept)
    if given.train_only:
        return
    rows = by_size([*own_rows(units), *other_rows()])
    tables = {
        "What each change gives": short_table(rows),
        "The same with four digits": full_table(rows),
        "Learning curve": learning_curve(units),
    }
    late = [
        one[metric]["round"] > 0.9 * ROUNDS
        for unit in units
        for name, one in unit.found.items()
        if name != "seeds averaged"
        for metric in METRICS
    ]
    command = " ".join(["python benchmarks/what_helps.py", *sys.argv[1:]])
    numbers = [{**row._asdict(), "gains": {m: [*g] for m, g in row.gains.items()}} for row in rows]
    keep(
        given.results, command, tables, rows=numbers,
        share_of_rounds_at_the_end=float(np.mean(late)),
    )  # fmt: skip


if __name__ == "__main__":
    main()
