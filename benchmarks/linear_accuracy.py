"""Accuracy on LETOR folds, combinations of losses, and paths over C."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from linear_data import (
    CS,
    LETOR,
    METRICS,
    SVMS,
    Array,
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

from lambdaplus import evaluate
from lambdaplus.baselines import StructuralSVM, SVMCombo
from lambdaplus.comparison.config import scaled_fold
from lambdaplus.datasets import RankingData

ALL = ("ohsumed-letor2", "ohsumed-letor3", "mq2008", "clueweb09", "mslr-sample")
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
    text = (
        "Test means of five folds (a query without relevant documents counts 0, as in LETOR), C of "
        "1, 10, 100, 1000 by validation MAP.\n\n"
    )
    write("accuracy", text + table(head, rows), numbers)


# Combinations ----------------------------------------------------------------------------------


def risks(part: RankingData, w: Array, losses: list[str]) -> Array:
    """Loss of each query, (losses, queries): ties count at their mean, one-class queries as 0."""
    labels = (part.labels >= 1).astype(float)
    found = evaluate(labels, part.features @ w, qid=part.qid, metrics=losses)
    values = np.array([1 - found.per_query[str(metric)] for metric in losses])
    starts = np.flatnonzero(np.append(True, part.qid[1:] != part.qid[:-1]))
    relevant = np.add.reduceat(labels, starts)
    mixed = (relevant > 0) & (relevant < part.group)
    return np.where(mixed, values, 0.0)


def check_bounds(part: RankingData, w: Array, model: SVMCombo) -> None:
    """Shared: the mean slack is at least the mean greatest loss; separate: each, its own."""
    hinges, n_queries = model._problem(part.features, part.labels, part.qid)
    kinds = np.bincount(hinges.loss_of_block, weights=hinges.at(w).hinge) / n_queries
    found = risks(part, w, list(model.losses))
    risk = found.max(axis=0).mean() if model.slack == "shared" else found.mean(axis=1)
    assert (kinds >= risk - 1e-9).all(), "the slack must bound the loss"


def combo_models() -> dict[str, StructuralSVM | SVMCombo]:
    found: dict[str, StructuralSVM | SVMCombo] = {
        "SVMmap": svm("SVMmap"),
        "SVMndcg@10": svm("SVMndcg@10"),
        "SVMndcg-nc": svm("SVMndcg-nc"),
        "SVMmrr@10, map mrr": StructuralSVM("mrr@10", "mrr"),
        "SVMmrr@10, map po": StructuralSVM("mrr@10"),
        "SVMmrr-nc, map po": svm("SVMmrr, map po"),
    }
    families = {
        "at 10, MRR by map mrr": (["map", "mrr@10", "ndcg@10"], ["po", "mrr", "po"]),
        "at 10, MRR by map po": (["map", "mrr@10", "ndcg@10"], ["po", "po", "po"]),
        "no cutoff, MRR by map po": (["map", "mrr", "ndcg"], ["po", "po", "po"]),
    }
    for family, (losses, maps) in families.items():
        for slack in ("shared", "separate"):
            found[f"SVMcombo, {slack}, {family}"] = SVMCombo(losses, slack, feature_maps=maps)
    return found


def run_combo(data: Path) -> None:
    rows, numbers = [], []
    for set_name in LETOR:
        parts = folds(data, set_name)
        for name, model in track(combo_models().items(), description=f"combo, {set_name}"):
            each, chosen, slacks, losses = [], [], [], []
            for fold in parts:
                train = fold.train
                path = model.fit_path(train.features, train.labels, train.qid, Cs=CS[:4])
                models = [(p.C, lambda part, w=p.coef: part.features @ w) for p in path]
                C, scores = by_validation(models, fold, METRICS)
                each.append(score(fold.test, scores(fold.test)))
                point = next(p for p in path if p.C == C)
                chosen.append(C)
                slacks.append(point.slack)
                losses.append(risks(train, point.coef, COMBO).mean(axis=1).tolist())
                if isinstance(model, SVMCombo):
                    check_bounds(train, point.coef, model)
            means = {metric: mean([found[metric] for found in each]) for metric in METRICS}
            loss = np.mean(losses, axis=0).tolist()
            numbers.append(
                {"set": set_name, "svm": name, "C": chosen, **means, "slack": slacks,
                 "training_losses": losses, "folds": each}
            )  # fmt: skip
            rows.append(
                [set_name, name, *(f"{means[metric]:.4f}" for metric in METRICS),
                 f"{mean(slacks):.3f}", " / ".join(f"{x:.3f}" for x in loss)]
            )  # fmt: skip
    head = ["set", "SVM", "MAP", "NDCG@10", "MRR", "slack", "training 1 - MAP / MRR@10 / NDCG@10"]
    text = (
        "Test means of five folds (a query without relevant documents counts 0), C by the "
        "validation mean of the three criteria; mean slack, summed over the losses if slacks are "
        "separate, and losses on the training part.  That slacks bound the losses was checked on "
        "every fold.\n\n"
    )
    write("combo", text + table(head, rows), numbers)


# Paths over C ----------------------------------------------------------------------------------


def run_path(data: Path) -> None:
    rows, numbers = [], []
    Cs = [10.0**power for power in range(-2, 5)]
    for set_name in ALL:
        fold = scaled_fold(folds(data, set_name)[0])
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
