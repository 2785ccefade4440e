"""Time of trainings with our objectives and the frameworks' own, measured in turns.

    python benchmarks/training.py [--queries 1500] [--rows 300000] [--rounds 100]

Trees are those of the frameworks by default.  Data: README's example, queries of about 120
documents, queries of 10 to 50, and rare positives without queries, with test AUC and average
precision after the same number of rounds.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
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
METRIC = lp.eval_metric("ndcg@10")


def seconds(contenders: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Sums over rounds, in turns, so that other processes slow down all contenders equally."""
    found = dict.fromkeys(contenders, 0.0)
    for _ in range(2):  # compile
        for step in contenders.values():
            step()
    for _ in track(range(rounds), description="rounds", transient=True):
        for name, step in contenders.items():
            start = time.perf_counter()
            step()
            found[name] += time.perf_counter() - start
    return found


def lightgbm_steps(data: Any) -> dict[str, Callable[[], Any]]:
    """A round of each objective, without and with the metric of the training queries."""
    features = np.asarray(data.features)

    def step(objective: Any, watched: bool = False) -> Callable[[], Any]:
        ours = callable(objective)
        rows = lightgbm.Dataset(features, data.labels, group=data.group, params={"verbose": -1})
        known = {"objective": "none" if ours else objective, "eval_at": [10]}
        known["metric"] = "ndcg" if watched and not ours else "None"
        model = lightgbm.Booster({**LIGHTGBM, **known}, rows)

        def one_round() -> None:
            model.update(fobj=objective if ours else None)
            if watched:
                model.eval_train(METRIC if ours else None)

        return one_round

    return {
        "LightGBM, lambdarank": step("lambdarank"),
        "LightGBM, lambda_ndcg": step(lp.lambda_ndcg),
        "LightGBM, lambda_map": step(lp.lambda_map),
        "LightGBM, lambdarank, ndcg@10 each round": step("lambdarank", watched=True),
        "LightGBM, lambda_ndcg, our ndcg@10 each round": step(lp.lambda_ndcg, watched=True),
    }


def xgboost_steps(data: Any) -> dict[str, Callable[[], Any]]:
    matrix = xgboost.DMatrix(np.asarray(data.features), label=data.labels, group=data.group)

    def native(objective: str) -> Callable[[], Any]:
        booster = xgboost.Booster({**XGBOOST, "objective": objective}, [matrix])
        count = iter(range(1_000_000))
        return lambda: booster.update(matrix, next(count))

    def ours(objective: Any) -> Callable[[], Any]:
        booster = xgboost.Booster(XGBOOST, [matrix])
        count = iter(range(1_000_000))
        return lambda: booster.update(matrix, next(count), fobj=objective)

    return {"XGBoost, rank:ndcg": native("rank:ndcg"), "XGBoost, lambda_ndcg": ours(lp.lambda_ndcg)}


def in_short_queries(rows: int) -> RankingData:
    """Queries of 10 to 50 documents, and 20 features, of which the first is informative."""
    labels, sizes, scores = short_queries(rows)
    features = np.random.default_rng(2).normal(size=(labels.size, 20))
    features[:, 0] = scores
    return RankingData(features, labels, np.repeat(np.arange(sizes.size), sizes))


def ranking(name: str, data: RankingData, rounds: int) -> dict[str, Table]:
    took = seconds(lightgbm_steps(data) | xgboost_steps(data), rounds)
    lgb, xgb = took["LightGBM, lambdarank"], took["XGBoost, rank:ndcg"]
    watched = took["LightGBM, lambdarank, ndcg@10 each round"]
    rows = []
    for contender, value in took.items():
        base = watched if "each round" in contender else lgb
        base = xgb if contender.startswith("XGBoost") else base
        rows.append([contender, f"{value:.2f}", f"{value / base:.2f}"])
    title = f"Whole training: {name}, {data.labels.size:,} rows, {rounds} rounds"
    foot = f"{os.cpu_count()} threads, {data.features.shape[1]} features"
    return {title: Table(["", "seconds", "to the framework's own"], rows, [foot])}


def rare_rows(n: int, seed: int) -> tuple[Any, Any]:
    """20 features; the chance of a positive depends on some of them and their products."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 20))
    signal = x[:, 0] + 0.7 * x[:, 1] * x[:, 2] + 0.5 * np.abs(x[:, 3]) + 0.4 * x[:, 4]
    noisy = signal + rng.logistic(scale=0.7, size=n)
    return x.astype(np.float32), (noisy > np.quantile(noisy, 0.99)).astype(float)


def rare(rows: int, rounds: int) -> dict[str, Table]:
    (x, y), (x_test, y_test) = rare_rows(rows, 0), rare_rows(rows, 1)
    models: dict[str, Any] = {}

    def contender(name: str, objective: Any) -> Callable[[], Any]:
        set_ = lightgbm.Dataset(x, label=y, params={"verbose": -1})
        own = callable(objective)
        models[name] = lightgbm.Booster(
            {**LIGHTGBM, "objective": "none" if own else objective}, set_
        )
        return lambda: models[name].update(fobj=objective) if own else models[name].update()

    found = seconds(
        {
            "log-loss": contender("log-loss", "binary"),
            "lambda_auc": contender("lambda_auc", lp.lambda_auc),
            "lambda_map": contender("lambda_map", lp.lambda_map),
        },
        rounds,
    )
    lines = []
    for name, value in found.items():
        scores = models[name].predict(x_test, raw_score=True)
        tests = (f(y_test, scores) for f in (roc_auc_score, average_precision_score))
        cost = f"{value:.1f}", f"{value / found['log-loss']:.2f}"
        lines.append([name, *cost, *(f"{value:.4f}" for value in tests)])
    title = (
        f"Rare positives: {rows:,} rows, 1 % positive, LightGBM, {rounds} rounds, "
        f"{os.cpu_count()} threads"
    )
    return {title: Table(["", "seconds", "to log-loss", "test AUC", "test AP"], lines)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=1500)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=100)
    given = parser.parse_args()
    rounds = given.rounds
    made = {
        **ranking("README's example", digits_queries()[0].train, rounds),
        **ranking("queries of about 120 documents", web_search_like(given.queries), rounds),
        **ranking("queries of 10 to 50 documents", in_short_queries(given.rows), rounds),
        **rare(given.rows, rounds),
    }
    sizes = f"--queries {given.queries} --rows {given.rows} --rounds {given.rounds}"
    keep("training", f"python benchmarks/training.py {sizes}", made)


if __name__ == "__main__":
    main()
