"""LightGBMClassifier and XGBoostClassifier beside LGBMClassifier and XGBClassifier.

    python benchmarks/classifiers.py [--folds 3] [--rows 10000 1000000] [--json FILE]

First, the twenty real sets with few positives of ``imbalanced_data.py``, 4,000 rows of each:
average precision of the frameworks' classifiers and of ours, with each framework's defaults.
Test values are means over folds; nothing is tuned.

Then the time of `fit` on generated rows (20 features, 2 % positive), the shortest of three, or one
for a million rows, once kernels are compiled.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import time
from typing import Any

import numpy as np
from imbalanced_data import SETS, read
from lightgbm import LGBMClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits
from xgboost import XGBClassifier

from lambdaplus import LightGBMClassifier, XGBoostClassifier
from lambdaplus.evaluation.result_tables import Table
from lambdaplus.evaluation.significance import p_value

AT_MOST = 4_000
PAIRS: dict[Any, Any] = {LGBMClassifier: LightGBMClassifier, XGBClassifier: XGBoostClassifier}
CLASSIFIERS = [kind for pair in PAIRS.items() for kind in pair]


def made(kind: Any) -> Any:
    return kind(n_jobs=1, **({"verbose": -1} if issubclass(kind, LGBMClassifier) else {}))


def average_precision(kind: Any, X: Any, y: Any, folds: int) -> float:
    values = []
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=0).split(X, y):
        model = made(kind).fit(X[train], y[train])
        ranks = kind in PAIRS.values()
        scores = model.decision_function(X[test]) if ranks else model.predict_proba(X[test])[:, 1]
        values.append(average_precision_score(y[test], scores))
    return float(np.mean(values))


def seconds(kind: Any, rows: int) -> float:
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, 20))
    score = X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=rows)
    y = (score > np.quantile(score, 0.98)).astype(int)
    times = []
    for _ in range(3 if rows < 1_000_000 else 1):
        started = time.perf_counter()
        made(kind).fit(X, y)
        times.append(time.perf_counter() - started)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 1_000_000])
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    names = [kind.__name__ for kind in CLASSIFIERS]
    warm = np.linspace(0, 1, 100)[:, np.newaxis], np.arange(100) % 2
    for kind in CLASSIFIERS:
        made(kind).set_params(n_estimators=2).fit(*warm)  # compiles, or reads, the kernels
    times = {rows: [seconds(kind, rows) for kind in CLASSIFIERS] for rows in arguments.rows}
    lines = [[f"{rows:,}", *line, line[1] / line[0], line[3] / line[2]]
             for rows, line in times.items()]  # fmt: skip
    columns = ["rows", *names, "ours / LightGBM", "ours / XGBoost"]
    print(Table(columns, lines, ("Seconds of `fit`, one thread.",)).to_markdown(), end="\n\n")
    found = {}
    for name in SETS:
        X, y = read(name, AT_MOST)
        found[name] = [average_precision(kind, X, y, arguments.folds) for kind in CLASSIFIERS]
    values = np.array(list(found.values()))
    foot = []
    for i, kind in ((1, "LightGBM"), (3, "XGBoost")):
        gain = values[:, i] - values[:, i - 1]
        error, p = gain.std(ddof=1) / len(gain) ** 0.5, p_value(gain, "wilcoxon", "two-sided")
        foot.append(
            f"Ours minus {kind}'s: {gain.mean():+.4f} ± {error:.4f} (standard error over sets), "
            f"ahead on {np.sum(gain > 0)} of {len(gain)}, Wilcoxon p {p:.2f}."
        )
    rows = [*([name, *line] for name, line in found.items()), ["mean", *values.mean(0).tolist()]]
    print(Table(["average precision", *names], rows, tuple(foot)).to_markdown(), end="\n\n")
    if arguments.json:
        text = json.dumps({"seconds": times, "average precision": found}, indent=1)
        arguments.json.write_text(text + "\n")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
