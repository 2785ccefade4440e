"""Time of trainings with our objectives and the frameworks' own, measured in turns.

    python benchmarks/training.py [--queries 1500] [--rows 300000] [--table 1000000] [--rounds 40]
        [--threads 1] [--fits 5] [--validation 700000] [--only NAME --results NAME]

Trees are those of the frameworks by default.  Data: README's example, queries of about 120
documents, queries of 10 to 50, and rare positives without queries, with test AUC and average
precision after the same number of rounds; there, fits of classifiers are timed, too.  Contenders
take turns, and a ratio is the median of those of all rounds.  On one thread, time is processor
time, which other processes hardly change.

Beside each ratio are the time in calls of our objective and the mean depth of a row in the trees:
what does not lie in the calls is the framework's work with other trees.  At last, metrics of one
round are timed on data sets of the validation size.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any, NamedTuple

import lightgbm
import numpy as np
import xgboost
from contenders import short_queries, web_search
from rich.progress import track
from sklearn.metrics import average_precision_score, roc_auc_score
from tables import keep
from web_search import web_search_like

import lambdaplus as lp
from lambdaplus.data import RankingData, digits_queries
from lambdaplus.evaluation import Table
from lambdaplus.objectives.objective import Objective

LIGHTGBM = {"verbose": -1, "metric": "None"}  # trees as by default
XGBOOST = {"base_score": 0.0}
METRIC, NDCG_10 = lp.eval_metric("ndcg@10"), lp.lambda_objective("ndcg@10")
CLASSIFIER_ROUNDS = {10_000: 100, 1_000_000: 10}  # by the number of rows


class Contender(NamedTuple):
    """One round, and the mean depth of a row in the trees of all rounds."""

    step: Callable[[], Any]
    depth: Callable[[], float]


class Times(NamedTuple):
    """Seconds of each round of a contender, and seconds of it in calls of our objectives."""

    rounds: np.ndarray[Any, Any]
    inside: np.ndarray[Any, Any]


def measured(call: Any) -> Any:
    @wraps(call)
    def timed(*given: Any, **named: Any) -> Any:
        start = clock["now"]()
        try:
            return call(*given, **named)
        finally:
            in_objectives.append(clock["now"]() - start)

    return timed


clock: dict[str, Callable[[], float]] = {"now": time.perf_counter}
in_objectives: list[float] = []
Objective.__call__ = measured(Objective.__call__)  # type: ignore[method-assign]


def seconds(
    contenders: Mapping[str, Callable[[], Any]], rounds: int, threads: int, unmeasured: int = 2
) -> dict[str, Times]:
    """Seconds of each round, in turns, so that other processes slow down all contenders equally."""
    clock["now"] = time.process_time if threads == 1 else time.perf_counter
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    for turn in track(range(rounds + unmeasured), description="rounds", transient=True):
        for name, step in contenders.items():
            in_objectives.clear()
            start = clock["now"]()
            step()
            if turn >= unmeasured:  # the first ones compile
                found[name].append((clock["now"]() - start, sum(in_objectives)))
    return {name: Times(*np.array(times).T) for name, times in found.items()}


def by_framework(
    *contenders: dict[str, Callable[[], Any]], rounds: int, threads: int
) -> dict[str, Times]:
    """One framework after the other: idle threads of one slow down the next round of another."""
    found: dict[str, Times] = {}
    for each in contenders:
        found |= seconds(each, rounds, threads)
    return found


def inside(times: Times, rounds: int = 1) -> str:
    """Milliseconds of a round in calls of our objective; a step may be a fit of several."""
    return f"{1000 * np.median(times.inside) / rounds:.2f}" if times.inside.any() else "-"


def depth_in_lightgbm(model: lightgbm.Booster) -> float:
    nodes = model.trees_to_dataframe()
    leaves = nodes[nodes["left_child"].isna()]
    return float(np.average(leaves["node_depth"] - 1, weights=leaves["count"]))


def depth_in_xgboost(booster: xgboost.Booster, rows: Any) -> float:
    depth: dict[str, int] = {}
    for node in booster.trees_to_dataframe().itertuples():  # parents come first
        depth.setdefault(node.ID, 0)
        if node.Feature != "Leaf":
            depth[node.Yes] = depth[node.No] = depth[node.ID] + 1
    leaves = booster.predict(xgboost.DMatrix(rows[:2000]), pred_leaf=True).astype(int)
    return float(
        np.mean([depth[f"{tree}-{leaf}"] for row in leaves for tree, leaf in enumerate(row)])
    )


def ratio(times: dict[str, Times], name: str, own: str) -> str:
    return f"{np.median(times[name].rounds / times[own].rounds):.2f}"


def in_words(threads: int) -> str:
    return "1 thread, processor time" if threads == 1 else f"{threads} threads"


def lightgbm_steps(data: Any, threads: int) -> dict[str, Contender]:
    """A round of each objective, without and with the metric of the training queries."""
    features = np.asarray(data.features)

    def step(objective: Any, watched: bool = False) -> Contender:
        ours, given = callable(objective), {"verbose": -1, "num_threads": threads}
        rows = lightgbm.Dataset(features, data.labels, group=data.group, params=given)
        known = {"objective": "none" if ours else objective, "eval_at": [10]}
        known["metric"] = "ndcg" if watched and not ours else "None"
        model = lightgbm.Booster({**LIGHTGBM, **known, "num_threads": threads}, rows)

        def one_round() -> None:
            model.update(fobj=objective if ours else None)
            if watched:
                model.eval_train(METRIC if ours else None)

        return Contender(one_round, partial(depth_in_lightgbm, model))

    return {
        "LightGBM, lambdarank": step("lambdarank"),
        "LightGBM, rank_xendcg": step("rank_xendcg"),
        "LightGBM, binary": step("binary"),  # a label above 0 is positive
        "LightGBM, lambda_ndcg": step(lp.lambda_ndcg),
        "LightGBM, lambda_ndcg@10": step(NDCG_10),
        "LightGBM, lambda_map": step(lp.lambda_map),
        "LightGBM, lambda_mrr": step(lp.lambda_mrr),
        "LightGBM, lambda_auc": step(lp.lambda_auc),
        "LightGBM, lambdarank, ndcg@10 each round": step("lambdarank", watched=True),
        "LightGBM, lambda_ndcg, lambdaplus's ndcg@10 each round": step(
            lp.lambda_ndcg, watched=True
        ),
    }


def xgboost_steps(data: Any, threads: int) -> dict[str, Contender]:
    features = np.asarray(data.features)
    given = {"group": data.group, "nthread": threads}
    matrix = xgboost.DMatrix(features, label=data.labels, **given)
    binary = xgboost.DMatrix(features, label=data.labels > 0, **given)
    return {
        f"XGBoost, {name}": xgboost_step(
            binary if name in ("rank:map", "binary:logistic") else matrix,
            features, objective, threads,
        )[1]
        for name, objective in {
            "rank:ndcg": "rank:ndcg", "rank:map": "rank:map", "rank:pairwise": "rank:pairwise",
            "binary:logistic": "binary:logistic", "lambda_ndcg": lp.lambda_ndcg,
            "lambda_ndcg@10": NDCG_10,
            "lambda_map": lp.lambda_map, "lambda_mrr": lp.lambda_mrr, "lambda_auc": lp.lambda_auc,
        }.items()
    }  # fmt: skip


def xgboost_step(
    matrix: xgboost.DMatrix, features: Any, objective: Any, threads: int
) -> tuple[xgboost.Booster, Contender]:
    """A booster, and a function that trains one round of it."""
    ours, count = callable(objective), iter(range(1_000_000))
    params = {"nthread": threads, **(XGBOOST if ours else {"objective": objective})}
    booster = xgboost.Booster(params, [matrix])
    return booster, Contender(
        lambda: booster.update(matrix, next(count), fobj=objective if ours else None),
        partial(depth_in_xgboost, booster, features),
    )


def in_short_queries(rows: int) -> RankingData:
    """Queries of 10 to 50 documents, and 20 features, of which the first is informative."""
    labels, sizes, scores = short_queries(rows)
    features = np.random.default_rng(2).normal(size=(labels.size, 20))
    features[:, 0] = scores
    return RankingData(features, labels, np.repeat(np.arange(sizes.size), sizes))


COSTS = ["ms inside, a round", "depth of a row"]


def ranking(name: str, data: RankingData, rounds: int, threads: int) -> dict[str, Table]:
    both = lightgbm_steps(data, threads), xgboost_steps(data, threads)
    steps = [{label: each.step for label, each in contenders.items()} for contenders in both]
    times = by_framework(*steps, rounds=rounds, threads=threads)
    depths = {label: each.depth() for contenders in both for label, each in contenders.items()}
    rows = []
    for contender, each in times.items():
        own = "XGBoost, rank:ndcg" if contender.startswith("XGBoost") else "LightGBM, lambdarank"
        own += ", ndcg@10 each round" * ("each round" in contender)
        costs = ratio(times, contender, own), inside(each), f"{depths[contender]:.1f}"
        rows.append([contender, f"{each.rounds.sum():.2f}", *costs])
    title = f"Whole training: {name}, {data.labels.size:,} rows, {rounds} rounds"
    foot = f"{in_words(threads)}, {data.features.shape[1]} features"
    return {title: Table(["", "seconds", "to the framework's own", *COSTS], rows, [foot])}


def rare_rows(n: int, seed: int) -> tuple[Any, Any]:
    """20 features; the chance of a positive depends on some of them and their products."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 20))
    signal = x[:, 0] + 0.7 * x[:, 1] * x[:, 2] + 0.5 * np.abs(x[:, 3]) + 0.4 * x[:, 4]
    noisy = signal + rng.logistic(scale=0.7, size=n)
    return x.astype(np.float32), (noisy > np.quantile(noisy, 0.99)).astype(float)


