"""LightGBMClassifier and XGBoostClassifier beside LGBMClassifier and XGBClassifier.

    python benchmarks/classifiers.py [--folds 3] [--json FILE]

Real data with few positives (see ``imbalanced_data.py``), 4,000 rows of each set: forest cover
(sylva), satellite images (satimage, damp grey soil) and page layout (page-blocks, what is no text).
The same trees for all, with each framework's defaults, on one thread, in two ways of training:

- plain: 100 rounds; ours calibrate by cross-validation over five folds;
- stopped: up to 300 rounds, the best by average precision on a fifth of the training rows; ours
  calibrate on these.

Test values are means over folds; the time is that of `fit`.  Nothing is tuned.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from imbalanced_data import Rows, read
from lightgbm import LGBMClassifier, early_stopping
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from threadpoolctl import threadpool_limits
from xgboost import XGBClassifier

from lambdaplus import LightGBMClassifier, XGBoostClassifier
from lambdaplus.evaluation.tables import Table

METRICS = ("AP", "AUC", "Brier score", "seconds")
SETS, AT_MOST = ("sylva", "satimage", "page-blocks"), 4_000


# Classifiers ------------------------------------------------------------------------------------


def lgbm(train: Rows, valid: Rows | None) -> Any:
    stop = {} if valid is None else {
        "eval_set": [valid], "eval_metric": "average_precision",
        "callbacks": [early_stopping(30, first_metric_only=True, verbose=False)],
    }  # fmt: skip
    rounds = {} if valid is None else {"n_estimators": 300, "metric": "None"}
    return LGBMClassifier(verbose=-1, n_jobs=1, **rounds).fit(*train, **stop)


def xgb(train: Rows, valid: Rows | None) -> Any:
    if valid is None:
        return XGBClassifier(n_jobs=1).fit(*train)
    model = XGBClassifier(n_jobs=1, n_estimators=300, early_stopping_rounds=30, eval_metric="aucpr")
    return model.fit(*train, eval_set=[valid], verbose=False)


def ours(kind: Any) -> Callable[[Rows, Rows | None], Any]:
    def fit(train: Rows, valid: Rows | None) -> Any:
        rounds = 100 if valid is None else 300
        return kind(n_estimators=rounds, n_jobs=1).fit(*train, eval_set=valid)

    return fit


CLASSIFIERS = {
    "LGBMClassifier": lgbm,
    "LightGBMClassifier": ours(LightGBMClassifier),
    "XGBClassifier": xgb,
    "XGBoostClassifier": ours(XGBoostClassifier),
}


def measured(fit: Callable[..., Any], train: Rows, valid: Rows | None, test: Rows) -> list[float]:
    started = time.perf_counter()
    model = fit(train, valid)
    seconds = time.perf_counter() - started
    probability = model.predict_proba(test[0])[:, 1]
    score = model.decision_function(test[0]) if hasattr(model, "offset_") else probability
    return [
        float(average_precision_score(test[1], score)),
        float(roc_auc_score(test[1], score)),
        float(brier_score_loss(test[1], probability)),
        seconds,
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    warm = np.linspace(0, 1, 100)[:, np.newaxis], np.arange(100) % 2
    LightGBMClassifier(n_estimators=2, n_jobs=1).fit(*warm)  # compiles, or reads, the kernels
    found: dict[str, Any] = {}
    for name in SETS:
        X, y = read(name, AT_MOST)
        rows = []
        for way in ("plain", "stopped"):
            for label, fit in CLASSIFIERS.items():
                values = []
                splits = StratifiedKFold(arguments.folds, shuffle=True, random_state=0)
                for rest, test in splits.split(X, y):
                    train, valid = rest, None
                    if way == "stopped":
                        train, held_out = train_test_split(
                            rest, test_size=0.2, stratify=y[rest], random_state=0
                        )
                        valid = X[held_out], y[held_out]
                    parts = (X[train], y[train]), valid, (X[test], y[test])
                    values.append(measured(fit, *parts))
                rows.append([label, way, *np.mean(values, axis=0).tolist()])
        foot = (f"{name}: {len(y)} rows, {X.shape[1]} features, {y.mean():.1%} positive",)
        print(Table(["classifier", "training", *METRICS], rows, foot).to_markdown(), end="\n\n")
        found[name] = {"rows": len(y), "positives": int(y.sum()), "found": rows}
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
