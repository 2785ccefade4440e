"""Rank correlation of returns by date: the objective spearman beside what people use today.

    python benchmarks/returns.py [--seeds 5]

Each seed generates returns of 2,000 names a day: an effect of each date, Student's t with 3 degrees
of freedom, and a signal whose rank correlation with the returns is about .03.  All methods have the
same trees (LightGBM) and the same search of the learning rate, which adds rates while the best one
is at the edge.  Rate and round are those of the highest rank correlation on validation dates; test
dates are read once, by the chosen model.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import lightgbm as lgb
import numpy as np
from scipy.stats import rankdata
from tables import keep

import lambdaplus as lp
from lambdaplus.evaluation import Table

NAMES, FEATURES = 2_000, 20
DATES = {"train": 40, "valid": 20, "test": 60}
RATES, LEAST_RATE, MOST_RATE, STEP = (0.01, 0.03, 0.1, 0.3), 0.001, 3.0, 10**0.5
ROUNDS, PATIENCE = 400, 40
TREES = {"num_leaves": 8, "min_data_in_leaf": 500, "num_threads": 1, "verbose": -1}
GRADES = 32  # as many as LightGBM's ranking objectives take by default

Labels = Callable[[Any, Any], Any]


class Fit(NamedTuple):
    valid: float
    rate: float
    rounds: int
    model: Any


def as_they_are(values: Any, group: Any) -> Any:
    return values


def within_dates(values: Any, group: Any) -> Any:
    """The rank of each value within its date, from 0 to 1."""
    parts = np.split(values, np.cumsum(group)[:-1])
    return np.concatenate([(rankdata(part) - 0.5) / part.size for part in parts])


def grades(values: Any, group: Any) -> Any:
    return np.floor(GRADES * within_dates(values, group))


LAMBDARANK = {"objective": "lambdarank", "label_gain": list(range(GRADES))}
METHODS: dict[str, tuple[dict[str, Any], Labels]] = {
    "spearman": ({"objective": lp.lambda_objective("spearman")}, as_they_are),
    "squared error": ({"objective": "regression"}, as_they_are),
    "squared error of ranks within dates": ({"objective": "regression"}, within_dates),
    f"lambdarank, {GRADES} grades": (LAMBDARANK, grades),
    f"lambdarank, {GRADES} grades, truncation at 300": (
        LAMBDARANK | {"lambdarank_truncation_level": 300},
        grades,
    ),
}


class Returns:
    """Generated features, returns and the signal, each in parts for training and evaluation."""

    def __init__(self, seed: int) -> None:
        random, dates = np.random.default_rng(seed), sum(DATES.values())
        n = NAMES * dates
        X = random.normal(size=(n, FEATURES)).astype(np.float32)
        signal = 0.5 * X[:, 0] + 0.4 * np.tanh(X[:, 1] * X[:, 2]) + 0.4 * (X[:, 3] > 0.5)
        signal -= 0.3 * X[:, 4]
        signal = (signal - signal.mean()) / signal.std()
        date = np.repeat(random.standard_t(3, dates), NAMES)
        scale = np.repeat(np.exp(0.4 * random.normal(size=dates)), NAMES)
        returns = 0.5 * date + scale * (0.055 * signal + random.standard_t(3, n))
        ends = NAMES * np.cumsum(list(DATES.values()))[:-1]
        self.group = {part: [NAMES] * dates for part, dates in DATES.items()}
        self.X, self.returns, self.signal = (
            dict(zip(DATES, np.split(values, ends), strict=True)) for values in (X, returns, signal)
        )

    def fit(self, objective: dict[str, Any], labels_of: Labels, rate: float, seed: int) -> Fit:
        def labels(part: str) -> Any:
            return labels_of(self.returns[part], self.group[part])

        train = lgb.Dataset(self.X["train"], labels("train"), group=self.group["train"])
        valid = train.create_valid(self.X["valid"], labels("valid"), group=self.group["valid"])
        # Of the returns, whatever the labels are.
        watched = lp.eval_metric("spearman").on(self.returns["valid"], name="ic")
        model = lgb.train(
            TREES | objective | {"metric": "None", "learning_rate": rate, "seed": seed},
            train, ROUNDS, valid_sets=[valid], feval=watched,
            callbacks=[lgb.early_stopping(PATIENCE, verbose=False)],
        )  # fmt: skip
        [value] = model.best_score["valid_0"].values()
        return Fit(value, rate, model.best_iteration, model)

    def search(self, objective: dict[str, Any], labels_of: Labels, seed: int) -> Fit:
        fits = [self.fit(objective, labels_of, rate, seed) for rate in RATES]
        while True:
            best = max(fits, key=lambda fit: fit.valid)
            rates = [fit.rate for fit in fits]
            further = {min(rates): best.rate / STEP, max(rates): best.rate * STEP}.get(best.rate)
            if further is None or not LEAST_RATE <= further <= MOST_RATE:
                return best
            fits.append(self.fit(objective, labels_of, round(further, 4), seed))

    def by_date(self, scores: Any) -> Any:
        """The rank correlation of each test date."""
        found = lp.evaluate(
            self.returns["test"], scores, group=self.group["test"], metrics="spearman"
        )
        return found.per_query["spearman"]


def standard_error(values: Any) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.nan


def table(found: dict[str, list[Any]], chosen: dict[str, list[Fit]], ceiling: Any) -> Table:
    first, rows = np.array(found["spearman"]), []
    for name, dates in found.items():
        apart = first - np.array(dates)
        of_seeds, of_dates = (standard_error(a) for a in (apart.mean(axis=1), apart.ravel()))
        gain = f"{apart.mean():+.4f} ± {of_seeds:.4f} (± {of_dates:.4f})"
        rows.append([
            name,
            f"{np.mean(dates):.4f}",
            "" if name == "spearman" else gain,
            ", ".join(f"{fit.rate:.2g}" for fit in chosen[name]),
            ", ".join(str(fit.rounds) for fit in chosen[name]),
        ])  # fmt: skip
    rows.append(["the signal itself", f"{np.mean(ceiling):.4f}", "", "", ""])
    columns = ["objective", "test rank IC", "gain of spearman", "learning rates", "rounds"]
    foot = (
        "gains: ± standard error over seeds (in brackets: over dates); learning rates and rounds: "
        "chosen for each seed",
    )
    return Table(columns, rows, foot)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    found: dict[str, list[Any]] = {name: [] for name in METHODS}
    chosen: dict[str, list[Fit]] = {name: [] for name in METHODS}
    ceiling = []
    for seed in range(seeds):
        data = Returns(seed)
        for name, method in METHODS.items():
            best = data.search(*method, seed)
            chosen[name].append(best)
            found[name].append(data.by_date(best.model.predict(data.X["test"])))
        ceiling.append(data.by_date(data.signal["test"]))
        title = f"Rank IC of generated returns, {seed + 1} seeds of {DATES['test']} test dates"
        keep(
            "returns",
            f"python benchmarks/returns.py --seeds {seed + 1}",
            {title: table(found, chosen, ceiling)},
            by_seed={name: [np.mean(dates) for dates in each] for name, each in found.items()},
        )


if __name__ == "__main__":
    main()