def log_loss(scores: Any, data: Any) -> tuple[Any, Any]:
    """The built-in log-loss as a custom objective, for what being custom costs."""
    chance = 1.0 / (1.0 + np.exp(-scores))
    hessian = chance * (1.0 - chance)
    return (chance - data.get_label()).astype(np.float32), hessian.astype(np.float32)


OBJECTIVES = {
    "log-loss": None, "log-loss in NumPy": measured(log_loss), "lambda_auc": lp.lambda_auc,
    "lambda_map": lp.lambda_map,
}  # fmt: skip


def rare(rows: int, rounds: int, threads: int) -> dict[str, Table]:
    (x, y), (x_test, y_test) = rare_rows(rows, 0), rare_rows(rows, 1)
    scores: dict[str, Callable[[], Any]] = {}
    steps: dict[str, Contender] = {}
    for name, ours in OBJECTIVES.items():
        data = lightgbm.Dataset(x, label=y, params={"verbose": -1, "num_threads": threads})
        known = {"objective": "none" if ours else "binary", "num_threads": threads}
        model = lightgbm.Booster({**LIGHTGBM, **known}, data)
        given = {"fobj": ours} if ours else {}
        step = partial(model.update, **given)
        steps[f"LightGBM, {name}"] = Contender(step, partial(depth_in_lightgbm, model))
        scores[f"LightGBM, {name}"] = partial(model.predict, x_test, raw_score=True)
        matrix = xgboost.DMatrix(x, label=y, nthread=threads)
        objective = ours or "binary:logistic"
        booster, steps[f"XGBoost, {name}"] = xgboost_step(matrix, x, objective, threads)
        scores[f"XGBoost, {name}"] = partial(
            booster.predict, xgboost.DMatrix(x_test, nthread=threads), output_margin=True
        )
    names = "LightGBM", "XGBoost"
    both = [
        {name: step.step for name, step in steps.items() if name.startswith(own)} for own in names
    ]
    times = by_framework(*both, rounds=rounds, threads=threads)
    lines = []
    for name, each in times.items():
        found = scores[name]()
        tests = (f(y_test, found) for f in (roc_auc_score, average_precision_score))
        own = f"{name.partition(',')[0]}, log-loss"
        costs = ratio(times, name, own), inside(each), f"{steps[name].depth():.1f}"
        lines.append([name, f"{each.rounds.sum():.1f}", *costs, *(f"{v:.4f}" for v in tests)])
    title = f"Rare positives: {rows:,} rows, 1 % positive, {rounds} rounds, {in_words(threads)}"
    return {title: Table(["", "seconds", "to log-loss", *COSTS, "test AUC", "test AP"], lines)}


