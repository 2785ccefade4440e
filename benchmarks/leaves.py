"""How many leaves suit a small set: validation MAP against rounds.

    python benchmarks/leaves.py

LightGBM with `lambda_map` on the synthetic web search of `lambdaplus.datasets`, a hundred queries
in all, three folds of five, with everything the same but the number of leaves.  No test query is
looked at.  Results go to `benchmarks/results/leaves.json` and `.md`; docs/figures/leaves.py draws
them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np

from lambdaplus import eval_metric, lambda_map
from lambdaplus.comparison.data import folds_of
from lambdaplus.datasets import Fold
from lambdaplus.evaluation.tables import Table
from lambdaplus.queries import Floats

RESULTS = Path(__file__).parent / "results"
DATA = "web-search-like:100"
FOLDS = 3
LEAVES = (4, 8, 32)
ROUNDS = 400
PARAMETERS = {
    "metric": "None",
    "learning_rate": 0.1,
    "min_data_in_leaf": 20,
    "seed": 0,
    "num_threads": 1,
    "verbose": -1,
}


def curve(fold: Fold, leaves: int) -> Floats:
    """Validation MAP after each round."""
    train, valid = fold.train, fold.valid
    data = lgb.Dataset(train.features, train.labels, group=train.group)
    held_out = data.create_valid(valid.features, valid.labels, group=valid.group)
    recorded: dict[str, Any] = {}
    lgb.train(
        {**PARAMETERS, "objective": lambda_map, "num_leaves": leaves},
        data,
        ROUNDS,
        valid_sets=[held_out],
        feval=eval_metric("map"),
        callbacks=[lgb.record_evaluation(recorded)],
    )
    return np.array(recorded["valid_0"]["map"])


def main() -> None:
    folds = folds_of(DATA)[:FOLDS]
    found = {}
    for leaves in LEAVES:
        curves = [curve(fold, leaves) for fold in folds]
        found[leaves] = np.round(np.mean(curves, axis=0), 4).tolist()
        print(leaves, "leaves:", max(found[leaves]), flush=True)
    (RESULTS / "leaves.json").write_text(json.dumps(found) + "\n")
    (RESULTS / "leaves.md").write_text(table(found, folds[0]).to_markdown() + "\n")


def table(found: dict[int, list[float]], fold: Fold) -> Table:
    """The best validation MAP of each curve, and the round that it needs."""
    rows = [
        (str(leaves), values[49], max(values), int(np.argmax(values)) + 1)
        for leaves, values in found.items()
    ]
    foot = (
        f"`python benchmarks/leaves.py`: {fold.train.n_queries} training and "
        f"{fold.valid.n_queries} validation queries a fold, mean of {FOLDS} folds, learning rate "
        f"{PARAMETERS['learning_rate']}, at least {PARAMETERS['min_data_in_leaf']} documents a "
        f"leaf, {ROUNDS} rounds.",
    )
    return Table(("leaves", "MAP after 50 rounds", "best MAP", "round of the best"), rows, foot)


if __name__ == "__main__":
    main()
