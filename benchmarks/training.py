"""Time of trainings with our objectives and the frameworks' own, measured in turns.

    python benchmarks/training.py [--queries 1500] [--rows 300000] [--table 1000000] [--rounds 40]
        [--threads 1] [--fits 5]

Trees are those of the frameworks by default.  Data: README's example, queries of about 120
documents, queries of 10 to 50, and rare positives without queries, with test AUC and average
precision after the same number of rounds; there, fits of classifiers are timed, too.  Contenders
take turns, and a ratio is the median of those of all rounds.  On one thread, time is processor
time, which other processes hardly change.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import lightgbm
import numpy as np
import xgboost
from contenders import short_queries
from rich.progress import track
from sklearn.metrics import average_precision_score, roc_auc_score
from tables import keep

import lambdaplus as lp
from lambdaplus.data import RankingData, digits_queries, web_search_like
from lambdaplus.evaluation import Table

LIGHTGBM = {"verbose": -1, "metric": "None"}  # trees as by default
XGBOOST = {"base_score": 0.0}
METRIC, NDCG_10 = lp.eval_metric("ndcg@10"), lp.lambda_objective("ndcg@10")
CLASSIFIER_ROUNDS = {10_000: 100, 1_000_000: 10}  # by the number of rows


Times = dict[str, np.ndarray[Any, Any]]


def seconds(
    contenders: dict[str, Callable[[], Any]], rounds: int, threads: int, unmeasured: int = 2
) -> Times:
    """Seconds of each round, in turns, so that other processes slow down all contenders equally."""
    clock = time.process_time if threads == 1 else time.perf_counter
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in track(range(rounds + unmeasured), description="rounds", transient=True):
        for name, step in contenders.items():
            start = clock()
            step()
            if turn >= unmeasured:  # the first ones compile
                found[name].append(clock() - start)
    return {name: np.array(times) for name, times in found.items()}


def by_framework(*contenders: dict[str, Callable[[], Any]], rounds: int, threads: int) -> Times:
    """One framework after the other: idle threads of one slow down the next round of another."""
    found: Times = {}
    for each in contenders:
        found |= seconds(each, rounds, threads)
    return found


def ratio(times: Times, name: str, own: str) -> str:
    return f"{np.median(times[name] / times[own]):.2f}"


def in_words(threads: int) -> str:
    return "1 thread, processor time" if threads == 1 else f"{threads} threads"


def lightgbm_steps(data: Any, threads: int) -> dict[str, Callable[[], Any]]:
    """A round of each objective, without and with the metric of the training queries."""
    features = np.asarray(data.features)

    def step(objective: Any, watched: bool = False) -> Callable[[], Any]:
        ours = callable(objective)
        rows = lightgbm.Dataset(features, data.labels, group=data.group, params={"verbose": -1})
        known = {"objective": "none" if ours else objective, "eval_at": [10]}
        known["metric"] = "ndcg" if watched and not ours else "None"
        model = lightgbm.Booster({**LIGHTGBM, **known, "num_threads": threads}, rows)

        def one_round() -> None:
            model.update(fobj=objective if ours else None)
            if watched:
                model.eval_train(METRIC if ours else None)

        return one_round

    return {
        "LightGBM, lambdarank": step("lambdarank"),
        "LightGBM, lambda_ndcg": step(lp.lambda_ndcg),
        "LightGBM, lambda_ndcg@10": step(NDCG_10),
        "LightGBM, lambda_map": step(lp.lambda_map),
        "LightGBM, lambda_mrr": step(lp.lambda_mrr),
        "LightGBM, lambda_auc": step(lp.lambda_auc),
        "LightGBM, lambdarank, ndcg@10 each round": step("lambdarank", watched=True),
        "LightGBM, lambda_ndcg, our ndcg@10 each round": step(lp.lambda_ndcg, watched=True),
    }


def xgboost_steps(data: Any, threads: int) -> dict[str, Callable[[], Any]]:
    matrix = xgboost.DMatrix(np.asarray(data.features), label=data.labels, group=data.group)
    return {
        f"XGBoost, {name}": xgboost_step(matrix, objective, threads)[1]
        for name, objective in {
            "rank:ndcg": "rank:ndcg", "lambda_ndcg": lp.lambda_ndcg, "lambda_ndcg@10": NDCG_10,
            "lambda_map": lp.lambda_map, "lambda_mrr": lp.lambda_mrr, "lambda_auc": lp.lambda_auc,
        }.items()
    }  # fmt: skip


def xgboost_step(
    matrix: xgboost.DMatrix, objective: Any, threads: int
) -> tuple[xgboost.Booster, Callable[[], Any]]:
    """A booster, and a function that trains one round of it."""
    ours, count = callable(objective), iter(range(1_000_000))
    params = {"nthread": threads, **(XGBOOST if ours else {"objective": objective})}
    booster = xgboost.Booster(params, [matrix])
    return booster, lambda: booster.update(matrix, next(count), fobj=objective if ours else None)


def in_short_queries(rows: int) -> RankingData:
    """Queries of 10 to 50 documents, and 20 features, of which the first is informative."""
    labels, sizes, scores = short_queries(rows)
    features = np.random.default_rng(2).normal(size=(labels.size, 20))
    features[:, 0] = scores
    return RankingData(features, labels, np.repeat(np.arange(sizes.size), sizes))


def ranking(name: str, data: RankingData, rounds: int, threads: int) -> dict[str, Table]:
    both = lightgbm_steps(data, threads), xgboost_steps(data, threads)
    times = by_framework(*both, rounds=rounds, threads=threads)
    rows = []
    for contender, each in times.items():
        own = "XGBoost, rank:ndcg" if contender.startswith("XGBoost") else "LightGBM, lambdarank"
        own += ", ndcg@10 each round" * ("each round" in contender)
        rows.append([contender, f"{each.sum():.2f}", ratio(times, contender, own)])
    title = f"Whole training: {name}, {data.labels.size:,} rows, {rounds} rounds"
    foot = f"{in_words(threads)}, {data.features.shape[1]} features"
    return {title: Table(["", "seconds", "to the framework's own"], rows, [foot])}


def rare_rows(n: int, seed: int) -> tuple[Any, Any]:
    """20 features; the chance of a positive depends on some of them and their products."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 20))
    signal = x[:, 0] + 0.7 * x[:, 1] * x[:, 2] + 0.5 * np.abs(x[:, 3]) + 0.4 * x[:, 4]
    noisy = signal + rng.logistic(scale=0.7, size=n)
    return x.astype(np.float32), (noisy > np.quantile(noisy, 0.99)).astype(float)