def classifiers(rows: int, fits: int, threads: int) -> dict[str, Table]:
    """Fits of our classifiers and their parents, and the number of leaves.

    By default, ours train on three folds, too, for the threshold; with ``cv=None`` they do not.
    """
    x, y = rare_rows(rows, 0)
    given: dict[str, Any] = {"n_jobs": threads, "n_estimators": CLASSIFIER_ROUNDS.get(rows, 100)}
    models: dict[str, Any] = {
        "LGBMClassifier": lightgbm.LGBMClassifier(verbose=-1, **given),
        "LightGBMClassifier": lp.LightGBMClassifier(verbose=-1, **given),
        "LightGBMClassifier, cv=None": lp.LightGBMClassifier(verbose=-1, cv=None, **given),
        "XGBClassifier": xgboost.XGBClassifier(**given),
        "XGBoostClassifier": lp.XGBoostClassifier(**given),
        "XGBoostClassifier, cv=None": lp.XGBoostClassifier(cv=None, **given),
    }
    steps = {name: partial(model.fit, x, y) for name, model in models.items()}
    times, lines = seconds(steps, fits, threads, 1), []
    rounds = given["n_estimators"]
    for name, each in times.items():
        own = "LGBMClassifier" if name.startswith(("LGBM", "Light")) else "XGBClassifier"
        model = models[name]
        if own == "LGBMClassifier":
            deep = depth_in_lightgbm(model.booster_)
            nodes = model.booster_.trees_to_dataframe()
            leaves = nodes["left_child"].isna().sum()
        else:
            deep = depth_in_xgboost(model.get_booster(), x)
            leaves = (model.get_booster().trees_to_dataframe()["Feature"] == "Leaf").sum()
        costs = ratio(times, name, own), inside(each, rounds), f"{deep:.1f}", f"{leaves:,}"
        lines.append([name, f"{np.median(each.rounds):.2f}", *costs])
    title = f"Classifiers: {rows:,} rows, 1 % positive, {rounds} rounds, {in_words(threads)}"
    return {title: Table(["", "seconds of a fit", "to its parent", *COSTS, "leaves"], lines)}


