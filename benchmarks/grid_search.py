"""A search over both estimators beside their defaults, on validation data.

    python benchmarks/grid_search.py FOLDER

FOLDER is a set in LETOR's layout with its folds.  GridSearchCV chooses framework, objective and
trees by cross-validation over the training queries alone; what it chose, and the defaults of both
estimators, are then scored on the fold's validation queries, which no fit has seen.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import sklearn
from rich.progress import track
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from lambdaplus import LightGBMRanker, XGBoostRanker, query_folds
from lambdaplus.data import Fold, read_folds
from lambdaplus.evaluation import Table

METRIC = "ndcg@10"
SAME = {"eval_metric": METRIC, "n_jobs": 1, "random_state": 0}
OBJECTIVES = ("ndcg", "map", "auc")
GRID = [
    {
        "ranker": [LightGBMRanker(verbose=-1, **SAME)],
        "ranker__objective": OBJECTIVES,
        "ranker__num_leaves": (4, 8, 31),
        "ranker__learning_rate": (0.03, 0.1),
    },
    {
        "ranker": [XGBoostRanker(**SAME)],
        "ranker__objective": OBJECTIVES,
        "ranker__max_depth": (2, 3, 6),
        "ranker__learning_rate": (0.03, 0.1),
    },
]


def searched(fold: Fold) -> tuple[float, dict[str, object]]:
    """What the search chose on a fold's training data: its validation value, and the choice."""
    train, valid = fold.train, fold.valid
    search = GridSearchCV(
        Pipeline([("ranker", LightGBMRanker())]), GRID, cv=query_folds(qid=train.qid, n_splits=3)
    )
    search.fit(train.features, train.labels, qid=train.qid)
    return search.score(valid.features, valid.labels, qid=valid.qid), search.best_params_


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sklearn.set_config(enable_metadata_routing=True)
    folds = read_folds(sys.argv[1])
    rows = []
    chosen = []
    start = time.perf_counter()
    for fold in track(folds, description=Path(sys.argv[1]).name):
        train, valid = fold.train, fold.valid
        value, best = searched(fold)
        defaults = [
            kind(**SAME)
            .fit(train.features, train.labels, qid=train.qid)
            .score(valid.features, valid.labels, qid=valid.qid)
            for kind in (LightGBMRanker, XGBoostRanker)
        ]
        rows.append((fold.name, *defaults, value))
        framework = type(best.pop("ranker")).__name__
        words = ", ".join(f"{name.partition('__')[2]}={known}" for name, known in best.items())
        chosen.append(f"{fold.name}: {framework}, {words}")
    rows.append(("mean", *(float(mean) for mean in np.mean([row[1:] for row in rows], axis=0))))
    chosen.append(f"Validation {METRIC}; {time.perf_counter() - start:.0f} s.")
    print(Table(("fold", "LightGBM defaults", "XGBoost defaults", "searched"), rows, chosen))


if __name__ == "__main__":
    main()
