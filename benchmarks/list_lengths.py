"""Which defaults suit which length of the lists: our options beside what a user would take.

    python benchmarks/list_lengths.py fit SET [SET ...] [--seeds 2] [--jobs 2]
    python benchmarks/list_lengths.py show

SET is named as in `list_sets`.  Every contender is trained on the same folds, with trees and
learning rate as in `SETTINGS` and the defaults of its framework otherwise, on one thread.  For each
metric, the round is the one with the highest validation value; these values choose the defaults.
``fit`` writes each finished training to the folder --kept, from which the same command continues.
"""

from __future__ import annotations

import argparse
import base64
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from defaults import TRAINERS
from differences import FRAMEWORKS
from list_sets import fold_of
from ranking_sets import set_name
from rich.progress import track
from scipy.stats import ttest_1samp
from tables import Tested, keep

from lambdaplus import evaluate, lambda_objective
from lambdaplus.compute.array_types import Floats
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.data import RankingData
from lambdaplus.evaluation import Table
from lambdaplus.study import Config, Method
from lambdaplus.study.methods import Task, parse_criterion

METRICS = ("map", "ndcg@10", "auc")
SETTINGS = Config(rounds=300, patience=60, learning_rate=0.1, every=5)
TREES: dict[str, dict[str, Any]] = {
    "lightgbm": {"num_leaves": 31},
    "xgboost": {"max_depth": 6, "max_leaves": 0, "grow_policy": "depthwise"},
}
PLAIN: dict[str, Any] = {"damping": None, "pointwise": 0.0}
OURS = {
    "map, pairs alone": ("map", PLAIN),
    "map, damped .1": ("map", {**PLAIN, "damping": 0.1}),
    "map, damped .1, log-loss": ("map", {}),
    "map, damped .1, 3/4 log-loss": ("map", {"pointwise": 0.75}),
    "map, damped .01, log-loss": ("map", {"damping": 0.01}),
    "auc, swap deltas": ("auc", {**PLAIN, "pairs": "swap"}),
    "auc, equal pairs, log-loss": ("auc", {"damping": None, "pointwise": 0.5, "pairs": "equal"}),
    "ndcg, pairs alone": ("ndcg", PLAIN),
    "ndcg, damped .1, log-loss": ("ndcg", {}),
    "ndcg, top 30, damped .1, log-loss": ("ndcg", {"truncation": 30}),
}
THEIRS: dict[str, dict[str, dict[str, Any]]] = {
    "lightgbm": {
        "log-loss": {"objective": "binary"},
        "lambdarank": {"objective": "lambdarank"},
        "lambdarank, top 300": {"objective": "lambdarank", "lambdarank_truncation_level": 300},
        "rank_xendcg": {"objective": "rank_xendcg"},
    },
    "xgboost": {
        "log-loss": {"objective": "binary:logistic"},
        "rank:ndcg": {"objective": "rank:ndcg"},
        "rank:map": {"objective": "rank:map"},
        "rank:map, mean": {"objective": "rank:map", "lambdarank_pair_method": "mean"},
    },
}
LONG = ("images of digits", "flights of a day", "clueweb09")
NOW = "{}, damped .1, log-loss"  # the options that are defaults
# What makes a training cheaper: a sample of the irrelevant documents, or of the rows by gradient.
NEGATIVES = {"map, a quarter of the negatives": 0.25, "map, a tenth of the negatives": 0.1}
GOSS = "map, GOSS"
Key = tuple[str, str, str, int]  # set, framework, name, seed


def tasks(sets: list[str], seeds: int, which: str) -> Iterator[Key]:
    for seed, on, framework in product(range(seeds), sets, THEIRS):
        of = {
            "all": (*THEIRS[framework], *OURS),
            "defaults": (*THEIRS[framework], *map(NOW.format, ("map", "ndcg"))),
            "cheaper": (*NEGATIVES, GOSS) if framework == "lightgbm" else (),
        }
        for name in of[which]:
            yield on, framework, name, seed


