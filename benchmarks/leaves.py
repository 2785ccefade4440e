"""How many leaves suit a small set: validation MAP against rounds.

    python benchmarks/leaves.py

LightGBM with `lambda_map` on a hundred queries of synthetic web search and on the built-in digits,
three folds of five, with everything the same but the number of leaves.  No test query is looked at.
Results go to `benchmarks/results/leaves.json` and `.md`; docs/figures/leaves.py draws them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np

from lambdaplus import eval_metric, lambda_map
from lambdaplus.data import Fold
from lambdaplus.data.queries import Floats
from lambdaplus.evaluation.result_tables import Table
from lambdaplus.study.study_data import folds_of

RESULTS = Path(__file__).parent / "results"
SETS = {"synthetic web search": "web-search-like:100", "digits": ""}
FOLDS = 3
LEAVES = (4, 8, 32)
ROUNDS = 400
SHOWN = (50, 100, 200, 400)  # rounds of the table
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
    found = {name: curves(folds_of(data)[:FOLDS]) for name, data in SETS.items()}
    (RESULTS / "leaves.json").write_text(json.dumps(found) + "\n")
    (RESULTS / "leaves.md").write_text(table(found).to_markdown() + "\n")


def curves(folds: list[Fold]) -> dict[str, list[float]]:
    """By number of leaves, means over folds."""
    found = {}
    for leaves in LEAVES:
        mean = np.mean([curve(fold, leaves) for fold in folds], axis=0)
        found[str(leaves)] = np.round(mean, 4).tolist()
        print(leaves, "leaves:", mean.max(), flush=True)
    return found


def table(found: dict[str, dict[str, list[float]]]) -> Table:
    """Validation MAP after some rounds, and the best of each curve with its round."""
    rows = [
        (name, leaves, *(curve[at - 1] for at in SHOWN), max(curve), int(np.argmax(curve)) + 1)
        for name, curves in found.items()
        for leaves, curve in curves.items()
    ]
    foot = (
        f"`python benchmarks/leaves.py`: validation MAP, mean of {FOLDS} folds, learning rate "
        f"{PARAMETERS['learning_rate']}, at least {PARAMETERS['min_data_in_leaf']} documents in a "
        "leaf.",
    )
    heads = ("set", "leaves", *(f"{at} rounds" for at in SHOWN), "best", "its round")
    return Table(heads, rows, foot, narrow=True)


if __name__ == "__main__":
    main()
