"""Compare lambda_auc and lambda_map with log-loss on 26 tables with rare positives.

    python benchmarks/rare_positives.py [--sets NAME ...] [--frameworks lightgbm,xgboost]

`rare_positives_data.py` has twenty small sets and six of 100,000 to 150,000 rows, two of which are
generated.  Every loss is trained with the same settings of trees (`TREES`), and ours with several
exponents `BALANCES` of `lambdaplus.objectives.class_balance`.  A fifth of the rows is for testing
and a fifth for validation, which chooses setting and round separately for AUC and average
precision.  Finished trainings are stored in --kept, from which the same command continues.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from rare_positives_data import LARGE, SETS, read
from rich.progress import track
from sklearn.model_selection import StratifiedKFold
from tables import keep

from lambdaplus import lambda_objective
from lambdaplus.data import Fold, RankingData
from lambdaplus.evaluation import Table
from lambdaplus.evaluation.significance import p_value
from lambdaplus.study import Method, Settings, Study
from lambdaplus.study.boosting import train_lightgbm, train_xgboost

METRICS = {"auc": "AUC", "map": "average precision"}
BALANCES = (0, 0.5, 1)
USUAL = {"features": 0.8, "rows": 100, "l2": 1.0, "hessian": 0.03}
TREES: list[dict[str, Any]] = [  # the shorter the steps, the more rounds
    {"rounds": 250, "leaves": 18, "rate": 0.1446, "features": 0.41, "rows": 10, "l2": 0.0133,
     "hessian": 1.565},
    {"rounds": 500, "leaves": 31, "rate": 0.05, **USUAL},
    {"rounds": 250, "leaves": 15, "rate": 0.1, **USUAL, "rows": 10},
]  # fmt: skip
WORDS = {
    "lightgbm": {
        "leaves": "num_leaves", "rate": "learning_rate", "l2": "lambda_l2",
        "features": "feature_fraction", "rows": "min_data_in_leaf",
    },
    "xgboost": {
        "leaves": "max_leaves", "rate": "learning_rate", "l2": "lambda",
        "features": "colsample_bytree", "hessian": "min_child_weight",
    },
}  # fmt: skip
LOG_LOSS = {"lightgbm": (train_lightgbm, "binary"), "xgboost": (train_xgboost, "binary:logitraw")}


@dataclass(frozen=True)
class WithoutQueries:
    """Our objective for data without queries, in a study, whose data is one query."""

    metric: str
    balance: float

    def __call__(self, scores: Any, data: Any) -> Any:
        return lambda_objective(self.metric, balance=self.balance)(data.get_label(), scores)


def methods(framework: str, trees: dict[str, Any]) -> list[Method]:
    """Log-loss and ours, with the same trees."""
    trainer, log_loss = LOG_LOSS[framework]
    losses = {"log-loss": log_loss} | {
        f"lambda_{metric}, balance {balance:g}": WithoutQueries(metric, balance)
        for metric in METRICS
        for balance in BALANCES
    }
    grid = {word: [trees[name]] for name, word in WORDS[framework].items()}
    return [
        Method(f"{framework}:{name}", trainer, target, "auc", grid=grid)
        for name, target in losses.items()
    ]


def fold_of(name: str) -> Fold:
    """The first of five parts for testing, the third for validation, the others for training."""
    X, y = read(name)
    parts = [rows for _, rows in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)]
    chosen = np.concatenate([parts[1], parts[3], parts[4]]), parts[2], parts[0]
    return Fold(name, *(RankingData(X[rows], y[rows], np.zeros(rows.size, int)) for rows in chosen))


def trained(names: list[str], frameworks: list[str], kept: Path, jobs: int) -> pl.DataFrame:
    """Test values of each set, metric and method, with the setting chosen on validation rows."""
    by_trees = []
    for name in track(names, description="sets"):
        fold = fold_of(name)
        for trees in TREES:
            study = Study(
                [fold], [m for f in frameworks for m in methods(f, trees)],
                list(METRICS),
                Settings(rounds=trees["rounds"], patience=trees["rounds"]), folder=kept / name,
                jobs=jobs, trials=1,
            )  # fmt: skip
            study.finish()
            keys = ["method", "fold", "metric"]
            validation = study.results.fits.select(*keys, "validation")
            values = study.results.values.select(*keys, "value")
            by_trees.append(values.join(validation, on=keys))
    every = pl.concat(by_trees).sort("validation", descending=True, maintain_order=True)
    return every.group_by("method", "fold", "metric", maintain_order=True).first()


def table_of(values: pl.DataFrame, framework: str, metric: str) -> Table:
    """Log-loss, and the differences of others from it: on large sets, and over the small ones."""
    of = values.filter(pl.col("metric") == metric)
    test = {(loss, name): v for loss, name, v in of.select("method", "fold", "value").iter_rows()}
    first = f"{framework}:log-loss"
    others = sorted({loss for loss, _ in test if loss.startswith(framework)} - {first})
    large = [name for name in LARGE if (first, name) in test]
    small = [name for name in SETS if (first, name) in test]
    mean = np.mean([test[first, name] for name in small]) if small else float("nan")
    rows = [["log-loss", *(float(test[first, name]) for name in large), float(mean), "", ""]]
    for loss in others:
        gains = np.array([test[loss, name] - test[first, name] for name in small])
        cells = ["", "", ""]
        if gains.size > 1:
            error = gains.std(ddof=1) / gains.size**0.5
            p = p_value(gains, "wilcoxon", "two-sided")
            ahead = f"{np.sum(gains > 0)} of {gains.size}"
            cells = [f"{gains.mean():+.4f} ± {error:.4f}", ahead, f"{p:.2g}"]
        more = (f"{test[loss, name] - test[first, name]:+.4f}" for name in large)
        rows.append([loss.partition(":")[2], *more, *cells])
    foot = (
        f"test {METRICS[metric]} of log-loss, and differences of others from it; ±: standard error "
        "over the small sets; ahead: number of them that are higher; p: Wilcoxon's signed-rank test"
    )
    return Table(["", *large, f"{len(small)} small sets", "ahead", "p"], rows, [foot])


def balance_table(values: pl.DataFrame) -> Table:
    """What the default exponent has more than the others on validation rows, over all sets."""
    rows = []
    for key, of in values.group_by("framework", "metric", maintain_order=True):
        framework, metric = map(str, key)
        of = of.sort("fold")
        best = {
            balance: of.filter(method=f"{framework}:lambda_{metric}, balance {balance:g}")
            for balance in BALANCES
        }
        gains = [best[0.5]["validation"] - best[other]["validation"] for other in (0, 1)]
        cells = [f"{g.mean():+.4f} ± {g.std() / len(g) ** 0.5:.4f}" for g in gains]
        rows.append([f"{METRICS[metric]} of lambda_{metric}, {framework}", *cells])
    foot = f"validation rows; ±: standard error over {values['fold'].n_unique()} sets"
    return Table(["", "balance .5 less 0", "balance .5 less 1"], rows, [foot])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=[*LARGE, *SETS])
    parser.add_argument("--frameworks", default="lightgbm,xgboost")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kept", type=Path, default=Path("build/rare-positives"))
    parser.add_argument("--results", default="rare-positives", help="name in benchmarks/results")
    given = parser.parse_args()
    frameworks = given.frameworks.split(",")
    values = trained(given.sets, frameworks, given.kept, given.jobs)
    tables = {
        f"{METRICS[metric]}, {framework}": table_of(values, framework, metric)
        for framework in frameworks
        for metric in METRICS
    }
    values = values.with_columns(framework=pl.col("method").str.extract("^(.*?):"))
    tables["The exponent balance"] = balance_table(values)
    keep(given.results, " ".join(["python benchmarks/rare_positives.py", *sys.argv[1:]]), tables)


if __name__ == "__main__":
    main()