def fit(key: Key, rounds: int) -> dict[str, Any]:
    on, framework, name, seed = key
    fold, start = fold_of(on, seed), time.process_time()
    params = dict(THEIRS[framework].get(name, {}))
    target = params.pop("objective", None)
    if name == GOSS:
        params["data_sample_strategy"] = "goss"
    train = fold.train
    if name in NEGATIVES:
        drawn = np.random.default_rng(seed).random(train.labels.size) < NEGATIVES[name]
        rows = (train.labels >= 1) | drawn
        train = RankingData(train.features[rows], train.labels[rows], train.qid[rows])
    if target is None:
        metric, options = OURS.get(name, OURS[NOW.format("map")])
        target = lambda_objective(metric, **options)
    metrics = tuple(map(parse_criterion, METRICS))
    method = Method(name, TRAINERS[framework], target, "map")
    with limit_threads(1):
        fitted: Any = TRAINERS[framework](
            Task(
                method, {**TREES[framework], **params}, train, fold.valid,
                replace(SETTINGS, rounds=rounds), seed,
                metrics, fold.name,
            )
        )  # fmt: skip
        seconds = time.process_time() - start
        tested = {
            str(m): per_query(fold.test, m, one.predict(fold.test)) for m, one in fitted.items()
        }
    return {
        "key": key,
        "valid": {str(metric): max(one.curve) for metric, one in fitted.items()},
        "rounds": {str(metric): one.rounds for metric, one in fitted.items()},
        "test": tested,
        "per_round": seconds / max(len(one.curve) * one.every for one in fitted.values()),
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
    finished = {tuple(one["key"]) for one in read(given.kept)}
    left = [key for key in tasks(given.sets, given.seeds, given.which) if key not in finished]
    file = given.kept / "fits.jsonl"
    with multiprocessing.get_context("spawn").Pool(given.jobs) as pool, file.open("a") as out:
        for one in track(
            pool.imap_unordered(partial(fit, rounds=given.rounds), left), total=len(left)
        ):
            out.write(json.dumps(one, default=float) + "\n")
            out.flush()


def read(kept: Path) -> list[dict[str, Any]]:
    file = kept / "fits.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


Fits = dict[Key, dict[str, Any]]
DEFAULT = {"map": "map", "auc": "map", "ndcg@10": "ndcg"}  # the objective of each metric


def in_words(name: str) -> str:
    kind, _, rest = name.partition(":")
    if kind == "generated":
        documents, share, noise, spread = rest.split(":")
        return f"{documents} documents, {float(share):.0%} relevant, noise {noise}, {spread}"
    return {"digits": "images of digits", "flights": "flights of a day"}.get(kind) or set_name(name)


def difference(fits: Fits, on: str, framework: str, one: str, other: str, metric: str) -> Floats:
    """Test values of one contender less another by query, of all seeds that both have."""
    pairs = [
        values_in(fits[on, framework, one, seed]["test"][metric])
        - values_in(fits[on, framework, other, seed]["test"][metric])
        for seed in range(99)
        if (on, framework, one, seed) in fits and (on, framework, other, seed) in fits
    ]
    found = np.concatenate(pairs) if pairs else np.empty(0)
    return found[~np.isnan(found)]


def as_cell(values: Floats, more: str = "") -> Tested | str:
    """The mean and its error, with the p-value of a t-test."""
    if values.size < 2:
        return ""
    mean, error = float(values.mean()), float(values.std(ddof=1) / values.size**0.5)
    p = float(ttest_1samp(values, 0.0).pvalue) if error else np.nan
    return Tested(f"{mean:+.4f} ± {error:.4f}", p, more)


def best_contender(fits: Fits, on: str, framework: str, metric: str) -> str:
    """What a user would take, with the highest mean on validation queries."""
    seen = {
        name: np.mean(
            [fit["valid"][metric] for key, fit in fits.items() if key[:3] == (on, framework, name)]
        )
        for name in THEIRS[framework]
        if any(key[:3] == (on, framework, name) for key in fits)
    }
    return max(seen, key=lambda name: seen[name])


def by_set(fits: Fits, framework: str) -> Table:
    rows = []
    for on in dict.fromkeys(key[0] for key in fits if key[1] == framework):
        cells: list[Tested | str] = [in_words(on)]
        for metric, objective in DEFAULT.items():
            now = NOW.format(objective)
            best = best_contender(fits, on, framework, metric)
            for other, more in (("log-loss", ""), (best, f" ({best})")):
                cells.append(as_cell(difference(fits, on, framework, now, other, metric), more))
        own = "lambdarank" if framework == "lightgbm" else "rank:ndcg"
        ratio = [
            fits[on, framework, NOW.format("map"), seed]["per_round"]
            / fits[on, framework, own, seed]["per_round"]
            for seed in range(99)
            if (on, framework, own, seed) in fits
            and (on, framework, NOW.format("map"), seed) in fits
        ]
        rows.append([*cells, f"{np.mean(ratio):.2f}" if ratio else ""])
    heads = [
        f"{m.upper()} less {other}" for m in DEFAULT for other in ("log-loss", "best contender")
    ]
    foot = (
        "test values of the default objective of each metric less those of log-loss, and of the "
        "best contender on validation queries, in brackets; ±: standard errors over test queries; "
        f"time: of a round with `map`, relative to {own}"
    )
    return Table(["set", *heads, "time"], rows, [foot])


def is_long(name: str) -> bool:
    """Whether lists have 300 documents or more; those of ClueWeb09 have 230 to 728."""
    kind, _, rest = name.partition(":")
    return int(rest.split(":")[0]) >= 300 if kind == "generated" else in_words(name) in LONG


def by_length(fits: Fits) -> Table:
    """Means over sets of the defaults less log-loss, and less the best contender of each set."""
    rows = []
    sets = list(dict.fromkeys(key[0] for key in fits))
    for framework, long in product(THEIRS, (True, False)):
        some = [on for on in sets if is_long(on) == long]
        cells = []
        for metric, objective in DEFAULT.items():
            now = NOW.format(objective)
            others = [best_contender(fits, on, framework, metric) for on in some]
            for names in (["log-loss"] * len(some), others):
                each = [
                    difference(fits, on, framework, now, other, metric).mean()
                    for on, other in zip(some, names, strict=True)
                ]
                cells.append(as_cell(np.array(each)))
        length = "300 documents and more" if long else "10 to 150 documents"
        rows.append([f"{FRAMEWORKS[framework]}, {len(some)} sets of {length}", *cells])
    heads = [f"{m.upper()} less {other}" for m in DEFAULT for other in ("log-loss", "best")]
    foot = "best: the contender with the highest validation value on the set; ±: over sets"
    return Table(["", *heads], rows, [foot])


def by_option(fits: Fits, framework: str) -> Table:
    """Validation values of each contender less those of the default, which they chose."""
    rows = []
    for name in [*THEIRS[framework], *OURS]:
        cells = []
        for metric, objective in DEFAULT.items():
            default = NOW.format(objective)
            each = [
                fit["valid"][metric] - fits[on, framework, default, seed]["valid"][metric]
                for (on, where, contender, seed), fit in fits.items()
                if (where, contender) == (framework, name)
                and (on, framework, default, seed) in fits
            ]
            cells.append(as_cell(np.array(each)))
        rows.append([name, *cells])
    foot = "validation values less those of the default objective; ±: standard errors over sets"
    return Table(["", *map(str.upper, DEFAULT)], rows, [foot])


def cheaper(fits: Fits) -> Table:
    rows = []
    for on in dict.fromkeys(key[0] for key in fits if key[2] == GOSS):
        for name in (*NEGATIVES, GOSS):
            all_rows = NOW.format("map")
            both = [fits[on, "lightgbm", one, 0]["per_round"] for one in (name, all_rows)]
            cells = [
                as_cell(difference(fits, on, "lightgbm", name, all_rows, metric))
                for metric in METRICS
            ]
            rows.append([f"{in_words(on)}: {name}", *cells, f"{both[0] / both[1]:.2f}"])
    foot = "test values less those of a training on all rows; time: of a round, relative to it"
    return Table(["", *map(str.upper, METRICS), "time"], rows, [foot])


def show(given: argparse.Namespace) -> None:
    fits = {tuple(fit["key"]): fit for fit in read(given.kept)}
    tables = {"By length": by_length(fits)} if given.results == "list-lengths" else {}
    for framework in THEIRS:
        tables[f"By set, {FRAMEWORKS[framework]}"] = by_set(fits, framework)
        tables[f"By option, {FRAMEWORKS[framework]}"] = by_option(fits, framework)
    if any(key[2] == GOSS for key in fits):
        tables["Cheaper trainings"] = cheaper(fits)
    hours = sum(fit["seconds"] for fit in fits.values()) / 3600
    command = " ".join(["python benchmarks/list_lengths.py", *sys.argv[1:]])
    keep(given.results, command, tables, hours=hours)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=("fit", "show"))
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--which", choices=("all", "defaults", "cheaper"), default="all")
    parser.add_argument("--rounds", type=int, default=SETTINGS.rounds)
    parser.add_argument("--results", default="list-lengths", help="name in benchmarks/results")
    parser.add_argument("--kept", type=Path, default=Path("build/list-lengths"))
    given = parser.parse_args()
    (fit_all if given.step == "fit" else show)(given)


if __name__ == "__main__":
    main()
