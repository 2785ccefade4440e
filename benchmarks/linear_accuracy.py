"""Accuracy on LETOR folds and Yue's comparison."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from linear_data import (
    CS,
    LETOR,
    METRICS,
    SVMS,
    Array,
    Scores,
    by_validation,
    folds,
    mean,
    path_models,
    score,
    svm,
    table,
    write,
)
from rich.progress import track
from scipy.stats import wilcoxon

from lambdaplus import evaluate
from lambdaplus.baselines import (
    QueryScaler,
    SVMAccuracy,
    ThresholdFeatures,
)
from lambdaplus.datasets import Fold, RankingData

ALL = ("ohsumed-letor2", "ohsumed-letor3", "mq2008", "clueweb09", "mslr-sample")
ACCURACY = {"SVMacc": "plain", "SVMacc2": "balanced", "SVMacc3": "percentile", "SVMacc4": "minmax"}


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
        "1, 10, 100, 1000 by validation MAP.\n\n"
    )
    write("accuracy", text + table(head, rows), numbers)


# Yue's comparison ------------------------------------------------------------------------------


YUE = (
    "Test MAP over the queries of five folds; queries on which SVMmap is better / worse; p of the "
    "two-tailed Wilcoxon signed rank test against SVMmap, ** below 0.05.\n\n"
)


def prepared(fold: Fold, thresholds: int | None) -> Fold:
    """Features scaled to [0, 1] per query; or steps of the features as they are."""
    parts = [fold.train, fold.valid, fold.test]
    if thresholds is None:
        changed = [QueryScaler().fit_transform(part.features, qid=part.qid) for part in parts]
    else:
        steps = ThresholdFeatures(thresholds).fit(fold.train.features)
        changed = [steps.transform(part.features) for part in parts]
    new = [RankingData(X, p.labels, p.qid, p.name) for X, p in zip(changed, parts, strict=True)]
    return Fold(fold.name, *new)


def accuracy_models(name: str, fold: Fold) -> Iterator[tuple[float, Scores]]:
    # With 50 indicators a feature a fit at a larger C takes minutes.
    Cs = (1e-3, 1e-2) if name in ("SVMacc3", "SVMacc4") else (1e-3, 1e-2, 0.1, 1.0, 10.0)
    for C in Cs:
        model = SVMAccuracy(ACCURACY[name], C=C, loss="squared_hinge")  # type: ignore[arg-type]
        model.fit(fold.train.features, fold.train.labels, fold.train.qid)
        yield C, lambda part, model=model: model.predict(part.features, qid=part.qid)


def run_yue(data: Path) -> None:
    rows: list[list[str]] = []
    numbers = []
    for set_name in ALL:
        parts = folds(data, set_name)
        for thresholds in (None, 10) if set_name == ALL[0] else (None,):
            names = ["SVMmap", "SVMauc", "SVMacc", "SVMacc2"]
            names += ["SVMacc3", "SVMacc4"] if thresholds is None else []
            features = "scaled" if thresholds is None else f"{thresholds} steps"
            reference: Array = np.empty(0)
            changed = [prepared(fold, thresholds) for fold in parts]
            for name in track(names, description=f"yue, {set_name}, {features}"):
                found, chosen = [], []
                for fold, plain in zip(changed, parts, strict=True):
                    if name in ACCURACY:
                        # acc3 and acc4 make features of their own from the scores as they are.
                        own = name in ("SVMacc3", "SVMacc4")
                        used = plain if own else fold
                        models = accuracy_models(name, used)
                    else:
                        used, models = fold, path_models(svm(name), fold, CS[:4])
                    C, scores = by_validation(models, used, ("map",))
                    test = used.test
                    values = evaluate(test.labels, scores(test), qid=test.qid, metrics="map")
                    found.append(values.per_query["map"])
                    chosen.append(C)
                values = np.concatenate(found)
                values = values[~np.isnan(values)]
                entry: dict[str, Any] = {
                    "set": set_name, "features": features, "svm": name,
                    "map": float(values.mean()), "C": chosen,
                }  # fmt: skip
                beside = ["", ""]
                if name == "SVMmap":
                    reference = values
                else:
                    entry["won"] = int((reference > values).sum())
                    entry["lost"] = int((reference < values).sum())
                    entry["p"] = float(wilcoxon(reference, values).pvalue)
                    stars = " **" if entry["p"] < 0.05 else ""
                    beside = [f"{entry['won']}/{entry['lost']}{stars}", f"{entry['p']:.2g}"]
                numbers.append(entry)
                rows.append([set_name, features, name, f"{entry['map']:.4f}", *beside])
        head = ["set", "features", "SVM", "MAP", "W/L of SVMmap", "p"]
        write("yue", YUE + table(head, rows), numbers)  # set by set: all take half an hour
