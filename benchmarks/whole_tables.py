"""Compare objectives for whole tables with log-loss: AUC, average precision, and probabilities.

    python benchmarks/whole_tables.py [--tables NAME ...] [--losses NAME ...] [--seeds 0 1 2]

`whole_tables_data.py` has 24 tables of 20,000 to 60,000 rows.  Half of the rows are for training
and a quarter each for validation and testing, drawn anew for each seed.  Every loss grows trees of
three sizes; validation rows choose size and round, separately for AUC and for average precision.
Finished trainings are stored in --kept, from which the same command continues.
"""

from __future__ import annotations

import argparse
import multiprocessing
import shlex
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
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import train_test_split
from tables import keep
from whole_tables_data import TABLES, read

from lambdaplus import lambda_objective
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.evaluation import Table

Floats = NDArray[np.float64]

FRAMEWORKS = ("lightgbm", "xgboost")
LEAVES = (24, 7, 80)
# Boosting rounds: at most, between two validations, and without a gain.
ROUNDS, STEP, PATIENCE = 500, 5, 50
METRICS: dict[str, Callable[..., Any]] = {"AUC": roc_auc_score, "AP": average_precision_score}
LOG_LOSS = "log-loss"
LOSSES: dict[str, Callable[[], Any]] = {
    LOG_LOSS: lambda: None,  # of the framework
    "lambda_auc": lambda: lambda_objective("auc"),  # half equal weights, half log-loss
    "rank distances": lambda: lambda_objective("auc", surrogate="auc"),
    "equal weights": lambda: lambda_objective("auc", pairs="equal"),
    "equal, balance 0": lambda: lambda_objective("auc", pairs="equal", balance=0),
    "equal, balance 1": lambda: lambda_objective("auc", pairs="equal", balance=1),
    "map": lambda: lambda_objective("map"),
    "map + equal": lambda: lambda_objective("0.5*map + 0.5*auc", pairs="equal"),
    "log-loss + equal": lambda: lambda_objective("0.5*logloss + 0.5*auc", pairs="equal"),
    "log-loss + map": lambda: lambda_objective("0.5*logloss + 0.5*map"),
}
SHOWN = ("lambda_auc", "rank distances", "equal weights", "map")  # by table


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
        "seed": seed, "tree_method": "hist", "objective": "binary:logitraw", "base_score": 0.0,
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


class Gains(NamedTuple):
    """Test values of one table, means over seeds: of log-loss, and what a loss has more.

    ``error`` is NaN for average precision and one seed.
    """

    base: float
    gain: float
    error: float

    def __str__(self) -> str:
        error = "" if np.isnan(self.error) else f" ± {self.error:.4f}"
        return f"{self.gain:+.4f}{error}"


def test_scores(at: Path, leaves: list[int], metric: str) -> tuple[Floats, int]:
    """Test scores of the size of trees and the round that validation rows chose, and the size."""
    kept = [np.load(f"{at},{size}.npz") for size in leaves]
    i = int(np.argmax([found[f"valid {metric}"][0] for found in kept]))
    return kept[i][metric].astype(np.float64), leaves[i]


def error_of_difference(y: Any, a: Floats, b: Floats) -> float:
    """Standard error of AUC(a) - AUC(b) on these rows (DeLong, DeLong & Clarke-Pearson 1988)."""
    parts = []
    for scores in (a, b):
        within = np.empty(y.size)
        for c in (0, 1):
            within[y == c] = rankdata(scores[y == c])
        others = np.where(y == 1, np.sum(y == 0), np.sum(y == 1))
        below = (rankdata(scores) - within) / others  # share of the other class
        parts.append(np.where(y == 1, below, 1 - below))
    gap = parts[0] - parts[1]
    return float(np.sqrt(sum(gap[y == c].var(ddof=1) / np.sum(y == c) for c in (0, 1))))


