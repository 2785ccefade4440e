"""Rounds of XGBoost on a GPU: our objectives beside its own, as rows of a table in Markdown.

    PYTHONPATH=. python benchmarks/gpu.py [--device cpu]

Needs XGBoost and what lambdaplus itself needs.  The first training of each objective, of three
rounds, is not counted; then the objectives are trained in turns, three times each.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import xgboost as xgb

import lambdaplus as lp

ROUNDS, TURNS = 30, 3
PARAMS = {"tree_method": "hist", "eta": 0.1, "max_depth": 8, "disable_default_eval_metric": 1}


def queries(n_queries: int, documents: int = 120) -> Any:
    random = np.random.default_rng(1)
    X = random.standard_normal((n_queries * documents, 50), dtype=np.float32)
    merit = X[:, 5] + 0.8 * X[:, 6] * (X[:, 0] > 0) + 1.5 * random.normal(size=len(X))
    grade = np.digitize(merit, np.quantile(merit, [0.52, 0.84, 0.97, 0.99]))
    return xgb.DMatrix(X, grade, group=np.full(n_queries, documents))


def table(rows: int) -> Any:
    random = np.random.default_rng(2)
    X = random.standard_normal((rows, 20), dtype=np.float32)
    merit = X[:, 0] + X[:, 1] * X[:, 2] + 1.5 * random.normal(size=rows)
    return xgb.DMatrix(X, merit > np.quantile(merit, 0.96))


def seconds(objective: Any, data: Any, device: str, rounds: int = ROUNDS) -> tuple[float, float]:
    """Time of a round, and how much of it the objective takes on the CPU."""
    inside = []

    def timed(scores: Any, given: Any) -> Any:
        start = time.perf_counter()
        found = objective(scores, given)
        inside.append(time.perf_counter() - start)
        return found

    of_ours = {"base_score": 0.0, "device": device}
    start = time.perf_counter()
    if isinstance(objective, str):
        xgb.train({**PARAMS, "device": device, "objective": objective}, data, rounds)
    else:
        xgb.train({**PARAMS, **of_ours}, data, rounds, obj=timed)
    took = (time.perf_counter() - start) / rounds
    return took, float(np.median(inside)) if inside else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--queries", type=int, default=1_667)
    parser.add_argument("--rows", type=int, default=1_000_000)
    given = parser.parse_args()
    sets = {
        f"{120 * given.queries:,} rows, queries of 120, 50 features": (
            queries(given.queries),
            ("rank:ndcg", lp.lambda_ndcg, lp.lambda_map),
        ),
        f"{given.rows:,} rows, 20 features": (
            table(given.rows),
            ("binary:logistic", lp.lambda_auc),
        ),
    }
    print("| data | objective | ms a round | of which gradient on the CPU |\n|---|---|---|---|")
    for title, (data, objectives) in sets.items():
        for objective in objectives:
            seconds(objective, data, given.device, rounds=3)
        turns = [[seconds(one, data, given.device) for one in objectives] for _ in range(TURNS)]
        for objective, (whole, inside) in zip(objectives, 1e3 * np.median(turns, 0), strict=True):
            name = objective if isinstance(objective, str) else objective.__name__
            cpu = "" if isinstance(objective, str) else f" {inside:.1f}"
            print(f"| {title} | `{name}` | {whole:.1f} |{cpu} |")


if __name__ == "__main__":
    main()
