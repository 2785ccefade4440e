"""Several objectives at once beside their specialists, on validation data.

    python benchmarks/several_objectives.py FOLDER...

FOLDER is a set in LETOR's layout with its folds.  Every model stops early on the validation value
of what it optimises, and the table is of validation means: it says what each objective reaches
there, not what a new query would see.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

from lambdaplus import LightGBMRanker, XGBoostRanker, evaluate
from lambdaplus.data import Fold, read_folds
from lambdaplus.evaluation import Table

METRICS = ("ndcg@10", "mrr", "map", "auc")
COMBINED = ("ndcg@10+map", "map+auc", "ndcg@10+map+auc")
TREES: dict[type, dict[str, Any]] = {
    LightGBMRanker: {"num_leaves": 15, "verbose": -1},
    XGBoostRanker: {
        "max_leaves": 15,
        "max_depth": 0,
        "grow_policy": "lossguide",
        "learning_rate": 0.1,
    },
}


def validation_means(kind: type, objective: str, folds: list[Fold]) -> list[float]:
    """Mean over the folds of each metric on validation data."""
    found = []
    for fold in folds:
        train, valid = fold.train, fold.valid
        model = kind(
            objective=objective, n_estimators=200, n_jobs=1, random_state=0,
            early_stopping_rounds=30, **TREES[kind],
        ).fit(
            train.features, train.labels, qid=train.qid,
            eval_set=[(valid.features, valid.labels)], eval_qid=[valid.qid],
        )  # fmt: skip
        scores = model.predict(valid.features)
        result = evaluate(valid.labels, scores, qid=valid.qid, metrics=METRICS)
        found.append([result[metric] for metric in METRICS])
    return [float(mean) for mean in np.mean(found, axis=0)]


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for folder in sys.argv[1:]:
        folds = read_folds(folder)
        for kind in TREES:
            names = [*METRICS, *COMBINED]
            means = {
                name: validation_means(kind, name, folds)
                for name in track(names, description=f"{Path(folder).name}, {kind.__name__}")
            }
            best = [means[metric][i] for i, metric in enumerate(METRICS)]
            rows: list[Any] = []
            for name in names:
                parts = name.split("+")
                short = min(
                    value - mine
                    for metric, value, mine in zip(METRICS, means[name], best, strict=True)
                    if metric in parts
                )
                rows.append((name, *means[name], short))
            heads = ("objective", *METRICS, "to specialists")
            foot = "To specialists: the largest shortfall on a metric that the objective names."
            print(Table(heads, rows, (foot,)), "\n", flush=True)


if __name__ == "__main__":
    main()