# A metric, LightGBM's parameters of it, and its name in XGBoost.
WITH_QUERIES = [
    ("ndcg@10", {"metric": "ndcg", "eval_at": [10]}, "ndcg@10"),
    ("map", {"metric": "map", "eval_at": [100_000]}, "map"),
    ("auc", None, "auc"),
]
WITHOUT = [
    ("auc", {"metric": "auc"}, "auc"),
    ("map", {"metric": "average_precision"}, "aucpr"),
]


def metrics(
    name: str, features: Any, labels: Any, group: Any, rounds: int, threads: int
) -> dict[str, Table]:
    """Metrics of one round, after 20 rounds of squared error."""
    rows = lightgbm.Dataset(
        features, labels, group=group, params=LIGHTGBM | {"num_threads": threads}
    )
    matrix = xgboost.DMatrix(features, label=labels, group=group, nthread=threads)
    lines = []
    for ours, in_lightgbm, in_xgboost in WITHOUT if group is None else WITH_QUERIES:
        metric, steps = lp.eval_metric(ours), dict[tuple[str, bool], Callable[[], Any]]()
        if in_lightgbm:
            shared = {**LIGHTGBM, "objective": "l2", "num_threads": threads}
            model = lightgbm.Booster({**shared, **in_lightgbm}, rows)
            other = lightgbm.Booster(shared, rows)
            steps["LightGBM", False] = partial(model.eval_train)
            steps["LightGBM", True] = partial(other.eval_train, metric)
        known = {"nthread": threads, "base_score": 0.0}
        booster = xgboost.Booster({**known, "eval_metric": in_xgboost}, [matrix])
        without = xgboost.Booster({**known, "disable_default_eval_metric": True}, [matrix])
        steps["XGBoost", False] = partial(booster.eval_set, [(matrix, "")])
        steps["XGBoost", True] = partial(without.eval_set, [(matrix, "")], feval=metric)
        for turn in range(20):
            for trained in (model, other) if in_lightgbm else ():
                trained.update()
            for fitted in (booster, without):
                fitted.update(matrix, turn)
        for framework in dict.fromkeys(framework for framework, _ in steps):
            turns = {str(own): steps[framework, own] for own in (False, True)}
            times = seconds(turns, rounds, threads)
            of_both = [f"{1000 * np.median(each.rounds):.2f}" for each in times.values()]
            lines.append([f"{framework}, {ours}", *of_both, ratio(times, "True", "False")])
    title = f"Metrics: {name}, {labels.size:,} rows, {in_words(threads)}"
    return {title: Table(["", "its own, ms", "eval_metric, ms", "ratio"], lines)}


