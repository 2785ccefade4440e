"""Compare objectives for whole tables with log-loss: AUC, average precision, and probabilities.

    python benchmarks/whole_tables.py [--tables NAME ...] [--losses NAME ...] [--seeds 0 1 2]

`whole_tables_data.py` has 24 tables of 20,000 to 60,000 rows.  Half of the rows are for training
and a quarter each for validation and testing, drawn anew for each seed.  Every loss grows trees of
three sizes; validation rows choose size and round, separately for AUC and for average precision.
Finished trainings are stored in --kept, from which the same command continues; --report leaves out
what is missing.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score, brier_score_loss, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from tables import keep
from whole_tables_data import TABLES, read

from lambdaplus import combine, lambda_objective
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.evaluation import Table

Floats = NDArray[np.float64]

FRAMEWORKS = ("lightgbm", "xgboost")
LEAVES = (24, 7, 80)
ROUNDS, STEP, PATIENCE = 500, 5, 50  # boosting rounds: at most, between two validations, without gain
METRICS: dict[str, Callable[..., Any]] = {"AUC": roc_auc_score, "AP": average_precision_score}
EQUAL = "auc(pairs=equal)"
LOG_LOSS = "log-loss"
LOSSES: dict[str, Callable[[], Any]] = {
    LOG_LOSS: lambda: None,  # of the framework
    "rank distances": lambda: lambda_objective("auc", surrogate="auc"),
    "equal weights": lambda: lambda_objective("auc", surrogate=EQUAL),
    "equal, balance 0": lambda: lambda_objective("auc", surrogate=EQUAL, balance=0),
    "equal, balance 1": lambda: lambda_objective("auc", surrogate=EQUAL, balance=1),
    "map": lambda: lambda_objective("map", surrogate="map"),
    "map + equal": lambda: combine(
        {lambda_objective("map"): 0.5, lambda_objective("auc", surrogate=EQUAL): 0.5}
    ),
    "log-loss + equal": lambda: _with_log_loss(lambda_objective("auc", surrogate=EQUAL)),
    "log-loss + map": lambda: _with_log_loss(lambda_objective("map")),
}


def _with_log_loss(ranking: Any) -> Any:
    def both(scores: Any, data: Any) -> Any:
        gradient, hessian = ranking(scores, data)
        p = expit(scores)
        return (
            0.5 * gradient + 0.5 * (p - data.get_label()),
            0.5 * hessian + 0.5 * p * (1 - p),
        )

    return both


class Parts(NamedTuple):
    """Features and labels for training, validation and testing."""

    X: tuple[Any, Any, Any]
    y: tuple[Any, Any, Any]


@lru_cache(maxsize=1)
def parts(name: str, seed: int) -> Parts:
    X, y = read(name)
    some = {"random_state": seed, "test_size": 0.5}
    X_train, X_rest, y_train, y_rest = train_test_split(X, y, stratify=y, **some)
    X_valid, X_test, y_valid, y_test = train_test_split(X_rest, y_rest, stratify=y_rest, **some)
    return Parts((X_train, X_valid, X_test), (y_train, y_valid, y_test))


def steps(framework: str, of: Parts, leaves: int, objective: Any, seed: int) -> Iterator[Any]:
    """Train, and yield the raw scores of validation and test rows after every ``STEP`` rounds."""
    _, *others = of.X
    share = of.y[0].mean()
    start = float(np.log(share / (1 - share)))  # as with the frameworks' own log-loss
    scores = [np.full(len(X), start) for X in others]
    if framework == "lightgbm":
        params = {
            "num_leaves": leaves, "learning_rate": 0.1, "feature_fraction": 0.8, "lambda_l2": 1.0,
            "min_data_in_leaf": 20, "num_threads": 1, "seed": seed, "verbose": -1,
            "objective": "none" if objective else "binary", "boost_from_average": False,
        }  # fmt: skip
        init = np.full(of.y[0].size, start)
        booster = lgb.Booster(params, lgb.Dataset(of.X[0], of.y[0], init_score=init))
        for first in range(0, ROUNDS, STEP):
            for _ in range(STEP):
                booster.update(fobj=objective)
            for total, X in zip(scores, others, strict=True):
                total += booster.predict(
                    X, start_iteration=first, num_iteration=STEP, raw_score=True
                )
            yield scores
        return
    params = {
        "max_leaves": leaves, "max_depth": 0, "grow_policy": "lossguide", "learning_rate": 0.1,
        "colsample_bytree": 0.8, "lambda": 1.0, "min_child_weight": 0.03, "nthread": 1,
        "seed": seed, "tree_method": "hist", "objective": "binary:logitraw", "base_score": 0.5,
        "disable_default_eval_metric": True,
    }  # fmt: skip
    train = xgb.QuantileDMatrix(of.X[0], of.y[0], base_margin=np.full(of.y[0].size, start))
    booster = xgb.Booster(params, [train])
    for first in range(0, ROUNDS, STEP):
        for i in range(STEP):
            booster.update(train, first + i, fobj=objective)
        for total, X in zip(scores, others, strict=True):
            rounds = {"iteration_range": (first, first + STEP), "predict_type": "margin"}
            total += booster.inplace_predict(X, **rounds)
        yield scores


def train(folder: Path, name: str, seed: int, framework: str, loss: str, leaves: int) -> None:
    """Train one model; store validation values, and test scores at the rounds chosen by them."""
    file = folder / f"{name},{seed},{framework},{loss},{leaves}.npz"
    if file.exists():
        return
    of, best, found, last = parts(name, seed), dict.fromkeys(METRICS, -1.0), {}, 0
    with limit_threads(1):
        for k, (valid, test) in enumerate(steps(framework, of, leaves, LOSSES[loss](), seed)):
            for metric, measure in METRICS.items():
                value = measure(of.y[1], valid)
                if value > best[metric]:
                    best[metric], last = value, k
                    found[metric] = np.array(test, dtype=np.float32)
                    found[f"valid {metric}"] = np.array([value, (k + 1) * STEP])
            if (k - last) * STEP >= PATIENCE:
                break
    np.savez(file.with_suffix(".tmp.npz"), **found)
    file.with_suffix(".tmp.npz").rename(file)


class Chosen(NamedTuple):
    """The model that validation rows chose: its test scores, and where it was found."""

    scores: Floats
    leaves: int
    rounds: int


def chosen(
    folder: Path, name: str, seed: int, framework: str, loss: str, metric: str
) -> Chosen | None:
    """The best of the three sizes of trees; None if one is missing."""
    files = [folder / f"{name},{seed},{framework},{loss},{leaves}.npz" for leaves in LEAVES]
    if not all(file.exists() for file in files):
        return None
    kept = [np.load(file) for file in files]
    i = int(np.argmax([found[f"valid {metric}"][0] for found in kept]))
    rounds = int(kept[i][f"valid {metric}"][1])
    return Chosen(kept[i][metric].astype(np.float64), LEAVES[i], rounds)


def error_of_difference(y: Any, a: Floats, b: Floats) -> float:
    """Standard error of AUC(a) - AUC(b) on these rows (DeLong, DeLong & Clarke-Pearson 1988)."""
    parts = []
    for scores in (a, b):
        within = np.empty(y.size)
        for c in (0, 1):
            within[y == c] = rankdata(scores[y == c])
        n = np.where(y == 1, np.sum(y == 0), np.sum(y == 1))  # of the other class
        above = (rankdata(scores) - within) / n  # share of the other class that is below
        parts.append(np.where(y == 1, above, 1 - above))
    gap = parts[0] - parts[1]
    return float(np.sqrt(sum(gap[y == c].var(ddof=1) / np.sum(y == c) for c in (0, 1))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=[*TABLES])
    parser.add_argument("--losses", nargs="+", default=[*LOSSES])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kept", type=Path, default=Path("build/whole-tables"))
    given = parser.parse_args()
    given.kept.mkdir(parents=True, exist_ok=True)
    # Trees of one size for all tables first, so that there is something to see early.
    every = product(given.seeds, LEAVES, given.tables, FRAMEWORKS, given.losses)
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(given.jobs, mp_context=spawned) as pool:
        tasks = [
            pool.submit(train, given.kept, name, seed, framework, loss, leaves)
            for seed, leaves, name, framework, loss in every
        ]
        for task in tasks:
            task.result()


if __name__ == "__main__":
    main()
