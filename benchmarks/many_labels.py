"""Labels of many values: time of a gradient by documents and by labels, on one thread.

    python benchmarks/many_labels.py

All pairs by the tree of labels, the same pairs one by one, and the labels in 20 grades of equal
size; the least processor time of several calls.  The last table compares the gradient of the grades
with that of the labels.  The figure of results/speed.md shows the first two
(docs/figures/measured.py).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from tables import keep

from lambdaplus.compute.parallel import limit_threads
from lambdaplus.evaluation import Table
from lambdaplus.lists.queries import Queries
from lambdaplus.metrics import parse_metric
from lambdaplus.objectives.gradient_on import gradient_on
from lambdaplus.objectives.pair_options import PairOptions, WeighingMetric

SIZES = (100, 300, 1_000, 3_000, 5_000, 10_000, 30_000, 100_000, 1_000_000)
MOST_PAIRS = 10_000  # documents of which every pair is visited
METRICS = ("spearman", "ndcg(gain=linear)", "concordance, equal pairs")
LABELS, N = (2, 5, 16, 50, 150, 500, 1_500, 5_000), 5_000
GRADES = 20

Gradient = Callable[[Any], tuple[Any, Any]]


def gradient_of(metric: str, labels: Any, all_pairs: bool = False) -> Gradient:
    queries = Queries(labels, group=[labels.size])
    name, *equal_pairs = metric.split(", ")
    weighing = WeighingMetric(parse_metric(name), equal_pairs=bool(equal_pairs))
    gradient = gradient_on(weighing, queries, PairOptions(), all_pairs=all_pairs)
    return partial(gradient.at, queries)


def milliseconds(gradient: Gradient, scores: Any) -> float:
    """The least processor time of a call after the first one."""
    gradient(scores)
    times: list[float] = []
    while len(times) < 3 or (sum(times) < 0.2 and len(times) < 100):
        start = time.thread_time()
        gradient(scores)
        times.append(time.thread_time() - start)
    return 1e3 * min(times)


def point(metric: str, n: int, n_labels: int) -> dict[str, Any]:
    random = np.random.default_rng(0)
    labels, scores = random.permutation(n) * n_labels // n / n_labels, random.normal(size=n)
    found = {
        "metric": metric, "n": n, "labels": n_labels,
        "tree": milliseconds(gradient_of(metric, labels), scores),
    }  # fmt: skip
    if n_labels > GRADES:
        found["grades"] = milliseconds(gradient_of(metric, np.floor(GRADES * labels)), scores)
    if n <= MOST_PAIRS:
        found["pairs"] = milliseconds(gradient_of(metric, labels, all_pairs=True), scores)
    return found


def correlation(metric: str, heavy: bool) -> float:
    """Of the gradients of grades and of all labels, which follow the scores a little."""
    random = np.random.default_rng(0)
    scores = random.normal(size=N)
    values = random.normal(size=N) + 0.3 * scores
    ranks = np.argsort(np.argsort(values)) / N
    of_labels = gradient_of(metric, np.exp(1.5 * values) if heavy else ranks)(scores)[0]
    of_grades = gradient_of(metric, np.floor(GRADES * ranks))(scores)[0]
    return float(np.corrcoef(of_grades, of_labels)[0, 1])


def rows(points: list[dict[str, Any]]) -> list[list[Any]]:
    times = ("tree", "pairs", "grades")
    return [
        [p["metric"], f"{p['n']:,}", f"{p['labels']:,}"]
        + [f"{p[way]:.3g}" if way in p else "" for way in times]
        for p in points
    ]


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    with limit_threads(1):
        by_size = [point(metric, n, n) for metric in METRICS for n in SIZES]
        by_labels = [point(metric, N, labels) for metric in METRICS for labels in LABELS]
        alike = [
            [metric, *(f"{correlation(metric, heavy):.3f}" for heavy in (False, True))]
            for metric in METRICS
        ]
    columns = ["metric", "documents", "labels", "tree of labels", "pair by pair"]
    columns.append(f"{GRADES} grades")
    different = "Milliseconds of a gradient, as many labels as documents"
    keep(
        "many-labels",
        "python benchmarks/many_labels.py",
        {
            different: Table(columns, rows(by_size)),
            f"Milliseconds of a gradient of {N:,} documents": Table(columns, rows(by_labels)),
            f"Correlation of the gradients of {GRADES} grades and of {N:,} labels": Table(
                ["metric", "evenly spread labels", "log-normal labels"], alike
            ),
        },
        by_size=by_size,
        by_labels=by_labels,
    )


if __name__ == "__main__":
    main()