OBJECTIVES = {"log-loss": None, "lambda_auc": lp.lambda_auc, "lambda_map": lp.lambda_map}


def rare(rows: int, rounds: int, threads: int) -> dict[str, Table]:
    (x, y), (x_test, y_test) = rare_rows(rows, 0), rare_rows(rows, 1)
    scores: dict[str, Callable[[], Any]] = {}
    steps: dict[str, Callable[[], Any]] = {}
    for name, ours in OBJECTIVES.items():
        data = lightgbm.Dataset(x, label=y, params={"verbose": -1})
        own = {"objective": "none" if ours else "binary", "num_threads": threads}
        model = lightgbm.Booster({**LIGHTGBM, **own}, data)
        given = {"fobj": ours} if ours else {}
        steps[f"LightGBM, {name}"] = partial(model.update, **given)
        scores[f"LightGBM, {name}"] = partial(model.predict, x_test, raw_score=True)
        matrix, objective = xgboost.DMatrix(x, label=y), ours or "binary:logistic"
        booster, steps[f"XGBoost, {name}"] = xgboost_step(matrix, objective, threads)
        scores[f"XGBoost, {name}"] = partial(
            booster.predict, xgboost.DMatrix(x_test), output_margin=True
        )
    names = "LightGBM", "XGBoost"
    both = [{name: step for name, step in steps.items() if name.startswith(own)} for own in names]
    times = by_framework(*both, rounds=rounds, threads=threads)
    lines = []
    for name, each in times.items():
        found = scores[name]()
        tests = (f(y_test, found) for f in (roc_auc_score, average_precision_score))
        own = f"{name.partition(',')[0]}, log-loss"
        cost = f"{each.sum():.1f}", ratio(times, name, own)
        lines.append([name, *cost, *(f"{value:.4f}" for value in tests)])
    title = f"Rare positives: {rows:,} rows, 1 % positive, {rounds} rounds, {in_words(threads)}"
    return {title: Table(["", "seconds", "to log-loss", "test AUC", "test AP"], lines)}


def classifiers(rows: int, fits: int, threads: int) -> dict[str, Table]:
    """Fits of our classifiers and their parents, and the number of leaves.

    By default, ours train on three folds, too, for the threshold; with ``cv=None`` they do not.
    """
    x, y = rare_rows(rows, 0)
    given: dict[str, Any] = {"n_jobs": threads, "n_estimators": CLASSIFIER_ROUNDS.get(rows, 100)}
    models = {
        "LGBMClassifier": lightgbm.LGBMClassifier(verbose=-1, **given),
        "LightGBMClassifier": lp.LightGBMClassifier(verbose=-1, **given),
        "LightGBMClassifier, cv=None": lp.LightGBMClassifier(verbose=-1, cv=None, **given),
        "XGBClassifier": xgboost.XGBClassifier(**given),
        "XGBoostClassifier": lp.XGBoostClassifier(**given),
        "XGBoostClassifier, cv=None": lp.XGBoostClassifier(cv=None, **given),
    }
    steps = {name: partial(model.fit, x, y) for name, model in models.items()}
    times, lines = seconds(steps, fits, threads, 1), []
    for name, each in times.items():
        own = "LGBMClassifier" if name.startswith(("LGBM", "Light")) else "XGBClassifier"
        if own == "LGBMClassifier":
            leaves = sum(
                tree["num_leaves"] for tree in models[name].booster_.dump_model()["tree_info"]
            )
        else:
            leaves = (models[name].get_booster().trees_to_dataframe()["Feature"] == "Leaf").sum()
        lines.append([name, f"{np.median(each):.2f}", ratio(times, name, own), f"{leaves:,}"])
    rounds = given["n_estimators"]
    title = f"Classifiers: {rows:,} rows, 1 % positive, {rounds} rounds, {in_words(threads)}"
    return {title: Table(["", "seconds of a fit", "to its parent", "leaves"], lines)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=1500)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--table", type=int, default=1_000_000, help="rows without queries")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--fits", type=int, default=5, help="of each classifier, 0 for none")
    given = parser.parse_args()
    rounds, threads = given.rounds, given.threads
    short = in_short_queries(given.rows)
    made = {
        **ranking("README's example", digits_queries()[0].train, rounds, threads),
        **ranking(
            "queries of about 120 documents", web_search_like(given.queries), rounds, threads
        ),
        **ranking("queries of 10 to 50 documents", short, rounds, threads),
        **rare(given.table, rounds, threads),
    }
    for rows in (10_000, given.table) if given.fits else ():
        made |= classifiers(rows, given.fits, threads)
    sizes = " ".join(f"--{name} {value}" for name, value in vars(given).items())
    name = "training" + "-1-thread" * (threads == 1)
    keep(name, f"python benchmarks/training.py {sizes}", made)


if __name__ == "__main__":
    main()