class Results:
    """Test values of finished trainings."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.labels = {
            (name, seed): parts(name, seed).y[2] for name in given.tables for seed in given.seeds
        }

    def scores(self, name: str, seed: int, framework: str, loss: str, metric: str) -> Floats:
        at = self.given.kept / f"{name},{seed},{framework},{loss}"
        return test_scores(at, self.given.leaves, metric)[0]

    def gains(self, name: str, framework: str, loss: str, metric: str) -> Gains:
        base, gain, variance = [], [], []
        for seed in self.given.seeds:
            y = self.labels[name, seed]
            a, b = (self.scores(name, seed, framework, of, metric) for of in (loss, LOG_LOSS))
            base.append(METRICS[metric](y, b))
            gain.append(METRICS[metric](y, a) - base[-1])
            variance.append(error_of_difference(y, a, b) ** 2 if metric == "AUC" else np.nan)
        # That of test rows, or between seeds, which differ in training rows, too.
        between = np.var(gain, ddof=1) if len(gain) > 1 else np.nan
        error = np.sqrt(np.fmax(np.mean(variance), between) / len(gain))
        return Gains(float(np.mean(base)), float(np.mean(gain)), float(error))

    def summary(self, framework: str) -> Table:
        rows = []
        for loss in self.given.losses:
            if loss == LOG_LOSS:
                continue
            cells: list[Any] = [loss]
            for metric in METRICS:
                of = [self.gains(name, framework, loss, metric) for name in self.given.tables]
                gain = np.array([each.gain for each in of])
                error = gain.std(ddof=1) / gain.size**0.5
                cells.append(f"{gain.mean():+.4f} ± {error:.4f}")
                beyond = gain / np.maximum([each.error for each in of], 1e-9)
                known = not np.isnan(beyond).all()
                cells.append(f"{np.sum(beyond > 2)} / {np.sum(beyond < -2)}" if known else "")
            rows.append(cells)
        columns = ["less log-loss", *(c for m in METRICS for c in (m, f"{m}, above / below"))]
        foot = (
            f"±: standard error over {len(self.given.tables)} tables; above / below: tables where "
            "the difference is more than twice its error, the larger of that of the test rows "
            "(DeLong, AUC) and that between seeds"
        )
        return Table(columns, rows, [foot])

    def validation(self) -> Table:
        """Validation values less those of log-loss, of the size of trees and round they chose."""
        rows = []
        for loss in self.given.losses:
            cells: list[Any] = [loss]
            for framework, metric in product(FRAMEWORKS, METRICS):
                gain = np.array([
                    np.mean([
                        self._best(name, seed, framework, loss, metric)
                        - self._best(name, seed, framework, LOG_LOSS, metric)
                        for seed in self.given.seeds
                    ])
                    for name in self.given.tables
                ])  # fmt: skip
                cells.append(f"{gain.mean():+.4f} ± {gain.std(ddof=1) / gain.size**0.5:.4f}")
            if loss != LOG_LOSS:
                rows.append(cells)
        heads = [f"{metric}, {framework}" for framework in FRAMEWORKS for metric in METRICS]
        foot = (
            f"means and standard errors over {len(self.given.tables)} tables, of means over seeds"
        )
        return Table(["validation values less log-loss", *heads], rows, [foot])

    def _best(self, name: str, seed: int, framework: str, loss: str, metric: str) -> float:
        at = self.given.kept / f"{name},{seed},{framework},{loss}"
        return max(float(np.load(f"{at},{n}.npz")[f"valid {metric}"][0]) for n in self.given.leaves)

    def by_table(self, metric: str, losses: list[str]) -> Table:
        rows = []
        for name in self.given.tables:
            cells: list[Any] = [name, f"{np.mean([y.mean() for y in self._labels_of(name)]):.3f}"]
            for framework in FRAMEWORKS:
                of = [self.gains(name, framework, loss, metric) for loss in losses]
                cells += [f"{of[0].base:.4f}", *(str(g) for g in of)]
            rows.append(cells)
        heads = [f"{w}, {f}" for f in FRAMEWORKS for w in (LOG_LOSS, *losses)]
        foot = f"test {metric} of log-loss, and differences of others from it"
        return Table(["", "positives", *heads], rows, [foot])

    def _labels_of(self, name: str) -> list[Any]:
        return [self.labels[name, seed] for seed in self.given.seeds]

    def probabilities(self) -> Table:
        """Brier score and reliability of the logistic function of scores, as chosen by AUC."""
        rows = []
        for loss in self.given.losses:
            cells: list[Any] = [loss]
            for framework in FRAMEWORKS:
                found = []
                for (name, seed), y in self.labels.items():
                    p = expit(self.scores(name, seed, framework, loss, "AUC"))
                    base = np.mean((y - y.mean()) ** 2)
                    found.append((1 - np.mean((p - y) ** 2) / base, unreliability(y, p) / y.mean()))
                cells += [f"{value:.3f}" for value in np.mean(found, axis=0)]
            rows.append(cells)
        heads = [f"{w}, {f}" for f in FRAMEWORKS for w in ("Brier skill", "calibration error")]
        foot = (
            "means over tables; Brier skill: 1 less the Brier score over that of the base rate; "
            "calibration error: mean difference of predicted and observed rates in twenty groups "
            "of equal size, over the base rate"
        )
        return Table(["", *heads], rows, [foot])


def unreliability(y: Any, p: Floats) -> float:
    """Mean difference between predicted and observed rates, over twenty groups of rows."""
    groups = np.array_split(np.argsort(p, kind="stable"), 20)
    return float(sum(rows.size * abs(p[rows].mean() - y[rows].mean()) for rows in groups) / y.size)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", default=[*TABLES])
    parser.add_argument("--losses", nargs="+", default=[*LOSSES])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--leaves", type=int, nargs="+", default=LEAVES)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kept", type=Path, default=Path("build/whole-tables"))
    parser.add_argument("--results", default="whole-tables", help="name in benchmarks/results")
    given = parser.parse_args()
    given.kept.mkdir(parents=True, exist_ok=True)
    # Trees of one size for all tables first, so that there is something to see early.
    every = product(given.seeds, given.leaves, given.tables, FRAMEWORKS, given.losses)
    spawned = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(given.jobs, mp_context=spawned) as pool:
        tasks = [
            pool.submit(train, given.kept, name, seed, framework, loss, leaves)
            for seed, leaves, name, framework, loss in every
        ]
        for task in tasks:
            task.result()
    found, shown = Results(given), [loss for loss in SHOWN if loss in given.losses]
    tables = {"Validation": found.validation()}
    tables |= {f"Less log-loss, {framework}": found.summary(framework) for framework in FRAMEWORKS}
    for metric in METRICS:
        tables[f"{metric} by table"] = found.by_table(metric, shown)
    tables["Probabilities"] = found.probabilities()
    keep(given.results, shlex.join(["python", "benchmarks/whole_tables.py", *sys.argv[1:]]), tables)


if __name__ == "__main__":
    main()
