"""Accuracy on LETOR folds."""

from __future__ import annotations

from pathlib import Path

from linear_data import (
    CS,
    LETOR,
    METRICS,
    SVMS,
    by_validation,
    folds,
    mean,
    path_models,
    report,
    score,
    svm,
)
from rich.progress import track


def run_accuracy(data: Path) -> None:
    rows, numbers = [], []
    for set_name in LETOR:
        parts = folds(data, set_name)
        for name in track(SVMS, description=f"accuracy, {set_name}"):
            each, chosen = [], []
            for fold in parts:
                C, scores = by_validation(path_models(svm(name), fold, CS[:4]), fold, ("map",))
                each.append(score(fold.test, scores(fold.test)))
                zero = not scores(fold.train).any()
                chosen.append("w = 0" if zero else f"{C:g}")
            means = {metric: mean([found[metric] for found in each]) for metric in METRICS}
            numbers.append({"set": set_name, "svm": name, "C": chosen, "folds": each, **means})
            values = [f"{means[metric]:.4f}" for metric in METRICS]
            rows.append([set_name, name, *values, ", ".join(chosen)])
    head = ["set", "SVM", "MAP", "NDCG@10", "MRR", "C of each fold"]
    text = (
        "Test means of five folds (a query without relevant documents counts 0, as in LETOR), C of "
        "1, 10, 100, 1000 by validation MAP."
    )
    report("accuracy", text, head, rows, numbers)
