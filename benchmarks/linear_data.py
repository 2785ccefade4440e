"""What the parts of benchmarks/linear.py share: the SVMs, folds, tables, choosing C."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from tables import RESULTS, write

from lambdaplus import evaluate
from lambdaplus.baselines import StructuralSVM
from lambdaplus.data import Fold, RankingData, read_folds
from lambdaplus.evaluation import Table

LETOR = ("ohsumed-letor3", "mq2008")
CS = (1.0, 10.0, 100.0, 1e3, 1e4)
METRICS = ("map", "ndcg@10", "mrr")
Array = NDArray[Any]
Scores = Callable[[RankingData], Array]

SVMS: dict[str, dict[str, Any]] = {
    "SVMauc": {"loss": "auc"},
    "SVMmap": {"loss": "map"},
    "SVMndcg-nc": {"loss": "ndcg"},
    "SVMndcg@10": {"loss": "ndcg", "cutoff": 10},
    "SVMmrr, map mrr": {"loss": "mrr", "feature_map": "mrr"},
    "SVMmrr, map po": {"loss": "mrr"},
    "DORM, smooth": {"loss": "ndcg", "feature_map": "dorm", "cutoff": 10},
    "DORM, cut at 10": {"loss": "ndcg", "feature_map": "dorm", "cutoff": 10, "decay": "cutoff"},
    "DORM, zero after 30": {"loss": "ndcg", "feature_map": "dorm", "cutoff": 10, "decay": 30},
}


def svm(name: str, **options: Any) -> StructuralSVM:
    return StructuralSVM(**SVMS[name], relevant=1.0, **options)


def folds(data: Path, name: str) -> list[Fold]:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, str(data / "folds.py"), name, folder], check=True)
        return read_folds(folder)


def report(part: str, about: str, head: list[str], rows: list[list[str]], numbers: Any) -> None:
    """Print a part's table, and keep it."""
    table = Table(head, rows)
    Console(width=140).print(about, table, markup=False)
    write(RESULTS / f"linear-{part}", f"{about}\n\n{table.to_markdown()}", numbers)


def score(part: RankingData, scores: Array) -> dict[str, float]:
    found = evaluate(part.labels, scores, qid=part.qid, metrics=METRICS, empty=0)
    return {metric: found[metric] for metric in METRICS}


def mean(values: list[float]) -> float:
    return float(statistics.fmean(values))


def by_validation(
    models: Iterable[tuple[float, Scores]], fold: Fold, by: tuple[str, ...]
) -> tuple[float, Scores]:
    """The C, and scores by it, with the best mean of metrics on the validation part."""
    best, kept = -np.inf, None
    for C, scores in models:
        found = score(fold.valid, scores(fold.valid))
        value = mean([found[metric] for metric in by])
        if value > best:
            best, kept = value, (C, scores)
    assert kept is not None
    return kept


def path_models(
    model: StructuralSVM, fold: Fold, Cs: tuple[float, ...]
) -> Iterator[tuple[float, Scores]]:
    train = fold.train
    for point in model.fit_path(train.features, train.labels, train.qid, Cs=Cs):
        yield point.C, lambda part, w=point.coef: part.features @ w