def others(given: argparse.Namespace) -> dict[str, Table]:
    """Tables without queries, classifiers and metrics."""
    rounds, threads = given.rounds, given.threads
    made = rare(given.table, rounds, threads)
    for rows in (10_000, given.table) if given.fits else ():
        made |= classifiers(rows, given.fits, threads)
    digits, (labels, sizes, scores) = digits_queries()[0].train, web_search(given.validation // 120)
    for name, evaluated in {
        "README's example": (np.asarray(digits.features), digits.labels, digits.group),
        "queries of about 120 documents": (scores[:, None], labels > 0, sizes),
        "rare positives": (*rare_rows(given.validation, 0), None),
    }.items():
        made |= metrics(name, *evaluated, rounds, threads)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=1500)
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--table", type=int, default=1_000_000, help="rows without queries")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--fits", type=int, default=5, help="of each classifier, 0 for none")
    parser.add_argument("--validation", type=int, default=700_000, help="rows to evaluate")
    parser.add_argument("--only", default="", help="rankings of this name, and nothing else")
    parser.add_argument("--results", default="", help="name in benchmarks/results")
    given = parser.parse_args()
    rounds, threads = given.rounds, given.threads
    rankings: dict[str, tuple[Callable[[], RankingData], int]] = {
        "README's example": (lambda: digits_queries()[0].train, 5 * rounds),
        "queries of about 120 documents": (lambda: web_search_like(given.queries), rounds),
        "queries of 10 to 50 documents": (lambda: in_short_queries(given.rows), rounds),
    }
    made = {}
    for name, (data, turns) in rankings.items():
        if given.only in name:
            made |= ranking(name, data(), turns, threads)
    if not given.only:
        made |= others(given)
    name = given.results or "training" + "-1-thread" * (threads == 1)
    keep(name, " ".join(["python benchmarks/training.py", *map(shlex.quote, sys.argv[1:])]), made)


if __name__ == "__main__":
    main()
