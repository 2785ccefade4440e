"""Accuracy on LETOR folds, Yue's comparison, combinations of losses, and paths over C."""

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
    StructuralSVM,
    SVMAccuracy,
    SVMCombo,
    ThresholdFeatures,
)
from lambdaplus.datasets import Fold, RankingData

ALL = ("ohsumed-letor2", "ohsumed-letor3", "mq2008", "clueweb09", "mslr-sample")
ACCURACY = {"SVMacc": "plain", "SVMacc2": "balanced", "SVMacc3": "percentile", "SVMacc4": "minmax"}
COMBO = ["map", "mrr@10", "ndcg@10"]


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
    text = "Test means of five folds, C of 1, 10, 100, 1000 by validation MAP.\n\n"
    write("accuracy", text + table(head, rows), numbers)


# Yue's comparison ------------------------------------------------------------------------------


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
    Cs = (1e-4, 1e-3, 1e-2) if name in ("SVMacc3", "SVMacc4") else (1e-3, 1e-2, 0.1, 1.0, 10.0)
    for C in Cs:
        model = SVMAccuracy(ACCURACY[name], C=C, loss="squared_hinge")  # type: ignore[arg-type]
        model.fit(fold.train.features, fold.train.labels, fold.train.qid)
        yield C, lambda part, model=model: model.predict(part.features, qid=part.qid)


def run_yue(data: Path) -> None:
    rows: list[list[str]] = []
    numbers = []
    for set_name in ALL:
        parts = folds(data, set_name)
        for thresholds in (None, 10):
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
    text = (
        "Test MAP over the queries of five folds; queries on which SVMmap is better / worse; p of "
        "the two-tailed Wilcoxon signed rank test against SVMmap, ** below 0.05.\n\n"
    )
    write("yue", text + table(head, rows), numbers)


# Combinations ----------------------------------------------------------------------------------


def risks(part: RankingData, w: Array) -> tuple[list[float], float]:
    """Mean training loss of each component, and of the greatest of them on each query.

    Ties count at their mean, which no hinge is below, and queries of one class as 0.
    """
    labels = (part.labels >= 1).astype(float)
    found = evaluate(labels, part.features @ w, qid=part.qid, metrics=COMBO)
    losses = np.array([1 - found.per_query[metric] for metric in COMBO])
    starts = np.flatnonzero(np.append(True, part.qid[1:] != part.qid[:-1]))
    relevant = np.add.reduceat(labels, starts)
    mixed = (relevant > 0) & (relevant < part.group)
    losses = np.where(mixed, losses, 0.0)
    return losses.mean(axis=1).tolist(), float(losses.max(axis=0).mean())


def combo_models() -> dict[str, StructuralSVM | SVMCombo]:
    found: dict[str, StructuralSVM | SVMCombo] = {
        "SVMmap": svm("SVMmap"),
        "SVMndcg@10": svm("SVMndcg@10"),
    }
    for feature_map in ("mrr", "po"):
        found[f"SVMmrr@10, map {feature_map}"] = StructuralSVM(
            "mrr", feature_map, cutoff=10, relevant=1.0
        )
        for slack in ("shared", "separate"):
            found[f"SVMcombo, {slack}, MRR by map {feature_map}"] = SVMCombo(
                COMBO, slack, feature_maps=["po", feature_map, "po"]
            )
    return found


def run_combo(data: Path) -> None:
    rows, numbers = [], []
    for set_name in LETOR:
        parts = folds(data, set_name)
        for name, model in track(combo_models().items(), description=f"combo, {set_name}"):
            each, chosen, bounds = [], [], []
            for fold in parts:
                train = fold.train
                path = model.fit_path(train.features, train.labels, train.qid, Cs=CS[:4])
                models = [(p.C, lambda part, w=p.coef: part.features @ w) for p in path]
                C, scores = by_validation(models, fold, METRICS)
                each.append(score(fold.test, scores(fold.test)))
                point = next(p for p in path if p.C == C)
                chosen.append(C)
                single, greatest = risks(train, point.coef)
                bounds.append({"slack": point.slack, "risks": single, "greatest": greatest})
                if isinstance(model, SVMCombo):
                    bound = greatest if model.slack == "shared" else sum(single)
                    assert point.slack >= bound - 1e-9, "the slack must bound the loss"
            means = {metric: mean([found[metric] for found in each]) for metric in METRICS}
            numbers.append(
                {"set": set_name, "svm": name, "C": chosen, **means, "train": bounds, "folds": each}
            )
            slack = mean([b["slack"] for b in bounds])
            loss = [mean([b["risks"][i] for b in bounds]) for i in range(3)]
            greatest = mean([b["greatest"] for b in bounds])
            rows.append(
                [set_name, name, *(f"{means[metric]:.4f}" for metric in METRICS), f"{slack:.3f}",
                 " / ".join(f"{x:.3f}" for x in loss), f"{greatest:.3f}"]
            )  # fmt: skip
    head = [
        "set", "SVM", "MAP", "NDCG@10", "MRR", "slack", "training loss MAP / MRR / NDCG",
        "greatest",
    ]  # fmt: skip
    text = (
        "Test means of five folds, C by the validation mean of the three criteria; mean slack and "
        "losses on the training part.\n\n"
    )
    write("combo", text + table(head, rows), numbers)


# Paths over C ----------------------------------------------------------------------------------


def run_path(data: Path) -> None:
    rows, numbers = [], []
    Cs = [10.0**power for power in range(-2, 5)]
    for set_name in ALL:
        fold = prepared(folds(data, set_name)[0], None)
        train = fold.train
        for name in track(SVMS, description=f"path, {set_name}"):
            for p in svm(name).fit_path(train.features, train.labels, train.qid, Cs=Cs):
                gap = (p.primal - p.dual) / p.primal
                numbers.append(
                    {"set": set_name, "svm": name, "C": p.C, "slack": p.slack, "share": p.share,
                     "norm": p.norm, "gap": gap, "passes": p.passes, "seconds": p.seconds}
                )  # fmt: skip
                rows.append(
                    [set_name, name, f"{p.C:g}", f"{p.slack:.4f}", f"{p.share:.4f}",
                     f"{p.norm:.3g}", f"{gap:.1e}", str(p.passes), f"{p.seconds:.2f}"]
                )  # fmt: skip
    head = ["set", "SVM", "C", "mean slack", "objective / at w = 0", "norm of w", "gap", "passes",
            "s"]  # fmt: skip
    text = "Training part of fold 1, features scaled per query (KDD 2008, figures 4 to 6).\n\n"
    write("path", text + table(head, rows), numbers)
