"""Normalised Gini of claims: the objective gini beside Poisson and Tweedie regression.

    python benchmarks/claims.py [--seeds 10]

Each seed generates policies with exposures; about one in ten has a claim, whose size is log-normal.
Labels are the loss by exposure, and weights are exposures.  Trees and the search of the learning
rate are those of benchmarks/returns.py: rate and round are those of the highest Gini on validation
rows; test rows are read once, by the chosen model.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

import lightgbm as lgb
import numpy as np
from returns import PATIENCE, ROUNDS, Fit, chosen_settings, search, standard_error
from tables import keep

import lambdaplus as lp
from lambdaplus.evaluation import Table

ROWS = {"train": 30_000, "valid": 15_000, "test": 60_000}
TREES = {"num_leaves": 8, "min_data_in_leaf": 200, "num_threads": 1, "verbose": -1}
OBJECTIVES: dict[str, Any] = {
    "gini": lp.lambda_objective("gini"),
    "Poisson": "poisson",
    "Tweedie": "tweedie",
}


class Claims:
    """Generated features, losses by exposure, exposures and expected losses, each in parts."""

    def __init__(self, seed: int) -> None:
        random, n = np.random.default_rng(seed), sum(ROWS.values())
        X = random.normal(size=(n, 15))
        exposure = random.uniform(0.1, 1.0, n)
        often = np.exp(-1.8 + 0.4 * X[:, 0] - 0.3 * (X[:, 1] > 0.5) + 0.3 * np.tanh(X[:, 2]))
        large = 0.3 * X[:, 3] + 0.2 * X[:, 0] * (X[:, 4] > 0)
        claims = random.poisson(exposure * often)
        size = np.exp(7.0 + large + 1.2 * random.normal(size=n))
        ends = np.cumsum(list(ROWS.values()))[:-1]
        self.X, self.loss, self.exposure, self.expected = (
            dict(zip(ROWS, np.split(values, ends), strict=True))
            for values in (X, claims * size / exposure, exposure, often * np.exp(large))
        )

    def fit(self, objective: Any, seed: int, rate: float) -> Fit:
        train = lgb.Dataset(self.X["train"], self.loss["train"], weight=self.exposure["train"])
        valid = train.create_valid(
            self.X["valid"], self.loss["valid"], weight=self.exposure["valid"]
        )
        params = TREES | {"objective": objective, "learning_rate": rate, "seed": seed}
        model = lgb.train(
            params | {"metric": "None"},
            train, ROUNDS, valid_sets=[valid], feval=lp.eval_metric("gini"),
            callbacks=[lgb.early_stopping(PATIENCE, verbose=False)],
        )  # fmt: skip
        [value] = model.best_score["valid_0"].values()
        return Fit(value, rate, model.best_iteration, model)

    def test(self, scores: Any) -> float:
        found = lp.evaluate(self.loss["test"], scores, weight=self.exposure["test"], metrics="gini")
        return found["gini"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    seeds = parser.parse_args().seeds
    found: dict[str, list[float]] = {name: [] for name in (*OBJECTIVES, "the expected loss")}
    chosen: dict[str, list[Fit]] = {name: [] for name in OBJECTIVES}
    for seed in range(seeds):
        data = Claims(seed)
        for name, objective in OBJECTIVES.items():
            best = search(partial(data.fit, objective, seed))
            chosen[name].append(best)
            found[name].append(data.test(best.model.predict(data.X["test"])))
        found["the expected loss"].append(data.test(data.expected["test"]))
        rows = []
        for name, values in found.items():
            apart = np.subtract(found["gini"], values)
            rows.append([
                name,
                f"{np.mean(values):.4f}",
                f"{apart.mean():+.4f} ± {standard_error(apart):.4f}" if name in chosen else "",
            ])  # fmt: skip
        rows[0][2] = ""
        columns = ["objective", "test Gini", "gain of gini"]
        foot = ("gains: ± standard error over seeds",)
        title = f"Gini of generated claims, {seed + 1} seeds of {ROWS['test']:,} test rows"
        tables = {title: Table(columns, rows, foot)} | chosen_settings(chosen)
        keep("claims", f"python benchmarks/claims.py --seeds {seed + 1}", tables, by_seed=found)


if __name__ == "__main__":
    main()
