"""Real-valued labels: time of a gradient by documents and labels, and rank correlation of returns.

    python benchmarks/many_labels.py [--figure many_labels.png] [--returns] [--seeds 5]

Times are of one thread, the least of several calls: all pairs by the tree of labels, all pairs one
by one, and the tree for 20 grades of labels.  --returns trains on generated returns of
2,000 names a day: effects of dates, Student's t with 3 degrees of freedom, and a signal whose rank
correlation with returns is about .03 for the best predictor.  Rounds and learning rate are chosen
on validation dates; test dates are read once.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import lightgbm as lgb
import numpy as np

import lambdaplus as lp
from lambdaplus.compute.parallel import limit_threads
from lambdaplus.metrics import parse_metric
from lambdaplus.objectives.lambda_gradient import LambdaGradient
from lambdaplus.ranking.queries import Queries

SIZES = (100, 300, 1_000, 3_000, 5_000, 10_000, 30_000, 100_000, 1_000_000)
MOST_PAIRS = 10_000  # documents of which every pair is visited
METRICS = ("spearman", "ndcg(gain=linear)", "concordance(pairs=equal)")
NAMES, DATES, FEATURES = 2_000, (30, 15, 30), 20
RATES, ROUNDS, PATIENCE = (0.02, 0.05, 0.1), 150, 30


def seconds(metric: str, labels: Any, scores: Any, all_pairs: bool = False) -> float:
    """The least time of a gradient after the first one."""
    queries = Queries(labels, group=[labels.size])
    gradient = LambdaGradient(
        parse_metric(metric), queries, sigma=1.0, normalize=True, damping=None, all_pairs=all_pairs
    )
    gradient.at(scores)
    times: list[float] = []
    while len(times) < 3 or (sum(times) < 0.2 and len(times) < 100):
        start = time.perf_counter()
        gradient.at(scores)
        times.append(time.perf_counter() - start)
    return min(times)


def measure() -> list[dict[str, Any]]:
    random, rows = np.random.default_rng(0), []
    for metric in METRICS:
        for n in SIZES:
            labels, scores = random.permutation(n) / n, random.normal(size=n)
            row = {"metric": metric, "n": n, "tree": seconds(metric, labels, scores)}
            row["20 grades"] = seconds(metric, np.floor(20 * labels), scores)
            if n <= MOST_PAIRS:
                row["pairs"] = seconds(metric, labels, scores, all_pairs=True)
            rows.append(row)
            print(
                f"{metric:25} {n:8,} documents and labels: "
                + ", ".join(
                    f"{k} {1e3 * v:.2f} ms" for k, v in row.items() if k not in ("metric", "n")
                ),
                flush=True,
            )
    for labels_of in (2, 4, 8, 16, 32, 64, 256, 5_000):
        labels = random.permutation(5_000) % labels_of / labels_of
        took = seconds("spearman", labels, random.normal(size=5_000))
        print(f"spearman, 5,000 documents, {labels_of:5,} labels: {1e3 * took:.2f} ms", flush=True)
    return rows


def draw(rows: list[dict[str, Any]], path: str) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(METRICS), figsize=(11, 3.6), sharey=True, layout="tight")
    for axis, metric in zip(axes, METRICS, strict=True):
        for way, style in (("pairs", "o-"), ("tree", "s-"), ("20 grades", "^--")):
            its = [row for row in rows if row["metric"] == metric and way in row]
            axis.loglog([r["n"] for r in its], [1e3 * r[way] for r in its], style, ms=4, label=way)
        axis.set(title=metric, xlabel="documents = labels")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("ms for a gradient, one thread")
    axes[0].legend(labels=["pair by pair", "tree of labels", "tree, 20 grades"], frameon=False)
    figure.savefig(path, dpi=130)


def generated_returns(seed: int) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    n = NAMES * sum(DATES)
    X = random.normal(size=(n, FEATURES)).astype(np.float32)
    signal = (
        0.5 * X[:, 0] + 0.4 * np.tanh(X[:, 1] * X[:, 2]) + 0.4 * (X[:, 3] > 0.5) - 0.3 * X[:, 4]
    )
    signal = (signal - signal.mean()) / signal.std()
    date = np.repeat(random.standard_t(3, sum(DATES)), NAMES)
    scale = np.repeat(np.exp(0.4 * random.normal(size=sum(DATES))), NAMES)
    return X, 0.5 * date + scale * (0.055 * signal + random.standard_t(3, n))


def within_dates(values: Any, group: Any) -> Any:
    from scipy.stats import rankdata

    parts = np.split(values, np.cumsum(group)[:-1])
    return np.concatenate([(rankdata(part) - 0.5) / part.size for part in parts])


def compare_returns(seeds: int) -> None:
    train, valid, _ = (NAMES * dates for dates in DATES)
    cuts = slice(0, train), slice(train, train + valid), slice(train + valid, None)
    groups = [[NAMES] * dates for dates in DATES]
    methods: dict[str, tuple[Any, Any]] = {
        "lambda spearman": (lp.lambda_objective("spearman"), lambda y, g: y),
        "squared error": ("regression", lambda y, g: y),
        "squared error on ranks within dates": ("regression", within_dates),
        "lambdarank on 32 grades": (
            "lambdarank",
            lambda y, g: np.minimum(np.floor(32 * within_dates(y, g)), 31),
        ),
    }
    found: dict[str, list[float]] = {name: [] for name in methods}
    for seed in range(seeds):
        X, returns = generated_returns(seed)
        for name, (objective, labels_of) in methods.items():
            best = (-np.inf, 0.0, 0.0, np.empty(0))
            start = time.process_time()
            for rate in RATES:
                sets = [
                    lgb.Dataset(X[rows], labels_of(returns[rows], group), group=group)
                    for rows, group in zip(cuts[:2], groups[:2], strict=True)
                ]
                params = {
                    "objective": objective, "metric": "None", "learning_rate": rate, "verbose": -1,
                    "num_leaves": 15, "min_data_in_leaf": 500, "num_threads": 1, "seed": seed,
                    "label_gain": list(range(32)),
                }  # fmt: skip
                sets[1].reference = sets[0]
                model = lgb.train(
                    params, sets[0], ROUNDS, valid_sets=sets[1:], feval=lp.eval_metric("spearman"),
                    callbacks=[lgb.early_stopping(PATIENCE, verbose=False)],
                )  # fmt: skip
                value = model.best_score["valid_0"]["spearman"]
                if value > best[0]:
                    best = (value, rate, model.best_iteration, model.predict(X[cuts[2]]))
            test = lp.evaluate(returns[cuts[2]], best[3], group=groups[2], metrics="spearman")
            found[name].append(test["spearman"])
            print(
                f"seed {seed} {name}: {found[name][-1]:.4f} (rate {best[1]}, round {best[2]}; "
                f"{time.process_time() - start:.0f} s)",
                flush=True,
            )
    first = np.array(found["lambda spearman"])
    for name, values in found.items():
        apart = first - np.array(values)
        error = apart.std(ddof=1) / np.sqrt(seeds) if seeds > 1 else np.nan
        less = f"{apart.mean():+.4f} ± {error:.4f}"
        print(f"{name}: {np.mean(values):.4f}; lambda spearman less it: {less}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", help="write a figure of the times to this file")
    parser.add_argument("--returns", action="store_true", help="compare on generated returns")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    if options.returns:
        compare_returns(options.seeds)
        return
    with limit_threads(1):
        rows = measure()
    if options.figure:
        draw(rows, options.figure)


if __name__ == "__main__":
    main()
