"""Time and optimality gaps of the structural SVMs, and of scikit-learn's LinearSVC on all pairs.

    python benchmarks/linear.py FOLDER [FOLDER ...]

FOLDER has LETOR folds; documents of grade 1 and higher are relevant.  DORM is not convex, and has
no such gap.  A second table has the time by the number of rows of generated data.
`python -m papers chakrabarti-2008` has test values.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track
from sklearn.svm import LinearSVC
from tables import keep

from lambdaplus.baselines import StructuralSVM
from lambdaplus.data import Fold, RankingData, read_folds
from lambdaplus.evaluation import Table

CS = (1.0, 100.0, 1e4)
SVMS: dict[str, dict[str, Any]] = {
    "SVMauc": {"loss": "auc"},
    "SVMmap": {"loss": "map"},
    "SVMndcg": {"loss": "ndcg"},
    "SVMndcg@10": {"loss": "ndcg@10"},
    "SVMmrr, its own map": {"loss": "mrr", "feature_map": "mrr"},
    "SVMmrr, map of pairs": {"loss": "mrr"},
}


def fitted(part: RankingData, name: str, C: float) -> StructuralSVM:
    model = StructuralSVM(**SVMS[name], relevant=1.0, C=C)
    return model.fit(part.features, part.labels, part.qid)


def seconds_of(part: RankingData, name: str, C: float) -> float:
    begin = time.perf_counter()
    fitted(part, name, C)
    return time.perf_counter() - begin


def explicit_pairs(part: RankingData, C: float) -> tuple[float, float]:
    """SVMauc as a LinearSVC on all pairs: seconds, and the final value of its objective."""
    begin = time.perf_counter()
    X, y = part.features, part.labels >= 1
    pairs, price = [], []
    for rows in np.split(np.arange(y.size), np.cumsum(part.group)[:-1]):
        good, bad = X[rows[y[rows]]], X[rows[~y[rows]]]
        if len(good) and len(bad):
            pairs.append(2 * (good[:, None] - bad).reshape(-1, X.shape[1]))
            price.append(np.full(len(pairs[-1]), C / part.n_queries / len(pairs[-1])))
    differences, weight = np.concatenate(pairs), np.concatenate(price)
    sign = np.where(np.arange(len(differences)) % 2, 1, -1)  # a classifier requires two classes
    classifier = LinearSVC(C=1.0, loss="hinge", fit_intercept=False, tol=1e-3, max_iter=1000)
    classifier.fit(differences * sign[:, None], sign, sample_weight=weight)
    seconds, w = time.perf_counter() - begin, classifier.coef_[0]
    return seconds, float(w @ w / 2 + weight @ np.maximum(0, 1 - differences @ w))


def table_of(folds: list[Fold]) -> Table:
    """A row for each SVM and C: seconds on the first fold, and the worst gap of all folds."""
    first, rows = folds[0].train, []
    for name in track(SVMS, description=folds[0].train.name or "SVMs"):
        fitted(first, name, 1.0)  # compiles
        for C in CS:
            took = statistics.median(seconds_of(first, name, C) for _ in range(3))
            models = [fitted(fold.train, name, C) for fold in folds]
            gap = max(model.relative_gap_ for model in models)
            zero = sum(not model.coef_.any() for model in models)
            beside = ""
            if name == "SVMauc":
                seconds, reached = explicit_pairs(first, C)
                beside = f"{seconds:.2f} s, objective {reached / models[0].primal_ - 1:+.1%}"
            rows.append([
                name, f"{C:g}", f"{took:.3f}", str(models[0].n_passes_), f"{gap:.1e}",
                f"{zero} of {len(models)}", beside,
            ])  # fmt: skip
    heads = ["", "C", "seconds", "passes", "worst gap", "w = 0 is optimal", "LinearSVC on pairs"]
    foot = "seconds and passes of the training part of fold 1; gaps of all folds, tolerance 1e-3"
    return Table(heads, rows, [foot])


def growth() -> Table:
    rows = []
    for n in track((10_000, 100_000, 1_000_000), description="growth"):
        random = np.random.default_rng(0)
        X = random.random((n, 46))
        signal = X @ random.normal(size=46) + 2 * random.normal(size=n)
        data = RankingData(X, (signal > np.quantile(signal, 0.9)) * 1.0, np.arange(n) // 100)
        for name in ("SVMauc", "SVMmap", "SVMndcg"):
            begin = time.perf_counter()
            model = fitted(data, name, 100.0)
            took = time.perf_counter() - begin
            each = f"{1e6 * took / n / model.n_passes_:.2f}"
            rows.append([f"{n:,}", name, f"{took:.2f}", str(model.n_passes_), each])
    heads = ["rows", "", "seconds", "passes", "µs a row and pass"]
    return Table(heads, rows, ["C = 100, 46 features, queries of 100"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    given = parser.parse_args()
    warnings.filterwarnings("ignore", "w = 0 is optimal")  # the tables say so
    tables = {f"Time and certificates, {path.name}": table_of(read_folds(path))
              for path in given.folders}  # fmt: skip
    command = " ".join(["python benchmarks/linear.py", *sys.argv[1:]])
    keep("linear", command, tables | {"Growth with the data": growth()})


if __name__ == "__main__":
    main()
